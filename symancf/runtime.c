/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run-time half of assembly: gather, kernels, slope maps, scatter.
 *
 * One call evaluates the plan of all terms.  Two contractions exist:
 *   cells     the kernel is tabulated and works on batches of 8 cells;
 *   entities  the kernel works on a few jets, each a sparse combination g = B e of local
 *             coordinates; this file contracts  f += B^T P  and  K += B^T H B.
 *
 * The local vector holds all coordinates of all local vertices (owned first, then ghosts),
 * fixed ones included.  A matrix row exists for a free coordinate of an owned vertex.  All
 * rows of a vertex share one column pattern (all free coordinates of all adjacent vertices),
 * so the place of a vertex pair is one offset that holds for each of its rows.
 */
#include "symancf_kernel.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8
#define MAX_CORNERS 8

enum { ENERGY = 0, RESIDUAL = 1, TANGENT = 2, PRODUCT = 3 };

typedef int (*symancf_value)(int, const double *, const double *, const double *, const double *,
                             double *);
typedef int (*symancf_pair)(int, const double *, const double *, const double *, const double *,
                            double *, double *);
typedef int (*symancf_product)(int, const double *, const double *, const double *, const double *,
                               const double *, double *);

typedef struct {
  int32_t tabulated, symmetric, has_tangent, active;
  int32_t n;        /* entities */
  int32_t cell_rows; /* parameters per entity */
  symancf_value energy, residual;
  symancf_pair tangent;
  symancf_product product;
  const double *uniform; /* uniform parameters */
  const double *cell;    /* [batches][cell_rows][8] */
  const uint8_t *owned;  /* [n] this rank counts the entity's energy */
  const int32_t *vertex_start; /* [n + 1] */
  const int32_t *vertices;     /* local vertex numbers */
  const int64_t *pair_start;   /* [n + 1] into positions */
  const int32_t *positions;    /* offset of column vertex j in the rows of vertex i; ~offset off-diagonal */
  /* cells */
  int32_t corners, slopes;
  const int32_t *blocks; /* [n][corners][2] local offsets of position and slopes */
  const double *maps;    /* [batches][corners][slopes][slopes][8] */
  const double *geometry; /* stored geometry [batches][geometry_rows][8] or NULL */
  int32_t geometry_rows;
  /* entities */
  int32_t jets;
  const int32_t *entry_start; /* [n + 1] */
  const int32_t *entry_jet;
  const int32_t *entry_coordinate; /* offset in the local vector */
  const int32_t *entry_vertex;     /* number of the vertex within the entity */
  const double *entry_value;
  const int32_t *entry_column; /* number of its coordinate among those of the entity */
  const int32_t *column_start; /* [n + 1] */
  const int32_t *column_coordinate, *column_vertex;
  int32_t columns; /* the most that an entity has */
} symancf_term;

/* An entry of a rate has the coordinate ~c: it takes the rate of coordinate c, no force. */

typedef struct {
  int32_t terms;
  symancf_term *term;
  const double *reference;     /* reference coordinates, local vector */
  const int32_t *row;          /* per coordinate: owned free row or -1 */
  const int32_t *rank_in_vertex; /* per coordinate: number among the free ones of its vertex or -1 */
  const int32_t *vertex_row;   /* per vertex: its first row if owned, else -1 */
  int32_t owned, rows;         /* vertices, and rows of the matrix, on this rank */
  const uint8_t *vertex_plain; /* per vertex: all coordinates free */
  const int32_t *diagonal_start, *off_start; /* CSR row pointers */
  double *diagonal, *off;                     /* value arrays */
  const double *rate;        /* rates of the coordinates, local vector; NULL: zero */
  const double *rate_factor; /* d rate / d coordinate of the time integrator; NULL: zero */
} symancf_plan;

/* ---- gather: coefficient vectors of 8 cells, slopes mapped to the cell's parameters ------- */

/* s[k] = sum_c map[k][c] s[c], or with the transposed map, for 3-vectors of 8 lanes */
static inline __attribute__((always_inline)) void
map_slopes(const v8 *restrict map, const int ns, const int transposed, v8 *restrict s)
{
  v8 old[9];
  for (int k = 0; k < 3 * ns; k++) old[k] = s[k];
  for (int k = 0; k < ns; k++)
    for (int a = 0; a < 3; a++) {
      v8 sum = {0};
      for (int c = 0; c < ns; c++) sum += map[transposed ? c * ns + k : k * ns + c] * old[3 * c + a];
      s[3 * k + a] = sum;
    }
}

static void map_corners(const symancf_term *t, int batch, int transposed, double *e)
{
  const int ns = t->slopes;
  const v8 *map = (const v8 *)t->maps + (int64_t)batch * t->corners * ns * ns;
  for (int v = 0; v < t->corners; v++, map += ns * ns) {
    v8 *s = (v8 *)e + 3 * (1 + ns) * v + 3;
    if (ns == 3) map_slopes(map, 3, transposed, s);
    else if (ns == 2) map_slopes(map, 2, transposed, s);
    else map_slopes(map, ns, transposed, s);
  }
}

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

/* ---- scatter of a vector: transposed slope maps, then add --------------------------------- */
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

/* ---- scatter of a matrix -------------------------------------------------------------------
 *
 * The rows of a vertex are set to zero just before the first batch that adds to them: entities
 * follow the order of the rows, so the rows are still in cache when the values arrive.
 */
static void clear_rows(const symancf_plan *plan, int32_t *cleared, int32_t up_to)
{
  if (up_to <= *cleared) return;
  const int32_t first = plan->vertex_row[*cleared];
  const int32_t last = up_to < plan->owned ? plan->vertex_row[up_to] : plan->rows;
  const int32_t *d = plan->diagonal_start, *o = plan->off_start;
  memset(plan->diagonal + d[first], 0, (size_t)(d[last] - d[first]) * sizeof(double));
  memset(plan->off + o[first], 0, (size_t)(o[last] - o[first]) * sizeof(double));
  *cleared = up_to;
}

/* Clear the rows of all owned vertices up to the last one of some entities. */
static void clear_for(const symancf_plan *plan, const symancf_term *t, int first, int lanes,
                      int32_t *cleared)
{
  int32_t last = *cleared - 1;
  for (int32_t p = t->vertex_start[first]; p < t->vertex_start[first + lanes]; p++)
    if (t->vertices[p] > last && t->vertices[p] < plan->owned) last = t->vertices[p];
  clear_rows(plan, cleared, last + 1);
}

static inline double *row_values(const symancf_plan *plan, int32_t row, int32_t position)
{
  return position >= 0 ? plan->diagonal + plan->diagonal_start[row] + position
                       : plan->off + plan->off_start[row] + ~position;
}

#if defined(__clang__) || __GNUC__ >= 12
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef long long i8 __attribute__((vector_size(64)));
#define PICK(a, b, ...) __builtin_shuffle(a, b, (i8){__VA_ARGS__})
#endif
typedef double v8_anywhere __attribute__((vector_size(64), aligned(8), may_alias));
typedef double v4_anywhere __attribute__((vector_size(32), aligned(8), may_alias));
typedef double v2_anywhere __attribute__((vector_size(16), aligned(8), may_alias));

/* 8 rows of 8 lanes -> 8 doubles for each lane, `stride` doubles apart */
static inline void transpose(const v8 *restrict x, const int16_t *restrict row, double *restrict out,
                             int stride)
{
  v8 a[8], b[8];
  for (int k = 0; k < 8; k += 2) {
    a[k] = PICK(x[row[k]], x[row[k + 1]], 0, 8, 2, 10, 4, 12, 6, 14);
    a[k + 1] = PICK(x[row[k]], x[row[k + 1]], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int k = 0; k < 8; k += 4)
    for (int m = 0; m < 2; m++) {
      b[k + m] = PICK(a[k + m], a[k + m + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[k + m + 2] = PICK(a[k + m], a[k + m + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int m = 0; m < 4; m++) {
    *(v8_anywhere *)(out + m * stride) = PICK(b[m], b[m + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    *(v8_anywhere *)(out + (m + 4) * stride) = PICK(b[m], b[m + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* Row of K that holds component b of coefficient j's force on component a of coefficient i. */
static inline int64_t packed(int symmetric, int n, int i, int a, int j, int b)
{
  if (!symmetric) return 9 * ((int64_t)i * n + j) + 3 * a + b;
  return i <= j ? 9 * ((int64_t)j * (j + 1) / 2 + i) + 3 * a + b
                : 9 * ((int64_t)i * (i + 1) / 2 + j) + 3 * b + a;
}

/* The tile of corners (I, J) of 8 cells in nodal coordinates, T_I^t K T_J: [nb][nb] vectors. */
static inline __attribute__((always_inline)) void
map_tile(const symancf_term *t, const v8 *restrict K, const v8 *restrict maps, int I, int J,
         const int ns, v8 *restrict tile)
{
  const int nf = 1 + ns, nb = 3 * nf, n = t->corners * nf;
  const v8 *mi = maps + I * ns * ns, *mj = maps + J * ns * ns;
  for (int r = 0; r < nb; r++) {
    v8 *row = tile + r * nb;
    for (int c = 0; c < nb; c++)
      row[c] = K[packed(t->symmetric, n, I * nf + r / 3, r % 3, J * nf + c / 3, c % 3)];
    map_slopes(mj, ns, 1, row + 3);
  }
  for (int c = 0; c < nb; c++) {
    v8 column[9];
    for (int r = 0; r < 3 * ns; r++) column[r] = tile[(3 + r) * nb + c];
    map_slopes(mi, ns, 1, column);
    for (int r = 0; r < 3 * ns; r++) tile[(3 + r) * nb + c] = column[r];
  }
}

/* local offset of the r-th coordinate of a cell at a corner */
static inline int32_t coordinate(const int32_t *block, int r)
{
  return r < 3 ? block[0] + r : block[1] + r - 3;
}

/* Where a cell's corner stands in the matrix. */
typedef struct {
  const int32_t *block; /* local offsets of position and slopes */
  double *diagonal, *off; /* first row of its vertex; NULL if the row is on another rank */
  int64_t width, off_width; /* from row to row */
  int plain; /* whether the rows are its coordinates in their order, none fixed */
} corner;

static corner find_corner(const symancf_plan *plan, const symancf_term *t, int cell, int v)
{
  const int32_t *block = t->blocks + ((int64_t)cell * t->corners + v) * 2;
  const int32_t vertex = t->vertices[t->vertex_start[cell] + v], row = plan->vertex_row[vertex];
  const int plain = plan->vertex_plain[vertex] && plan->rank_in_vertex[block[0]] == 0 &&
                    (!t->slopes || block[1] == block[0] + 3);
  if (row < 0) return (corner){block, NULL, NULL, 0, 0, plain};
  const int32_t *d = plan->diagonal_start + row, *o = plan->off_start + row;
  return (corner){block, plan->diagonal + d[0], plan->off + o[0], d[1] - d[0], o[1] - o[0], plain};
}

/* to[0 .. n) += from[0 .. n) in as few operations as possible; n is known to the compiler */
static inline __attribute__((always_inline)) void add(double *to, const double *from, const int n)
{
  int k = 0;
  for (; k + 8 <= n; k += 8) *(v8_anywhere *)(to + k) += *(const v8_anywhere *)(from + k);
  for (; k + 4 <= n; k += 4) *(v4_anywhere *)(to + k) += *(const v4_anywhere *)(from + k);
  for (; k + 2 <= n; k += 2) *(v2_anywhere *)(to + k) += *(const v2_anywhere *)(from + k);
  for (; k < n; k++) to[k] += from[k];
}

/* Add a tile [nb][nb] to the rows of corner i and the columns of corner j of a cell. */
static inline __attribute__((always_inline)) void
add_tile(const symancf_plan *plan, const corner *i, const corner *j, int32_t position,
         const double *tile, const int nb)
{
  if (i->plain && j->plain) {
    double *values = position >= 0 ? i->diagonal + position : i->off + ~position;
    const int64_t width = position >= 0 ? i->width : i->off_width;
    for (int r = 0; r < nb; r++) add(values + r * width, tile + r * nb, nb);
    return;
  }
  for (int r = 0; r < nb; r++) { /* some coordinates are fixed */
    const int32_t row = plan->row[coordinate(i->block, r)];
    if (row < 0) continue;
    double *values = row_values(plan, row, position);
    for (int c = 0; c < nb; c++) {
      const int32_t column = plan->rank_in_vertex[coordinate(j->block, c)];
      if (column >= 0) values[column] += tile[r * nb + c];
    }
  }
}

/* Split a tile of 8 lanes, its entries taken in the order `row`, and add it for each cell. */
static inline __attribute__((always_inline)) void
add_lanes(const symancf_plan *plan, const symancf_term *t, int first, int lanes,
          corner (*corners)[LANES], int I, int J, const v8 *restrict tile,
          const int16_t *restrict row, const int nb)
{
  double split[LANES * 144 + LANES] __attribute__((aligned(64)));
  int k = 0;
  for (; k + LANES <= nb * nb; k += LANES) transpose(tile, row + k, split + k, nb * nb);
  for (; k < nb * nb; k++)
    for (int l = 0; l < LANES; l++) split[l * nb * nb + k] = tile[row[k]][l];
  for (int l = 0; l < lanes; l++)
    if (corners[I][l].diagonal)
      add_tile(plan, &corners[I][l], &corners[J][l],
               t->positions[t->pair_start[first + l] + I * t->corners + J], split + l * nb * nb, nb);
}

static inline __attribute__((always_inline)) void
scatter_tiles(const symancf_plan *plan, const symancf_term *t, int first, int lanes,
              const v8 *restrict K, const int ns)
{
  const int nb = 3 * (1 + ns), n = t->corners;
  const v8 *maps = (const v8 *)t->maps + (int64_t)(first / LANES) * n * ns * ns;
  int16_t straight[144], flipped[144];
  for (int k = 0; k < nb * nb; k++) {
    straight[k] = k;
    flipped[k] = k % nb * nb + k / nb;
  }
  corner corners[MAX_CORNERS][LANES];
  for (int v = 0; v < n; v++)
    for (int l = 0; l < lanes; l++) corners[v][l] = find_corner(plan, t, first + l, v);
  v8 mapped[144];
  for (int I = 0; I < n; I++)
    for (int J = 0; J < n; J++) {
      const int below = t->symmetric && I > J;
      if (!ns) { /* the packed blocks are the tiles */
        const v8 *tile = K + (below ? packed(1, n, J, 0, I, 0) : packed(t->symmetric, n, I, 0, J, 0));
        add_lanes(plan, t, first, lanes, corners, I, J, tile, below ? flipped : straight, nb);
      } else if (!below) {
        map_tile(t, K, maps, I, J, ns, mapped);
        add_lanes(plan, t, first, lanes, corners, I, J, mapped, straight, nb);
        if (t->symmetric && I < J) add_lanes(plan, t, first, lanes, corners, J, I, mapped, flipped, nb);
      }
    }
}

static void scatter_matrix(const symancf_plan *plan, const symancf_term *t, int first, int lanes,
                           const double *K)
{
  switch (t->slopes) {
  case 0: scatter_tiles(plan, t, first, lanes, (const v8 *)K, 0); break;
  case 1: scatter_tiles(plan, t, first, lanes, (const v8 *)K, 1); break;
  case 2: scatter_tiles(plan, t, first, lanes, (const v8 *)K, 2); break;
  default: scatter_tiles(plan, t, first, lanes, (const v8 *)K, 3); break;
  }
}

/* ---- one term on cells ----------------------------------------------------------------------- */
static int64_t cells(const symancf_plan *plan, const symancf_term *t, int what, const double *x,
                     const double *v, double *f, double *energy, double *work, int32_t *cleared)
{
  const int rows = 3 * t->corners * (1 + t->slopes);
  double *u = work, *X = u + rows * LANES, *e = X + rows * LANES, *w = e + rows * LANES,
         *K = w + rows * LANES;
  int64_t bad = 0;
  for (int batch = 0; batch * LANES < t->n; batch++) {
    const int first = batch * LANES, lanes = t->n - first < LANES ? t->n - first : LANES;
    const double *cell = t->cell + (int64_t)batch * t->cell_rows * LANES;
    const double *geometry = X;
    gather(t, batch, x, u);
    if (t->geometry) geometry = t->geometry + (int64_t)batch * t->geometry_rows * LANES;
    else gather(t, batch, plan->reference, X);
    if (what == ENERGY) {
      double W[LANES] __attribute__((aligned(64)));
      bad += t->energy(lanes, t->uniform, cell, geometry, u, W);
      for (int l = 0; l < lanes; l++)
        if (t->owned[first + l]) *energy += W[l];
    } else if (what == RESIDUAL || (what == TANGENT && !t->has_tangent)) {
      bad += t->residual(lanes, t->uniform, cell, geometry, u, e);
      scatter_vector(t, batch, e, f);
    } else if (what == TANGENT) {
      bad += t->tangent(lanes, t->uniform, cell, geometry, u, e, K);
      scatter_vector(t, batch, e, f);
      clear_for(plan, t, first, lanes, cleared);
      scatter_matrix(plan, t, first, lanes, K);
    } else {
      gather(t, batch, v, w);
      bad += t->product(lanes, t->uniform, cell, geometry, u, w, e);
      scatter_vector(t, batch, e, f);
    }
  }
  return bad;
}

/* ---- one term on entities: g = B e, f += B^T P, K += B^T H B --------------------------------- */
static void jets(const symancf_term *t, int first, int lanes, const double *x, const double *rate,
                 double *g)
{
  for (int k = 0; k < t->jets * LANES; k++) g[k] = 0.0;
  for (int l = 0; l < LANES; l++) {
    const int entity = first + (l < lanes ? l : lanes - 1);
    for (int32_t p = t->entry_start[entity]; p < t->entry_start[entity + 1]; p++) {
      const int32_t c = t->entry_coordinate[p];
      const double value = c >= 0 ? x[c] : rate ? rate[~c] : 0.0;
      g[t->entry_jet[p] * LANES + l] += t->entry_value[p] * value;
    }
  }
}

/* Change of the rate with its coordinate. */
static inline double rate_factor(const symancf_plan *plan, int32_t coordinate)
{
  return plan->rate_factor ? plan->rate_factor[~coordinate] : 0.0;
}

/* Jets in the direction v of the coordinates, their rates following by the rate factors. */
static void directions(const symancf_plan *plan, const symancf_term *t, int first, int lanes,
                       const double *v, double *g)
{
  for (int k = 0; k < t->jets * LANES; k++) g[k] = 0.0;
  for (int l = 0; l < LANES; l++) {
    const int entity = first + (l < lanes ? l : lanes - 1);
    for (int32_t p = t->entry_start[entity]; p < t->entry_start[entity + 1]; p++) {
      const int32_t c = t->entry_coordinate[p];
      const double value = c >= 0 ? v[c] : rate_factor(plan, c) * v[~c];
      g[t->entry_jet[p] * LANES + l] += t->entry_value[p] * value;
    }
  }
}

/* matrix += B^T H B of one entity, H being a lane; first T = H B, then by rows of B^T. */
static void add_matrix(const symancf_plan *plan, const symancf_term *t, int entity,
                       const double *restrict H, double *restrict work)
{
  const int m = t->jets, first = t->column_start[entity], n = t->column_start[entity + 1] - first;
  const int32_t start = t->entry_start[entity], end = t->entry_start[entity + 1];
  const int corners = t->vertex_start[entity + 1] - t->vertex_start[entity];
  const int32_t *positions = t->positions + t->pair_start[entity];
  double *restrict h = work, *restrict T = h + m * m, *restrict K = T + m * n; /* h: transposed H */
  for (int j = 0; j < m; j++)
    for (int k = 0; k < m; k++)
      h[k * m + j] = H[(!t->symmetric ? j * m + k
                        : j <= k      ? k * (k + 1) / 2 + j
                                      : j * (j + 1) / 2 + k) * LANES];
  memset(T, 0, (size_t)(m * n + n * n) * sizeof(double));
  for (int32_t q = start; q < end; q++) {
    const int32_t c = t->entry_coordinate[q];
    const double value = t->entry_value[q] * (c >= 0 ? 1.0 : rate_factor(plan, c));
    const double *restrict column = h + t->entry_jet[q] * m;
    if (value == 0.0) continue;
    for (int j = 0; j < m; j++) T[j * n + t->entry_column[q]] += value * column[j];
  }
  for (int32_t p = start; p < end; p++) {
    if (t->entry_coordinate[p] < 0 || plan->row[t->entry_coordinate[p]] < 0) continue;
    const double value = t->entry_value[p], *restrict row = T + t->entry_jet[p] * n;
    double *restrict to = K + t->entry_column[p] * n;
    for (int c = 0; c < n; c++) to[c] += value * row[c];
  }
  for (int r = 0; r < n; r++) {
    const int32_t row = plan->row[t->column_coordinate[first + r]];
    if (row < 0) continue;
    const int32_t *position = positions + t->column_vertex[first + r] * corners;
    for (int c = 0; c < n; c++) {
      const int32_t column = plan->rank_in_vertex[t->column_coordinate[first + c]];
      if (column >= 0 && K[r * n + c] != 0.0)
        row_values(plan, row, position[t->column_vertex[first + c]])[column] += K[r * n + c];
    }
  }
}

static int64_t entities(const symancf_plan *plan, const symancf_term *t, int what, const double *x,
                        const double *v, double *f, double *energy, double *work,
                        int32_t *cleared)
{
  const int m = t->jets;
  double *g = work, *d = g + m * LANES, *P = d + m * LANES, *H = P + m * LANES;
  int64_t bad = 0;
  for (int first = 0; first < t->n; first += LANES) {
    const int lanes = t->n - first < LANES ? t->n - first : LANES;
    const double *cell = t->cell + (int64_t)(first / LANES) * t->cell_rows * LANES;
    const int matrix = what == TANGENT && t->has_tangent;
    jets(t, first, lanes, x, plan->rate, g);
    if (what == ENERGY) {
      bad += t->energy(lanes, t->uniform, cell, NULL, g, P);
      for (int l = 0; l < lanes; l++)
        if (t->owned[first + l]) *energy += P[l];
      continue;
    }
    if (what == PRODUCT) {
      directions(plan, t, first, lanes, v, d);
      bad += t->product(lanes, t->uniform, cell, NULL, g, d, P);
    } else if (matrix) {
      bad += t->tangent(lanes, t->uniform, cell, NULL, g, P, H);
      clear_for(plan, t, first, lanes, cleared);
    } else {
      bad += t->residual(lanes, t->uniform, cell, NULL, g, P);
    }
    for (int l = 0; l < lanes; l++) {
      const int entity = first + l;
      const int32_t start = t->entry_start[entity], end = t->entry_start[entity + 1];
      for (int32_t p = start; p < end; p++)
        if (t->entry_coordinate[p] >= 0)
          f[t->entry_coordinate[p]] += t->entry_value[p] * P[t->entry_jet[p] * LANES + l];
      if (matrix) add_matrix(plan, t, entity, H + l, H + m * m * LANES);
    }
  }
  return bad;
}

/* Doubles of scratch that one term needs. */
static int64_t scratch(const symancf_term *t)
{
  if (t->tabulated) {
    const int64_t n = (int64_t)t->corners * (1 + t->slopes);
    const int64_t blocks = t->symmetric ? n * (n + 1) / 2 : n * n;
    return (4 * 3 * n + 9 * blocks) * LANES;
  }
  const int64_t m = t->jets, n = t->columns;
  return m * (3 + m) * LANES + m * m + m * n + n * n;
}

/*
 * Evaluate all active terms at the local vector x.
 *   what = 0: energies[term] += strain energy of owned entities
 *   what = 1: f += residual             (f: local vector)
 *   what = 2: f += residual, matrix = tangent
 *   what = 3: f += tangent . v          (v: local vector)
 * Returns the number of points that left the domain of their law, or -1 when memory is short.
 */
int64_t symancf_assemble(const symancf_plan *plan, int what, const double *x, const double *v,
                         double *f, double *energies)
{
  int64_t size = LANES, bad = 0;
  int32_t cleared = 0;
  for (int k = 0; k < plan->terms; k++) {
    const int64_t need = scratch(plan->term + k);
    if (need > size) size = need;
  }
  double *work = aligned_alloc(64, (size_t)size * sizeof(double));
  if (!work) return -1;
  for (int k = 0; k < plan->terms; k++) {
    const symancf_term *t = plan->term + k;
    double energy = 0.0;
    if (!t->active || !t->n || (what == PRODUCT && !t->has_tangent)) continue;
    bad += t->tabulated ? cells(plan, t, what, x, v, f, &energy, work, &cleared)
                        : entities(plan, t, what, x, v, f, &energy, work, &cleared);
    if (what == ENERGY) energies[k] += energy;
  }
  if (what == TANGENT) clear_rows(plan, &cleared, plan->owned);
  free(work);
  return bad;
}
