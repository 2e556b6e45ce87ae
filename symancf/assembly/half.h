/* SPDX-License-Identifier: BSD-3-Clause */
/* A symmetric tangent of nodes by halves, as half.py fills it in. */
#ifndef SYMANCF_HALF_H
#define SYMANCF_HALF_H

#include <stdint.h>
#include <string.h>

typedef struct symancf_half {
  int32_t nodes;
  const int32_t *node; /* of each vertex: this rank's, nodes + number of a ghost, or -1: no rows */
  const uint8_t *held; /* of each vertex: bits of the components that are fixed */
  const int32_t *start, *off_start; /* [nodes + 1] blocks of rows; the first is that on the diagonal */
  float *values, *off;
  double *diagonal; /* [nodes][9] */
  double scale;     /* by which entries are divided */
  int32_t adds;     /* whether entries are added to those that are there, else these are cleared */
} symancf_half;

/* Set the entries of nodes to zero. */
static inline void clear_half(const symancf_half *h, const int32_t first, const int32_t last)
{
  const int64_t own = h->start[first], off = h->off_start[first];
  memset(h->values + 9 * own, 0, (size_t)(h->start[last] - own) * 9 * sizeof(float));
  memset(h->off + 9 * off, 0, (size_t)(h->off_start[last] - off) * 9 * sizeof(float));
  memset(h->diagonal + 9 * (int64_t)first, 0, (size_t)(last - first) * 9 * sizeof(double));
}

#endif
