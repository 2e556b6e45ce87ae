/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A term on cells: its kernel is tabulated and works on batches of 8 cells.
 *
 * The coefficient vectors of a node are gathered run by run, each from its place in the local
 * vector. The last of them, such as slopes, are mapped to the parameters of the cell, element
 * slopes = map . nodal slopes; the forces on them go back through the transposed maps.
 *
 * Of other cells a map of the whole cell makes the coefficients, see cell_maps.h.
 *
 * Behind the coefficient vectors of its corners a cell may have scalars, coordinates of other
 * vertices (a pressure that many cells share): the components of further vectors, filled with zeros.
 */
#ifndef SYMANCF_CELLS_H
#define SYMANCF_CELLS_H

#include "lanes.h"
#include "assembler.h"
#include "roundoff.h"
#include "tiles.h"
#include "half_tiles.h"
#include "cell_maps.h"
#include "moments.h"

INLINE void map_corner(const v8 *restrict map, const int ns, const int transposed, v8 *restrict s)
{
  FOR_PARTS {
    vec x[3 * MAX_VECTORS];
    for (int k = 0; k < 3 * ns; k++) x[k] = PART(s[k]);
    map_part(map, ns, transposed, part, x);
    for (int k = 0; k < 3 * ns; k++) PART(s[k]) = x[k];
  }
}

/* Map the last vectors of all corners of a batch, or their forces with the transposed maps. */
static void map_corners(const symancf_term *t, int batch, int transposed, double *e)
{
  const int ns = t->mapped, nf = t->vectors;
  const v8 *map = (const v8 *)t->maps + (int64_t)batch * t->corners * ns * ns;
  for (int v = 0; v < t->corners; v++, map += ns * ns) {
    v8 *s = (v8 *)e + 3 * (nf * v + nf - ns);
    if (ns == 3) map_corner(map, 3, transposed, s);
    else if (ns == 2) map_corner(map, 2, transposed, s);
    else if (ns == 1) map_corner(map, 1, transposed, s);
    else map_corner(map, ns, transposed, s);
  }
}

/*
 * Calls f(..., parts, last) with the runs of a node as constants where they are one vector, or one
 * and up to three, as of positions and slopes; else with last = 0, which says to look them up.
 */
#define WITH_RUNS(t, f, ...) \
  do { \
    const int single = (t)->width[0] == 1, last = (t)->width[(t)->parts - 1]; \
    if (single && (t)->parts == 1) f(__VA_ARGS__, 1, 1); \
    else if (single && (t)->parts == 2 && last == 1) f(__VA_ARGS__, 2, 1); \
    else if (single && (t)->parts == 2 && last == 2) f(__VA_ARGS__, 2, 2); \
    else if (single && (t)->parts == 2 && last == 3) f(__VA_ARGS__, 2, 3); \
    else f(__VA_ARGS__, (t)->parts, 0); \
  } while (0)

/* Components of run p of a node; see WITH_RUNS. */
static inline int run_width(const symancf_term *t, int p, const int parts, const int last)
{
  return 3 * (last ? p == parts - 1 ? last : 1 : t->width[p]);
}

/* The vectors of the nodes of a cell, in a lane of e. */
INLINE void gather_cell(const symancf_term *t, int cell, const double *x, double *restrict e,
                        const int parts, const int last)
{
  const int32_t *block = t->blocks + (int64_t)cell * t->corners * parts;
  for (int v = 0; v < t->corners; v++)
    for (int p = 0; p < parts; p++, block++) {
      const int n = run_width(t, p, parts, last);
      for (int k = 0; k < n; k++) e[k * LANES] = x[t->stride * *block + k];
      e += n * LANES;
    }
}

/* Add the forces on the nodes of a cell, in a lane of e, to the local vector. */
INLINE void scatter_cell(const symancf_term *t, int cell, const double *restrict e,
                         double *restrict f, const int parts, const int last)
{
  const int32_t *block = t->blocks + (int64_t)cell * t->corners * parts;
  for (int v = 0; v < t->corners; v++)
    for (int p = 0; p < parts; p++, block++) {
      const int n = run_width(t, p, parts, last);
      for (int k = 0; k < n; k++) f[t->stride * *block + k] += e[k * LANES];
      e += n * LANES;
    }
}

/* Coefficient vectors of 8 cells; lanes beyond the last cell repeat it. */
static void gather_nodes(const symancf_term *t, int batch, const double *x, double *restrict e)
{
  const int first = batch * LANES, nodal = 3 * t->vectors * t->corners;
  for (int l = 0; l < LANES; l++) {
    const int cell = first + l < t->n ? first + l : t->n - 1;
    WITH_RUNS(t, gather_cell, t, cell, x, e + l);
    const int32_t *scalar = t->scalar + (int64_t)cell * t->scalars;
    for (int k = nodal; k < 3 * coefficients(t); k++)
      e[(int64_t)k * LANES + l] = k - nodal < t->scalars ? x[scalar[k - nodal]] : 0.0;
  }
  if (t->mapped) map_corners(t, batch, 0, e);
}

/* The coefficients that the kernel takes; `own` is scratch for those of the nodes. */
static void gather(const symancf_term *t, int batch, const double *x, double *restrict own,
                   double *restrict e)
{
  gather_nodes(t, batch, x, t->functions ? own : e);
  if (t->functions) map_whole(t, batch, own, e);
}

/* Add forces to the local vector; e is mapped in place. */
static void scatter_nodes(const symancf_term *t, int batch, double *restrict e, double *restrict f)
{
  if (t->mapped) map_corners(t, batch, 1, e);
  const int first = batch * LANES, nodal = 3 * t->vectors * t->corners;
  const int lanes = t->n - first < LANES ? t->n - first : LANES;
  for (int l = 0; l < lanes; l++) {
    WITH_RUNS(t, scatter_cell, t, first + l, e + l, f);
    const int32_t *scalar = t->scalar + (int64_t)(first + l) * t->scalars;
    for (int k = 0; k < t->scalars; k++) f[scalar[k]] += e[(int64_t)(nodal + k) * LANES + l];
  }
}

/* Add the forces on coefficients; `own` is scratch for those on the nodes. */
static void scatter_vector(const symancf_term *t, int batch, double *restrict own,
                           double *restrict e, double *restrict f)
{
  if (t->functions) map_back(t, batch, e, own);
  scatter_nodes(t, batch, t->functions ? own : e, f);
}

/* Where a coordinate of a cell stands; its number counts the corners' first, then the scalars. */
typedef struct {
  int32_t coordinate;
  int vertex; /* number within the cell */
} place;

static inline place find_place(const symancf_term *t, int cell, int number)
{
  const int nb = 3 * t->vectors, v = number / nb, scalar = number - nb * t->corners;
  if (scalar >= 0)
    return (place){t->scalar[(int64_t)cell * t->scalars + scalar], t->corners + scalar};
  const int32_t *block = t->blocks + ((int64_t)cell * t->corners + v) * t->parts;
  return (place){coordinate(t, block, number % nb), v};
}

/* Add a value to the matrix at two coordinates of a cell. */
static inline void add_entry(const symancf_assembler *assembler, const symancf_term *t, int cell, place i,
                             place j, double value)
{
  const int32_t row = assembler->row[i.coordinate], column = assembler->rank_in_vertex[j.coordinate];
  if (row < 0 || column < 0) return;
  const int32_t *positions = t->positions + t->pair_start[cell];
  row_values(assembler, row, positions[i.vertex * vertices_of(t, cell) + j.vertex])[column] += value;
}

/* Add the columns of the scalars of 8 cells, and their rows; `line` is scratch for one of them. */
static void scatter_scalars(const symancf_assembler *assembler, const symancf_term *t, int first, int lanes,
                            const double *K, double *line)
{
  const int n = coefficients(t), nodal = 3 * t->corners * t->vectors;
  for (int s = nodal; s < nodal + t->scalars; s++)
    for (int turn = 0; turn < 2; turn++) { /* a column, then a row without what is in columns */
      for (int i = 0; i < 3 * n; i++) {
        const int r = turn ? s : i, c = turn ? i : s;
        int turned;
        const v8 *block = find_block((const v8 *)K, t->symmetric, n, r / 3, c / 3, &turned);
        ((v8 *)line)[i] = block[turned ? c % 3 * 3 + r % 3 : r % 3 * 3 + c % 3];
      }
      if (t->mapped) map_corners(t, first / LANES, 1, line);
      for (int l = 0; l < lanes; l++) {
        const place at = find_place(t, first + l, s);
        for (int i = 0; i < (turn ? nodal : nodal + t->scalars); i++) {
          const place other = find_place(t, first + l, i);
          add_entry(assembler, t, first + l, turn ? at : other, turn ? other : at, line[i * LANES + l]);
        }
      }
    }
}

/*
 * What belongs to no unknown in the rates v = c u + w of 8 cells, w = v - c u, where c is
 * d rate / d coordinate, the same for all coordinates of cells: then derivatives by u are total. (What
 * has scalars, too, is asked along given rates, c = 0.)
 */
static void gather_rates(const symancf_assembler *assembler, const symancf_term *t, int batch,
                         const double *restrict u, double *restrict own, double *restrict w)
{
  const int rows = 3 * kernel_coefficients(t);
  const double c = t->uniform[t->rates];
  if (assembler->rate) gather(t, batch, assembler->rate, own, w);
  else memset(w, 0, (size_t)(rows * LANES) * sizeof(double));
  for (int k = 0; k < rows * LANES; k++) w[k] -= c * u[k];
}

/* Add the diagonal blocks of 8 cells to those of their vertices, nine numbers of each. */
static void add_diagonal(const symancf_term *t, int first, int lanes, const double *restrict D, double *restrict f)
{
  for (int l = 0; l < lanes; l++) {
    const int32_t *vertex = t->vertices + t->vertex_start[first + l];
    for (int v = 0; v < t->corners; v++)
      for (int k = 0; k < 9; k++) f[9 * (int64_t)vertex[v] + k] += D[(9 * v + k) * LANES + l];
  }
}

static int64_t cells(const symancf_assembler *assembler, const symancf_term *t, int what, const double *x,
                     const double *v, double *f, double *energies, double *work, int32_t *cleared)
{
  const int rows = 3 * widest(t);
  int32_t form = 0;
  double *u = work, *X = u + rows * LANES, *e = X + (t->rates < 0 ? 1 : 2) * rows * LANES,
         *w = e + rows * LANES, *own = w + rows * LANES, *K = own + rows * LANES + corner_size(t);
  corner (*corners)[LANES] = (corner (*)[LANES])(own + rows * LANES);
  const int64_t n = kernel_coefficients(t), blocks = t->symmetric ? n * (n + 1) / 2 : n * n;
  const int64_t forces = 3 * n * LANES;
  int64_t bad = 0;
  if (t->rates >= 0)
    t->uniform[t->rates] = assembler->rate_factor ? assembler->rate_factor[t->stride * t->blocks[0]] : 0.0;
  for (int batch = 0; batch * LANES < t->n; batch++) {
    const int first = batch * LANES, lanes = t->n - first < LANES ? t->n - first : LANES;
    const double *cell = t->cell + (int64_t)batch * t->cell_rows * LANES;
    gather(t, batch, x, own, u);
    gather(t, batch, assembler->reference, own, X);
    if (t->rates >= 0) gather_rates(assembler, t, batch, u, own, X + 3 * kernel_coefficients(t) * LANES);
    if (what == ENERGY) {
      double W[LANES] __attribute__((aligned(64)));
      bad += t->energy(lanes, t->uniform, cell, X, u, W);
      disturb(W, LANES);
      add_energies(t, first, lanes, W, &form, energies);
    } else if (what == RESIDUAL || (what == TANGENT && !t->has_tangent)) {
      bad += t->residual(lanes, t->uniform, cell, X, u, e);
      disturb(e, forces);
      scatter_vector(t, batch, own, e, f);
    } else if (tabulates(what)) {
      double *O = t->table + (int64_t)batch * t->table_rows * LANES;
      bad += function_of(t, what)(lanes, t->uniform, cell, X, u, O);
      disturb(O, t->table_rows * LANES);
    } else if (what == PARAMETER) {
      const double *rate = t->cell_rate + (int64_t)batch * t->cell_rows * LANES;
      bad += t->parameter(lanes, t->uniform, cell, X, u, t->uniform_rate, rate, e);
      disturb(e, forces);
      scatter_vector(t, batch, own, e, f);
    } else if (what == PULL) {
      const int64_t begin = (int64_t)batch * LANES;
      gather(t, batch, v, own, w);
      bad += t->pull(lanes, t->uniform, cell, X, u, w, t->seed + begin * t->cell_rows, e,
                     t->by_uniform + begin * t->uniform_rows, t->by_cell + begin * t->cell_rows);
      disturb(e, forces);
      scatter_vector(t, batch, own, e, f);
    } else if (what == SHAPE) {
      gather(t, batch, v, own, w);
      bad += t->shape(lanes, t->uniform, cell, X, u, w, t->seed + (int64_t)batch * t->cell_rows * LANES, e);
      disturb(e, forces);
      scatter_vector(t, batch, own, e, f);
    } else if (what == TANGENT) {
      bad += t->tangent(lanes, t->uniform, cell, X, u, e, K);
      disturb(e, forces);
      disturb(K, 9 * blocks * LANES);
      scatter_vector(t, batch, own, e, f);
      clear_for(assembler, t, first, lanes, cleared);
      if (assembler->half && t->half_places) {
        if (!t->symmetric) split_skew(t, first, lanes, K);
        scatter_half(assembler->half, t, first, lanes, K, (half_corner (*)[LANES])corners, e);
      }
      else if (t->functions) scatter_whole(assembler, t, first, lanes, nodal_matrix(t, batch, K), corners);
      else scatter_matrix(assembler, t, first, lanes, K, corners);
      if (t->scalars) scatter_scalars(assembler, t, first, lanes, K, w);
    } else if (what == DIAGONAL) {
      bad += t->diagonal(lanes, t->uniform, cell, X, u, K);
      disturb(K, 9 * n * LANES);
      add_diagonal(t, first, lanes, K, f);
    } else if (what == MOMENTS) {
      bad += t->moments(lanes, t->uniform, cell, X, u, K);
      disturb(K, (int64_t)t->moments_rows * LANES);
      round_moments(t, batch, K);
    } else if (what == COARSE) {
      bad += t->coarse(lanes, t->uniform, cell, X, u, K);
      disturb(K, 9 * t->linear * (t->linear + 1) / 2 * LANES);
      scatter_corners(assembler->half, t, first, lanes, (const v8 *)K, t->linear,
                      (half_corner (*)[LANES])corners, (v8 *)e);
    } else {
      gather(t, batch, v, own, w);
      bad += t->product(lanes, t->uniform, cell, X, u, w, e);
      disturb(e, forces);
      scatter_vector(t, batch, own, e, f);
    }
  }
  return bad;
}

#endif
