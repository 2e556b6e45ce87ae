/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products with the tangent of cells from its derivatives at points, in single precision: what a term has of
 * MOMENTS, integers of 16 bits by a scale of POINT_ROWS rows and each lane, so errors are at most 1.5e-5 of the
 * largest derivative of a point; or floats by that scale. Kernels with the function ``multiply`` in single precision have rows of 8 floats.
 */
#ifndef SYMANCF_MOMENTS_H
#define SYMANCF_MOMENTS_H

#include "lanes.h"
#include "assembler.h"

#include <math.h>
#include <string.h>

typedef int16_t shorts __attribute__((vector_size(16), may_alias));
typedef float singles __attribute__((vector_size(32), may_alias));

enum { POINT_ROWS = 45, LARGEST_SHORT = 32767 }; /* rows of a point of a solid */

static inline int point_groups(const symancf_term *t)
{
  return (t->moments_rows + POINT_ROWS - 1) / POINT_ROWS;
}

/* Keep the derivatives K of a batch of cells; where one is not finite, nor are those of its group. */
static void round_moments(const symancf_term *t, int64_t batch, const double *K)
{
  const int64_t at = batch * t->moments_rows * LANES;
  int16_t *to = (int16_t *)t->at_points + at;
  float *wide = (float *)t->at_points + at;
  float *scales = t->point_scales + batch * point_groups(t) * LANES;
  for (int first = 0; first < t->moments_rows; first += POINT_ROWS, scales += LANES) {
    const int end = first + POINT_ROWS < t->moments_rows ? first + POINT_ROWS : t->moments_rows;
    double largest[LANES] = {0.0}, inverse[LANES];
    for (int k = first; k < end; k++)
      for (int l = 0; l < LANES; l++) {
        const double size = fabs(K[k * LANES + l]);
        if (size > largest[l] || isnan(size)) largest[l] = size;
      }
    for (int l = 0; l < LANES; l++) {
      const int finite = isfinite(largest[l]);
      scales[l] = finite ? (float)(largest[l] * t->moments_factor / LARGEST_SHORT) : NAN;
      inverse[l] = finite && largest[l] > 0.0 ? LARGEST_SHORT / largest[l] : 0.0;
    }
    for (int k = first; k < end; k++)
      for (int l = 0; l < LANES; l++) {
        const double value = inverse[l] > 0.0 ? K[k * LANES + l] * inverse[l] : 0.0;
        if (t->points_wide) wide[k * LANES + l] = (float)value;
        else to[k * LANES + l] = (int16_t)rint(value);
      }
  }
}

/* Write the derivatives of a batch to M. */
static void read_moments(const symancf_term *t, int64_t batch, singles *restrict M)
{
  const shorts *from = (const shorts *)t->at_points + batch * t->moments_rows;
  const singles *wide = (const singles *)t->at_points + batch * t->moments_rows;
  const singles *scales = (const singles *)t->point_scales + batch * point_groups(t);
  for (int first = 0; first < t->moments_rows; first += POINT_ROWS, scales++) {
    const int end = first + POINT_ROWS < t->moments_rows ? first + POINT_ROWS : t->moments_rows;
    for (int k = first; k < end; k++)
      M[k] = (t->points_wide ? wide[k] : __builtin_convertvector(from[k], singles)) * *scales;
  }
}

enum { MOST_SINGLES = 3 * 27 };

typedef int (*symancf_single_multiply)(int lanes, const float *uniform, const float *cell, const float *reference,
                                       const float *M, const float *v, float *Kv);

static int64_t multiply_cells(const symancf_term *t, const float *v, float *f)
{
  float x[MOST_SINGLES * LANES] __attribute__((aligned(64))), e[MOST_SINGLES * LANES] __attribute__((aligned(64)));
  const symancf_single_multiply call = (symancf_single_multiply)(void (*)(void))t->multiply;
  singles M[t->moments_rows];
  int64_t bad = 0;
  for (int first = 0; first < t->n; first += LANES) {
    const int lanes = t->n - first < LANES ? t->n - first : LANES;
    for (int l = 0; l < LANES; l++) {
      const int32_t *block = t->blocks + (int64_t)(l < lanes ? first + l : t->n - 1) * t->corners;
      for (int k = 0; k < t->corners; k++)
        for (int c = 0; c < 3; c++) x[(3 * k + c) * LANES + l] = v[t->stride * block[k] + c];
    }
    read_moments(t, first / LANES, M);
    bad += call(lanes, NULL, NULL, NULL, (const float *)M, x, e);
    for (int l = 0; l < lanes; l++) {
      const int32_t *block = t->blocks + (int64_t)(first + l) * t->corners;
      for (int k = 0; k < t->corners; k++)
        for (int c = 0; c < 3; c++) f[t->stride * block[k] + c] += e[(3 * k + c) * LANES + l];
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
