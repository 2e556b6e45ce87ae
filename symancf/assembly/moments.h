/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products with the tangent of cells from its derivatives at points, in single precision: what a term has of
 * MOMENTS. Kernels with the function ``multiply`` in single precision have rows of 8 floats.
 */
#ifndef SYMANCF_MOMENTS_H
#define SYMANCF_MOMENTS_H

#include "lanes.h"
#include "assembler.h"

enum { MOST_SINGLES = 3 * 27 };

typedef int (*symancf_single_multiply)(int lanes, const float *uniform, const float *cell, const float *reference,
                                       const float *M, const float *v, float *Kv);

static int64_t multiply_cells(const symancf_term *t, const float *v, float *f)
{
  float x[MOST_SINGLES * LANES] __attribute__((aligned(64))), e[MOST_SINGLES * LANES] __attribute__((aligned(64)));
  const symancf_single_multiply call = (symancf_single_multiply)(void (*)(void))t->multiply;
  int64_t bad = 0;
  for (int first = 0; first < t->n; first += LANES) {
    const int lanes = t->n - first < LANES ? t->n - first : LANES;
    for (int l = 0; l < LANES; l++) {
      const int32_t *block = t->blocks + (int64_t)(l < lanes ? first + l : t->n - 1) * t->corners;
      for (int k = 0; k < t->corners; k++)
        for (int c = 0; c < 3; c++) x[(3 * k + c) * LANES + l] = v[block[k] + c];
    }
    bad += call(lanes, NULL, NULL, NULL, t->at_points + (int64_t)first * t->moments_rows, x, e);
    for (int l = 0; l < lanes; l++) {
      const int32_t *block = t->blocks + (int64_t)(first + l) * t->corners;
      for (int k = 0; k < t->corners; k++)
        for (int c = 0; c < 3; c++) f[block[k] + c] += e[(3 * k + c) * LANES + l];
    }
  }
  return bad;
}

/* f = tangent . v of the terms that have their derivatives at points; returns the number of bad lanes. */
int64_t symancf_multiply_moments(const symancf_assembler *assembler, const float *v, float *f)
{
  int64_t bad = 0;
  memset(f, 0, (size_t)assembler->coordinates * sizeof *f);
  for (int k = 0; k < assembler->terms; k++)
    if (assembler->term[k].at_points) bad += multiply_cells(assembler->term + k, v, f);
  return bad;
}

#endif
