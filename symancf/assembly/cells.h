/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A term on cells: its kernel is tabulated and works on batches of 8 cells.
 *
 * Gathered slopes are mapped to the parameters of the cell, element slopes = map . nodal slopes;
 * the forces on them go back through the transposed maps.
 *
 * A term may have a factor, one coordinate c common to all of its cells: its energy is c W, so
 * that the force on c is the sum of W and the coupling of c to the cells is their residual.
 */
#ifndef SYMANCF_CELLS_H
#define SYMANCF_CELLS_H

#include "lanes.h"
#include "plan.h"
#include "tiles.h"

INLINE void map_corner(const v8 *restrict map, const int ns, const int transposed, v8 *restrict s)
{
  FOR_PARTS {
    vec x[9];
    for (int k = 0; k < 3 * ns; k++) x[k] = PART(s[k]);
    map_part(map, ns, transposed, part, x);
    for (int k = 0; k < 3 * ns; k++) PART(s[k]) = x[k];
  }
}

/* Map the slopes of all corners of a batch, or their forces with the transposed maps. */
static void map_corners(const symancf_term *t, int batch, int transposed, double *e)
{
  const int ns = t->slopes;
  const v8 *map = (const v8 *)t->maps + (int64_t)batch * t->corners * ns * ns;
  for (int v = 0; v < t->corners; v++, map += ns * ns) {
    v8 *s = (v8 *)e + 3 * (1 + ns) * v + 3;
    if (ns == 3) map_corner(map, 3, transposed, s);
    else if (ns == 2) map_corner(map, 2, transposed, s);
    else map_corner(map, 1, transposed, s);
  }
}

/* Coefficient vectors of 8 cells; lanes beyond the last cell repeat it. */
static void gather(const symancf_term *t, int batch, const double *x, double *restrict e)
{
  const int ns = t->slopes, nf = 1 + ns;
  const int first = batch * LANES;
  for (int l = 0; l < LANES; l++) {
    const int cell = first + l < t->n ? first + l : t->n - 1;
    const int32_t *block = t->blocks + (int64_t)cell * t->corners * 2;
    for (int v = 0; v < t->corners; v++) {
      const double *p = x + block[2 * v];
      double *out = e + (int64_t)3 * nf * v * LANES + l;
      out[0] = p[0];
      out[LANES] = p[1];
      out[2 * LANES] = p[2];
      if (ns) {
        const double *s = x + block[2 * v + 1];
        for (int k = 0; k < 3 * ns; k++) out[(3 + k) * LANES] = s[k];
      }
    }
  }
  if (ns) map_corners(t, batch, 0, e);
}

/* Add forces to the local vector; e is mapped in place. */
static void scatter_vector(const symancf_term *t, int batch, double *restrict e, double *restrict f)
{
  const int ns = t->slopes, nf = 1 + ns;
  if (ns) map_corners(t, batch, 1, e);
  const int first = batch * LANES;
  const int lanes = t->n - first < LANES ? t->n - first : LANES;
  for (int l = 0; l < lanes; l++) {
    const int32_t *block = t->blocks + (int64_t)(first + l) * t->corners * 2;
    for (int v = 0; v < t->corners; v++) {
      const double *in = e + (int64_t)3 * nf * v * LANES + l;
      double *p = f + block[2 * v];
      p[0] += in[0];
      p[1] += in[LANES];
      p[2] += in[2 * LANES];
      if (ns) {
        double *s = f + block[2 * v + 1];
        for (int k = 0; k < 3 * ns; k++) s[k] += in[(3 + k) * LANES];
      }
    }
  }
}

/* Add the coupling of the factor to 8 cells, f being the forces on their nodal coordinates. */
static void couple(const symancf_plan *plan, const symancf_term *t, int first, int lanes,
                   const double *f)
{
  const int nb = 3 * (1 + t->slopes);
  const int32_t factor = t->factor, row = plan->row[factor];
  for (int l = 0; l < lanes; l++) {
    const int last = vertices_of(t, first + l) - 1;
    const int32_t *positions = t->positions + t->pair_start[first + l];
    for (int v = 0; v < t->corners; v++) {
      const int32_t *block = t->blocks + ((int64_t)(first + l) * t->corners + v) * 2;
      for (int r = 0; r < nb; r++) {
        const int32_t c = coordinate(block, r);
        const double value = f[(v * nb + r) * LANES + l];
        if (plan->row[c] >= 0)
          row_values(plan, plan->row[c],
                     positions[v * (last + 1) + last])[plan->rank_in_vertex[factor]] += value;
        if (row >= 0 && plan->rank_in_vertex[c] >= 0)
          row_values(plan, row, positions[last * (last + 1) + v])[plan->rank_in_vertex[c]] += value;
      }
    }
  }
}

/* A batch of a term with a factor; see `cells`. */
static int64_t factored(const symancf_plan *plan, const symancf_term *t, int what, int batch,
                        const double *x, const double *v, double *f, double *work,
                        int32_t *cleared)
{
  const int rows = 3 * t->corners * (1 + t->slopes);
  double *u = work, *X = u + rows * LANES, *e = X + rows * LANES, *w = e + rows * LANES,
         *K = w + rows * LANES;
  const int first = batch * LANES, lanes = t->n - first < LANES ? t->n - first : LANES;
  const double *cell = t->cell + (int64_t)batch * t->cell_rows * LANES, c = x[t->factor];
  double W[LANES] __attribute__((aligned(64)));
  int64_t bad;
  if (what == PRODUCT) { /* c K w + v_c f on the cells, f . w on the factor */
    gather(t, batch, v, w);
    bad = t->product(lanes, t->uniform, cell, X, u, w, K);
    bad += t->residual(lanes, t->uniform, cell, X, u, e);
    for (int k = 0; k < rows; k++)
      for (int l = 0; l < LANES; l++) {
        const int at = k * LANES + l;
        if (l < lanes) f[t->factor] += e[at] * w[at];
        K[at] = c * K[at] + v[t->factor] * e[at];
      }
    scatter_vector(t, batch, K, f);
    return bad;
  }
  bad = t->energy(lanes, t->uniform, cell, X, u, W);
  for (int l = 0; l < lanes; l++) f[t->factor] += W[l];
  if (what == TANGENT) {
    const int64_t n = rows / 3, blocks = t->symmetric ? n * (n + 1) / 2 : n * n;
    bad += t->tangent(lanes, t->uniform, cell, X, u, e, K);
    memcpy(w, e, (size_t)(rows * LANES) * sizeof(double));
    if (t->slopes) map_corners(t, batch, 1, w);
    for (int64_t k = 0; k < 9 * blocks * LANES; k++) K[k] *= c;
    clear_for(plan, t, first, lanes, cleared);
    scatter_matrix(plan, t, first, lanes, K);
    couple(plan, t, first, lanes, w);
  } else {
    bad += t->residual(lanes, t->uniform, cell, X, u, e);
  }
  for (int k = 0; k < rows * LANES; k++) e[k] *= c;
  scatter_vector(t, batch, e, f);
  return bad;
}

/*
 * What belongs to no unknown in the rates v = c u + w of 8 cells, w = v - c u, where c is
 * d rate / d coordinate, the same for all coordinates of cells: then derivatives by u are total.
 */
static void gather_rates(const symancf_plan *plan, const symancf_term *t, int batch,
                         const double *restrict u, double *restrict w)
{
  const int rows = 3 * t->corners * (1 + t->slopes);
  const double c = t->uniform[t->rates];
  if (plan->rate) gather(t, batch, plan->rate, w);
  else memset(w, 0, (size_t)(rows * LANES) * sizeof(double));
  for (int k = 0; k < rows * LANES; k++) w[k] -= c * u[k];
}

static int64_t cells(const symancf_plan *plan, const symancf_term *t, int what, const double *x,
                     const double *v, double *f, double *energy, double *work, int32_t *cleared)
{
  const int rows = 3 * t->corners * (1 + t->slopes);
  double *u = work, *X = u + rows * LANES, *e = X + (t->rates < 0 ? 1 : 2) * rows * LANES,
         *w = e + rows * LANES, *K = w + rows * LANES;
  int64_t bad = 0;
  if (t->rates >= 0)
    t->uniform[t->rates] = plan->rate_factor ? plan->rate_factor[t->blocks[0]] : 0.0;
  for (int batch = 0; batch * LANES < t->n; batch++) {
    const int first = batch * LANES, lanes = t->n - first < LANES ? t->n - first : LANES;
    const double *cell = t->cell + (int64_t)batch * t->cell_rows * LANES;
    gather(t, batch, x, u);
    gather(t, batch, plan->reference, X);
    if (t->rates >= 0) gather_rates(plan, t, batch, u, X + rows * LANES);
    if (what == ENERGY) {
      double W[LANES] __attribute__((aligned(64)));
      bad += t->energy(lanes, t->uniform, cell, X, u, W);
      const double factor = t->factor >= 0 ? x[t->factor] : 1.0;
      for (int l = 0; l < lanes; l++)
        if (t->owned[first + l]) *energy += factor * W[l];
    } else if (t->factor >= 0) {
      bad += factored(plan, t, what, batch, x, v, f, work, cleared);
    } else if (what == RESIDUAL || (what == TANGENT && !t->has_tangent)) {
      bad += t->residual(lanes, t->uniform, cell, X, u, e);
      scatter_vector(t, batch, e, f);
    } else if (what == TANGENT) {
      bad += t->tangent(lanes, t->uniform, cell, X, u, e, K);
      scatter_vector(t, batch, e, f);
      clear_for(plan, t, first, lanes, cleared);
      scatter_matrix(plan, t, first, lanes, K);
    } else {
      gather(t, batch, v, w);
      bad += t->product(lanes, t->uniform, cell, X, u, w, e);
      scatter_vector(t, batch, e, f);
    }
  }
  return bad;
}

#endif
