/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run-time half of assembly: gather, kernels, slope maps, scatter.
 *
 * One call evaluates the assembler of all terms (assembler.h).  Two contractions exist:
 *   cells     the kernel is tabulated and works on batches of 8 cells (cells.h, tiles.h);
 *   entities  the kernel works on a few jets of local coordinates (entities.h); those of points
 *             on facets are made before (closest_points.h).
 */
#include "cells.h"
#include "entities.h"
#include "closest_points.h"
#include "assembler.h"
#include "ways.h"

#include <stdlib.h>

enum { SMALL = 4096 }; /* doubles of scratch that lie on the stack */

/* The most coefficient vectors of a node that there is room for. */
int symancf_most_vectors(void)
{
  return MAX_VECTORS;
}

/* Doubles of scratch that one term needs. */
static int64_t scratch(const symancf_term *t)
{
  if (t->tabulated) {
    const int64_t n = widest(t);
    const int64_t blocks = t->symmetric ? n * (n + 1) / 2 : n * n;
    const int64_t matrix = 9 * blocks > t->moments_rows ? 9 * blocks : t->moments_rows;
    return ((t->rates < 0 ? 5 : 6) * 3 * n + matrix) * LANES + corner_size(t) + whole_size(t);
  }
  const int64_t m = t->jets, n = t->columns;
  if (t->closest_points) return m * (3 + m) * LANES;
  return m * (3 + m) * LANES + m * n + n * n + (m + n) / 8 + 1;
}

/*
 * Evaluate all terms at the local vector x.
 *   ENERGY:    energies[form] += energy of owned entities
 *   RESIDUAL:  f += residual             (f: local vector)
 *   TANGENT:   f += residual, matrix = tangent
 *   PRODUCT:   f += tangent . v          (v: local vector), that at x or the one that is kept
 *   LINEARIZE: keep the tangent of terms that have a place for it
 *   OUTPUTS, UPDATE, INITIAL: of each point, to the tables of the terms that have one
 *   DIAGONAL:  f += blocks of the tangent on the diagonal (f: nine numbers of each vertex)
 *   MOMENTS:   derivatives at points, to the arrays of the terms that have one
 *   COARSE:    half += P^T tangent P of the linear functions of corners
 *   SHAPE:     f += derivative of v . residual + seed . update by the reference, of cells asked for
 *   PARAMETER: f += derivative of the residual along the direction of parameters, where that is
 * Returns the number of points that left the domain of their law, or -1 when memory is short.
 */
int64_t symancf_assemble(const symancf_assembler *assembler, int what, const double *x, const double *v,
                         double *f, double *energies)
{
  int64_t size = LANES, bad = 0;
  int32_t cleared = 0;
  for (int k = 0; k < assembler->terms; k++) {
    const int64_t need = scratch(assembler->term + k);
    if (need > size) size = need;
  }
  size = (size + LANES - 1) / LANES * LANES; /* C11: a size that is a multiple of the alignment */
  _Alignas(64) double own[SMALL];            /* for kernels that take less time than an allocation */
  double *work = size <= SMALL ? own : aligned_alloc(64, (size_t)size * sizeof(double));
  if (!work) return -1;
  for (int k = 0; k < assembler->terms; k++) {
    const symancf_term *t = assembler->term + k;
    if (!t->n || ((what == PRODUCT || what == DIAGONAL || what == COARSE) && !t->has_tangent)) continue;
    if (what == MOMENTS && !t->at_points) continue;
    if (what == PARAMETER && !t->uniform_rate) continue;
    if ((what == PULL && !t->by_cell) || (what == SHAPE && !t->shape)) continue;
    if (tabulates(what) && !t->table) continue;
    if (what == LINEARIZE && !t->linearized) continue;
    if (what == PRODUCT && t->linearized) {
      multiply(t, v, f);
      continue;
    }
    const int64_t found = t->tabulated ? cells(assembler, t, what, x, v, f, energies, work, &cleared)
                          : t->closest_points
                            ? closest_points(assembler, t, what, x, v, f, energies, work, &cleared)
                            : entities(assembler, t, what, x, v, f, energies, work, &cleared);
    if (found < 0) {
      bad = -1;
      break;
    }
    bad += found;
  }
  if (what == TANGENT && bad >= 0) clear_rows(assembler, &cleared, assembler->owned);
  if (work != own) free(work);
  return bad;
}
