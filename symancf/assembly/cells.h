/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A term on cells: its kernel is tabulated and works on batches of 8 cells.
 *
 * Gathered slopes are mapped to the parameters of the cell, element slopes = map . nodal slopes;
 * the forces on them go back through the transposed maps.
 *
 * Behind the coefficient vectors of its corners a cell may have scalars, coordinates of other
 * vertices (a pressure that many cells share): the components of further vectors, filled with zeros.
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
    const int32_t *scalar = t->scalar + (int64_t)cell * t->scalars;
    for (int k = 3 * nf * t->corners; k < 3 * coefficients(t); k++) {
      const int number = k - 3 * nf * t->corners;
      e[(int64_t)k * LANES + l] = number < t->scalars ? x[scalar[number]] : 0.0;
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
    const int32_t *scalar = t->scalar + (int64_t)(first + l) * t->scalars;
    for (int k = 0; k < t->scalars; k++)
      f[scalar[k]] += e[(int64_t)(3 * nf * t->corners + k) * LANES + l];
  }
}

/* Where a coordinate of a cell stands; its number counts the corners' first, then the scalars. */
typedef struct {
  int32_t coordinate;
  int vertex; /* number within the cell */
} place;

static inline place find_place(const symancf_term *t, int cell, int number)
{
  const int nb = 3 * (1 + t->slopes), v = number / nb, scalar = number - nb * t->corners;
  if (scalar >= 0)
    return (place){t->scalar[(int64_t)cell * t->scalars + scalar], t->corners + scalar};
  return (place){coordinate(t->blocks + ((int64_t)cell * t->corners + v) * 2, number % nb), v};
}

/* Add a value to the matrix at two coordinates of a cell. */
static inline void add_entry(const symancf_plan *plan, const symancf_term *t, int cell, place i,
                             place j, double value)
{
  const int32_t row = plan->row[i.coordinate], column = plan->rank_in_vertex[j.coordinate];
  if (row < 0 || column < 0) return;
  const int32_t *positions = t->positions + t->pair_start[cell];
  row_values(plan, row, positions[i.vertex * vertices_of(t, cell) + j.vertex])[column] += value;
}

/* Add the columns of the scalars of 8 cells, and their rows; `line` is scratch for one of them. */
static void scatter_scalars(const symancf_plan *plan, const symancf_term *t, int first, int lanes,
                            const double *K, double *line)
{
  const int n = coefficients(t), nodal = 3 * t->corners * (1 + t->slopes);
  for (int s = nodal; s < nodal + t->scalars; s++)
    for (int turn = 0; turn < 2; turn++) { /* a column, then a row without what is in columns */
      for (int i = 0; i < 3 * n; i++) {
        const int r = turn ? s : i, c = turn ? i : s;
        int turned;
        const v8 *block = find_block((const v8 *)K, t->symmetric, n, r / 3, c / 3, &turned);
        ((v8 *)line)[i] = block[turned ? c % 3 * 3 + r % 3 : r % 3 * 3 + c % 3];
      }
      if (t->slopes) map_corners(t, first / LANES, 1, line);
      for (int l = 0; l < lanes; l++) {
        const place at = find_place(t, first + l, s);
        for (int i = 0; i < (turn ? nodal : nodal + t->scalars); i++) {
          const place other = find_place(t, first + l, i);
          add_entry(plan, t, first + l, turn ? at : other, turn ? other : at, line[i * LANES + l]);
        }
      }
    }
}

/*
 * What belongs to no unknown in the rates v = c u + w of 8 cells, w = v - c u, where c is
 * d rate / d coordinate, the same for all coordinates of cells: then derivatives by u are total.
 */
static void gather_rates(const symancf_plan *plan, const symancf_term *t, int batch,
                         const double *restrict u, double *restrict w)
{
  const int rows = 3 * coefficients(t);
  const double c = t->uniform[t->rates];
  if (plan->rate) gather(t, batch, plan->rate, w);
  else memset(w, 0, (size_t)(rows * LANES) * sizeof(double));
  for (int k = 0; k < rows * LANES; k++) w[k] -= c * u[k];
}

static int64_t cells(const symancf_plan *plan, const symancf_term *t, int what, const double *x,
                     const double *v, double *f, double *energies, double *work, int32_t *cleared)
{
  const int rows = 3 * coefficients(t);
  int32_t piece = 0;
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
      add_energies(t, first, lanes, W, &piece, energies);
    } else if (what == RESIDUAL || (what == TANGENT && !t->has_tangent)) {
      bad += t->residual(lanes, t->uniform, cell, X, u, e);
      scatter_vector(t, batch, e, f);
    } else if (what == PARAMETER) {
      const double *rate = t->cell_rate + (int64_t)batch * t->cell_rows * LANES;
      bad += t->parameter(lanes, t->uniform, cell, X, u, t->uniform_rate, rate, e);
      scatter_vector(t, batch, e, f);
    } else if (what == TANGENT) {
      bad += t->tangent(lanes, t->uniform, cell, X, u, e, K);
      scatter_vector(t, batch, e, f);
      clear_for(plan, t, first, lanes, cleared);
      scatter_matrix(plan, t, first, lanes, K);
      if (t->scalars) scatter_scalars(plan, t, first, lanes, K, w);
    } else {
      gather(t, batch, v, w);
      bad += t->product(lanes, t->uniform, cell, X, u, w, e);
      scatter_vector(t, batch, e, f);
    }
  }
  return bad;
}

#endif
