/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A term on entities: its kernel works on a few jets, each a sparse combination g = B e of
 * local coordinates; here  f += B^T P  and  K += B^T H B.
 */
#ifndef SYMANCF_ENTITIES_H
#define SYMANCF_ENTITIES_H

#include "lanes.h"
#include "assembler.h"
#include "roundoff.h"

/* Let lanes beyond the last entity repeat it. */
static inline void repeat_last(const symancf_term *t, int lanes, double *g)
{
  for (int k = 0; lanes < LANES && k < t->jets; k++)
    for (int l = lanes; l < LANES; l++) g[k * LANES + l] = g[k * LANES + lanes - 1];
}

/* The jets g = B e of 8 entities. */
static void jets(const symancf_term *t, int first, int lanes, const double *x, const double *rate,
                 double *g)
{
  for (int k = 0; k < t->jets * LANES; k++) g[k] = 0.0;
  for (int l = 0; l < lanes; l++) {
    const int entity = first + l;
    for (int32_t p = t->entry_start[entity]; p < t->entry_start[entity + 1]; p++) {
      const int32_t c = t->entry_coordinate[p];
      const double value = c >= 0 ? x[c] : rate ? rate[~c] : 0.0;
      g[t->entry_jet[p] * LANES + l] += t->entry_value[p] * value;
    }
  }
  repeat_last(t, lanes, g);
}

/* Change of the rate with its coordinate. */
static inline double rate_factor(const symancf_assembler *assembler, int32_t coordinate)
{
  return assembler->rate_factor ? assembler->rate_factor[~coordinate] : 0.0;
}

/* Jets in the direction v of the coordinates, their rates following by the rate factors. */
static void directions(const symancf_assembler *assembler, const symancf_term *t, int first, int lanes,
                       const double *v, double *g)
{
  for (int k = 0; k < t->jets * LANES; k++) g[k] = 0.0;
  for (int l = 0; l < lanes; l++) {
    const int entity = first + l;
    for (int32_t p = t->entry_start[entity]; p < t->entry_start[entity + 1]; p++) {
      const int32_t c = t->entry_coordinate[p];
      const double value = c >= 0 ? v[c] : rate_factor(assembler, c) * v[~c];
      g[t->entry_jet[p] * LANES + l] += t->entry_value[p] * value;
    }
  }
  repeat_last(t, lanes, g);
}

/* Where H[j][k] of a kernel stands among its results. */
static inline int packed(const symancf_term *t, int j, int k)
{
  if (!t->symmetric) return j * t->jets + k;
  return j <= k ? k * (k + 1) / 2 + j : j * (j + 1) / 2 + k;
}

/* Note which rows of H, a lane, are not zero: one of a law with friction has few. */
static void find_rows(const symancf_term *t, const double *restrict H, uint8_t *some)
{
  const int m = t->jets;
  memset(some, t->symmetric != 0, (size_t)m);
  for (int j = 0; j < m && !t->symmetric; j++)
    for (int k = 0; k < m && !some[j]; k++) some[j] = H[(j * m + k) * LANES] != 0.0;
}

/* Add a row of an entity's matrix to the rows of the system. */
static void add_row(const symancf_assembler *assembler, const symancf_term *t, int entity, int r,
                    const double *restrict K)
{
  const int first = t->column_start[entity], n = t->column_start[entity + 1] - first;
  const int32_t *coordinate = t->column_coordinate + first, *vertex = t->column_vertex + first;
  const int32_t row = assembler->row[coordinate[r]], *rank = assembler->rank_in_vertex;
  const int32_t *position = t->positions + t->pair_start[entity] + vertex[r] * vertices_of(t, entity);
  double *values = NULL;
  if (row < 0) return;
  for (int c = 0; c < n; c++) {
    const int32_t column = rank[coordinate[c]];
    if (!c || vertex[c] != vertex[c - 1]) values = row_values(assembler, row, position[vertex[c]]);
    if (column >= 0 && K[c] != 0.0) values[column] += K[c];
  }
}

/*
 * matrix += B^T H B of one entity, H being a lane; first T = H B, then by rows of B^T, without rows
 * of H that are zero.
 */
static void add_matrix(const symancf_assembler *assembler, const symancf_term *t, int entity,
                       const double *restrict H, double *restrict work)
{
  const int m = t->jets, first = t->column_start[entity], n = t->column_start[entity + 1] - first;
  const int32_t start = t->entry_start[entity], end = t->entry_start[entity + 1];
  double *restrict T = work, *restrict K = T + m * n;
  uint8_t *some = (uint8_t *)(K + n * n), *here = some + m; /* rows of H, and of K */
  find_rows(t, H, some);
  memset(T, 0, (size_t)(m * n + n * n) * sizeof(double));
  memset(here, 0, (size_t)n);
  for (int32_t q = start; q < end; q++) {
    const int32_t c = t->entry_coordinate[q], k = t->entry_jet[q];
    const double value = t->entry_value[q] * (c >= 0 ? 1.0 : rate_factor(assembler, c));
    if (value == 0.0) continue;
    for (int j = 0; j < m; j++)
      if (some[j]) T[j * n + t->entry_column[q]] += value * H[packed(t, j, k) * LANES];
  }
  for (int32_t p = start; p < end; p++) {
    const int j = t->entry_jet[p], r = t->entry_column[p];
    if (t->entry_coordinate[p] < 0 || !some[j]) continue;
    const double value = t->entry_value[p], *restrict row = T + j * n;
    double *restrict to = K + r * n;
    for (int c = 0; c < n; c++) to[c] += value * row[c];
    here[r] = 1;
  }
  for (int r = 0; r < n; r++)
    if (here[r]) add_row(assembler, t, entity, r, K + r * n);
}

/* Whether 8 entities of a compact term have no force, nor a tangent then. */
static int is_idle(const symancf_term *t, const double *P)
{
  for (int k = 0; k < t->jets * LANES; k++)
    if (P[k] != 0.0) return 0;
  return t->compact;
}

static int64_t entities(const symancf_assembler *assembler, const symancf_term *t, int what, const double *x,
                        const double *v, double *f, double *energies, double *work,
                        int32_t *cleared)
{
  const int m = t->jets;
  double *g = work, *d = g + m * LANES, *P = d + m * LANES, *H = P + m * LANES;
  int32_t form = 0;
  int64_t bad = 0;
  for (int first = 0; first < t->n; first += LANES) {
    const int lanes = t->n - first < LANES ? t->n - first : LANES;
    const double *cell = t->cell + (int64_t)(first / LANES) * t->cell_rows * LANES;
    const int matrix = what == TANGENT && t->has_tangent;
    jets(t, first, lanes, x, assembler->rate, g);
    if (t->compact && (what == TANGENT || what == PRODUCT) &&
        !t->residual(lanes, t->uniform, cell, NULL, g, P) && is_idle(t, P))
      continue; /* bad points are counted below */
    if (what == ENERGY) {
      bad += t->energy(lanes, t->uniform, cell, NULL, g, P);
      disturb(P, LANES);
      add_energies(t, first, lanes, P, &form, energies);
      continue;
    }
    if (tabulates(what)) {
      double *O = t->table + (int64_t)(first / LANES) * t->table_rows * LANES;
      bad += function_of(t, what)(lanes, t->uniform, cell, NULL, g, O);
      disturb(O, t->table_rows * LANES);
      continue;
    }
    if (what == PRODUCT) {
      directions(assembler, t, first, lanes, v, d);
      bad += t->product(lanes, t->uniform, cell, NULL, g, d, P);
    } else if (what == PARAMETER) {
      const double *rate = t->cell_rate + (int64_t)(first / LANES) * t->cell_rows * LANES;
      bad += t->parameter(lanes, t->uniform, cell, NULL, g, t->uniform_rate, rate, P);
    } else if (what == PULL) {
      jets(t, first, lanes, v, NULL, d);
      bad += t->pull(lanes, t->uniform, cell, NULL, g, d, t->seed + (int64_t)first * t->cell_rows, P,
                     t->by_uniform + (int64_t)first * t->uniform_rows,
                     t->by_cell + (int64_t)first * t->cell_rows);
    } else if (matrix) {
      bad += t->tangent(lanes, t->uniform, cell, NULL, g, P, H);
      disturb(H, (int64_t)m * m * LANES);
      clear_for(assembler, t, first, lanes, cleared);
    } else {
      const int outside = t->residual(lanes, t->uniform, cell, NULL, g, P);
      bad += outside;
      if (what == RESIDUAL && !outside && is_idle(t, P)) continue;
    }
    disturb(P, (int64_t)m * LANES);
    for (int l = 0; l < lanes; l++) {
      const int entity = first + l;
      const int32_t start = t->entry_start[entity], end = t->entry_start[entity + 1];
      for (int32_t p = start; p < end; p++)
        if (t->entry_coordinate[p] >= 0)
          f[t->entry_coordinate[p]] += t->entry_value[p] * P[t->entry_jet[p] * LANES + l];
        else if (what == PULL && assembler->rate_factor)
          f[~t->entry_coordinate[p]] += t->entry_value[p] * rate_factor(assembler, t->entry_coordinate[p]) *
                                        P[t->entry_jet[p] * LANES + l];
      if (matrix) add_matrix(assembler, t, entity, H + l, H + m * m * LANES);
    }
  }
  return bad;
}

#endif
