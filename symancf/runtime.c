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
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8
#define MAX_BLOCK 12 /* coordinates of a cell at one vertex */

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
} symancf_term;

typedef struct {
  int32_t terms;
  symancf_term *term;
  const double *reference;     /* reference coordinates, local vector */
  const int32_t *row;          /* per coordinate: owned free row or -1 */
  const int32_t *rank_in_vertex; /* per coordinate: number among the free ones of its vertex or -1 */
  const int32_t *vertex_row;   /* per vertex: its first row if owned, else -1 */
  const uint8_t *vertex_plain; /* per vertex: all coordinates free */
  const int32_t *diagonal_start, *off_start; /* CSR row pointers */
  double *diagonal, *off;                     /* value arrays */
} symancf_plan;

/* ---- gather: coefficient vectors of 8 cells, slopes mapped to the cell's parameters ------- */
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
  if (!ns) return;
  const double *map = t->maps + (int64_t)batch * t->corners * ns * ns * LANES;
  for (int v = 0; v < t->corners; v++, map += ns * ns * LANES) {
    double *s = e + (int64_t)(3 * nf * v + 3) * LANES;
    double old[9 * LANES];
    memcpy(old, s, sizeof(double) * 3 * ns * LANES);
    for (int k = 0; k < ns; k++)
      for (int a = 0; a < 3; a++)
        for (int l = 0; l < LANES; l++) {
          double sum = 0.0;
          for (int c = 0; c < ns; c++) sum += map[(k * ns + c) * LANES + l] * old[(3 * c + a) * LANES + l];
          s[(3 * k + a) * LANES + l] = sum;
        }
  }
}

/* ---- scatter of a vector: transposed slope maps, then add --------------------------------- */
static void scatter_vector(const symancf_term *t, int batch, double *restrict e, double *restrict f)
{
  const int ns = t->slopes, nf = 1 + ns;
  if (ns) {
    const double *map = t->maps + (int64_t)batch * t->corners * ns * ns * LANES;
    for (int v = 0; v < t->corners; v++, map += ns * ns * LANES) {
      double *s = e + (int64_t)(3 * nf * v + 3) * LANES;
      double old[9 * LANES];
      memcpy(old, s, sizeof(double) * 3 * ns * LANES);
      for (int c = 0; c < ns; c++)
        for (int a = 0; a < 3; a++)
          for (int l = 0; l < LANES; l++) {
            double sum = 0.0;
            for (int k = 0; k < ns; k++) sum += map[(k * ns + c) * LANES + l] * old[(3 * k + a) * LANES + l];
            s[(3 * c + a) * LANES + l] = sum;
          }
    }
  }
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

/* ---- scatter of a matrix ------------------------------------------------------------------- */
static inline double *row_values(const symancf_plan *plan, int32_t row, int32_t position)
{
  return position >= 0 ? plan->diagonal + plan->diagonal_start[row] + position
                       : plan->off + plan->off_start[row] + ~position;
}

/* Tile of the vertex pair (I, J) of 8 cells, slopes mapped to nodal coordinates:
 * tile[r][c][lane], r = 3 k_i + a, c = 3 k_j + b. */
static inline __attribute__((always_inline)) void
load_tile(const symancf_term *t, const double *restrict K, const double *restrict maps, int I, int J,
          const int ns, double *restrict tile)
{
  const int nf = 1 + ns, nb = 3 * nf, n = t->corners * nf;
  for (int ki = 0; ki < nf; ki++)
    for (int kj = 0; kj < nf; kj++) {
      const int i = I * nf + ki, j = J * nf + kj;
      if (t->symmetric && i > j) { /* only on diagonal tiles: the mirrored block */
        const double *block = K + (int64_t)9 * ((int64_t)i * (i + 1) / 2 + j) * LANES;
        for (int a = 0; a < 3; a++)
          for (int b = 0; b < 3; b++)
            memcpy(tile + ((3 * ki + a) * nb + 3 * kj + b) * LANES, block + (3 * b + a) * LANES,
                   sizeof(double) * LANES);
      } else {
        const int64_t index = t->symmetric ? (int64_t)j * (j + 1) / 2 + i : (int64_t)i * n + j;
        const double *block = K + 9 * index * LANES;
        for (int a = 0; a < 3; a++)
          memcpy(tile + ((3 * ki + a) * nb + 3 * kj) * LANES, block + 3 * a * LANES,
                 sizeof(double) * 3 * LANES);
      }
    }
  if (!ns) return;
  const double *mi = maps + (int64_t)I * ns * ns * LANES, *mj = maps + (int64_t)J * ns * ns * LANES;
  double old[9 * LANES];
  for (int r = 0; r < nb; r++) { /* columns: slopes of J */
    double *row = tile + (r * nb + 3) * LANES;
    memcpy(old, row, sizeof(double) * 3 * ns * LANES);
    for (int c = 0; c < ns; c++)
      for (int b = 0; b < 3; b++) {
        double sum[LANES] = {0};
        for (int k = 0; k < ns; k++)
          for (int l = 0; l < LANES; l++)
            sum[l] += mj[(k * ns + c) * LANES + l] * old[(3 * k + b) * LANES + l];
        memcpy(row + (3 * c + b) * LANES, sum, sizeof sum);
      }
  }
  for (int c = 0; c < nb; c++) { /* rows: slopes of I */
    for (int k = 0; k < 3 * ns; k++)
      memcpy(old + k * LANES, tile + ((3 + k) * nb + c) * LANES, sizeof(double) * LANES);
    for (int m = 0; m < ns; m++)
      for (int a = 0; a < 3; a++) {
        double sum[LANES] = {0};
        for (int k = 0; k < ns; k++)
          for (int l = 0; l < LANES; l++)
            sum[l] += mi[(k * ns + m) * LANES + l] * old[(3 * k + a) * LANES + l];
        memcpy(tile + ((3 + 3 * m + a) * nb + c) * LANES, sum, sizeof sum);
      }
  }
}

/* local offset of the r-th coordinate of a cell at corner v */
static inline int32_t coordinate(const symancf_term *t, int cell, int v, int r)
{
  const int32_t *block = t->blocks + ((int64_t)cell * t->corners + v) * 2;
  return r < 3 ? block[0] + r : block[1] + r - 3;
}

static void add_tile_slow(const symancf_plan *plan, const symancf_term *t, int cell, int lane, int I,
                          int J, int nb, const double *tile, int transposed)
{
  const int32_t position = t->positions[t->pair_start[cell] + (transposed ? J * t->corners + I
                                                                           : I * t->corners + J)];
  for (int r = 0; r < nb; r++) {
    const int32_t row = plan->row[coordinate(t, cell, transposed ? J : I, r)];
    if (row < 0) continue;
    double *values = row_values(plan, row, position);
    for (int c = 0; c < nb; c++) {
      const int32_t column = plan->rank_in_vertex[coordinate(t, cell, transposed ? I : J, c)];
      if (column < 0) continue;
      values[column] += tile[(transposed ? c * nb + r : r * nb + c) * LANES + lane];
    }
  }
}

static inline __attribute__((always_inline)) void
scatter_tiles(const symancf_plan *plan, const symancf_term *t, int batch, const double *restrict K,
              const int ns)
{
  const int nb = 3 * (1 + ns), corners = t->corners, first = batch * LANES;
  const int lanes = t->n - first < LANES ? t->n - first : LANES;
  double tile[MAX_BLOCK * MAX_BLOCK * LANES] __attribute__((aligned(64)));
  double spill[MAX_BLOCK];
  const double *maps = ns ? t->maps + (int64_t)batch * corners * ns * ns * LANES : NULL;
  int plain[LANES];
  for (int l = 0; l < LANES; l++) {
    plain[l] = 1;
    if (l < lanes)
      for (int v = 0; v < corners; v++) {
        const int32_t *block = t->blocks + ((int64_t)(first + l) * corners + v) * 2;
        plain[l] &= plan->vertex_plain[t->vertices[t->vertex_start[first + l] + v]] &&
                    plan->rank_in_vertex[block[0]] == 0 && (!ns || block[1] == block[0] + 3);
      }
  }
  for (int I = 0; I < corners; I++)
    for (int J = t->symmetric ? I : 0; J < corners; J++) {
      load_tile(t, K, maps, I, J, ns, tile);
      for (int transposed = 0; transposed <= (t->symmetric && I != J); transposed++) {
        double *target[LANES];
        int32_t row[LANES], position[LANES];
        for (int l = 0; l < LANES; l++) {
          row[l] = -1;
          if (l >= lanes) continue;
          const int cell = first + l;
          if (!plain[l]) {
            add_tile_slow(plan, t, cell, l, I, J, nb, tile, transposed);
            continue;
          }
          row[l] = plan->vertex_row[t->vertices[t->vertex_start[cell] + (transposed ? J : I)]];
          position[l] = t->positions[t->pair_start[cell] + (transposed ? J * corners + I : I * corners + J)];
        }
        for (int r = 0; r < nb; r++) {
          for (int l = 0; l < LANES; l++)
            target[l] = row[l] < 0 ? spill : row_values(plan, row[l] + r, position[l]);
          if (transposed)
            for (int c = 0; c < nb; c++)
              for (int l = 0; l < LANES; l++) target[l][c] += tile[(c * nb + r) * LANES + l];
          else
            for (int c = 0; c < nb; c++)
              for (int l = 0; l < LANES; l++) target[l][c] += tile[(r * nb + c) * LANES + l];
        }
      }
    }
}

static void scatter_matrix(const symancf_plan *plan, const symancf_term *t, int batch, const double *K)
{
  switch (t->slopes) {
  case 0: scatter_tiles(plan, t, batch, K, 0); break;
  case 1: scatter_tiles(plan, t, batch, K, 1); break;
  case 2: scatter_tiles(plan, t, batch, K, 2); break;
  default: scatter_tiles(plan, t, batch, K, 3); break;
  }
}

/* ---- one term on cells ----------------------------------------------------------------------- */
static int64_t cells(const symancf_plan *plan, const symancf_term *t, int what, const double *x,
                     const double *v, double *f, double *energy, double *work)
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
      scatter_matrix(plan, t, batch, K);
    } else {
      gather(t, batch, v, w);
      bad += t->product(lanes, t->uniform, cell, geometry, u, w, e);
      scatter_vector(t, batch, e, f);
    }
  }
  return bad;
}

/* ---- one term on entities: g = B e, f += B^T P, K += B^T H B --------------------------------- */
static void jets(const symancf_term *t, int first, int lanes, const double *x, double *g)
{
  for (int k = 0; k < t->jets * LANES; k++) g[k] = 0.0;
  for (int l = 0; l < LANES; l++) {
    const int entity = first + (l < lanes ? l : lanes - 1);
    for (int32_t p = t->entry_start[entity]; p < t->entry_start[entity + 1]; p++)
      g[t->entry_jet[p] * LANES + l] += t->entry_value[p] * x[t->entry_coordinate[p]];
  }
}

static int64_t entities(const symancf_plan *plan, const symancf_term *t, int what, const double *x,
                        const double *v, double *f, double *energy, double *work)
{
  const int m = t->jets;
  double *g = work, *d = g + m * LANES, *P = d + m * LANES, *H = P + m * LANES;
  int64_t bad = 0;
  for (int first = 0; first < t->n; first += LANES) {
    const int lanes = t->n - first < LANES ? t->n - first : LANES;
    const double *cell = t->cell + (int64_t)(first / LANES) * t->cell_rows * LANES;
    const int matrix = what == TANGENT && t->has_tangent;
    jets(t, first, lanes, x, g);
    if (what == ENERGY) {
      bad += t->energy(lanes, t->uniform, cell, NULL, g, P);
      for (int l = 0; l < lanes; l++)
        if (t->owned[first + l]) *energy += P[l];
      continue;
    }
    if (what == PRODUCT) {
      jets(t, first, lanes, v, d);
      bad += t->product(lanes, t->uniform, cell, NULL, g, d, P);
    } else if (matrix) {
      bad += t->tangent(lanes, t->uniform, cell, NULL, g, P, H);
    } else {
      bad += t->residual(lanes, t->uniform, cell, NULL, g, P);
    }
    for (int l = 0; l < lanes; l++) {
      const int entity = first + l;
      const int32_t start = t->entry_start[entity], end = t->entry_start[entity + 1];
      for (int32_t p = start; p < end; p++)
        f[t->entry_coordinate[p]] += t->entry_value[p] * P[t->entry_jet[p] * LANES + l];
      if (!matrix) continue;
      const int corners = t->vertex_start[entity + 1] - t->vertex_start[entity];
      const int32_t *positions = t->positions + t->pair_start[entity];
      for (int32_t p = start; p < end; p++) {
        const int32_t row = plan->row[t->entry_coordinate[p]];
        if (row < 0) continue;
        const int jp = t->entry_jet[p];
        for (int32_t q = start; q < end; q++) {
          const int32_t column = plan->rank_in_vertex[t->entry_coordinate[q]];
          if (column < 0) continue;
          const int jq = t->entry_jet[q];
          const int h = !t->symmetric ? jp * m + jq
                        : jp <= jq    ? jq * (jq + 1) / 2 + jp
                                      : jp * (jp + 1) / 2 + jq;
          const double value = H[h * LANES + l];
          if (value == 0.0) continue;
          row_values(plan, row, positions[t->entry_vertex[p] * corners + t->entry_vertex[q]])[column] +=
              t->entry_value[p] * t->entry_value[q] * value;
        }
      }
    }
  }
  return bad;
}

/* Doubles of scratch that one term needs. */
static int64_t scratch(const symancf_term *t)
{
  if (t->tabulated) {
    const int64_t n = (int64_t)t->corners * (1 + t->slopes);
    return (4 * 3 * n + 9 * (t->symmetric ? n * (n + 1) / 2 : n * n)) * LANES;
  }
  return ((int64_t)t->jets * (3 + t->jets)) * LANES;
}

/*
 * Evaluate all active terms at the local vector x.
 *   what = 0: energies[term] += strain energy of owned entities
 *   what = 1: f += residual             (f: local vector)
 *   what = 2: f += residual, matrix += tangent
 *   what = 3: f += tangent . v          (v: local vector)
 * Returns the number of points that left the domain of their law, or -1 when memory is short.
 */
int64_t symancf_assemble(const symancf_plan *plan, int what, const double *x, const double *v,
                         double *f, double *energies)
{
  int64_t size = 0, bad = 0;
  for (int k = 0; k < plan->terms; k++) {
    const int64_t need = scratch(plan->term + k);
    if (need > size) size = need;
  }
  if (!size) return 0;
  double *work = aligned_alloc(64, (size_t)size * sizeof(double));
  if (!work) return -1;
  for (int k = 0; k < plan->terms; k++) {
    const symancf_term *t = plan->term + k;
    double energy = 0.0;
    if (!t->active || !t->n || (what == PRODUCT && !t->has_tangent)) continue;
    bad += t->tabulated ? cells(plan, t, what, x, v, f, &energy, work)
                        : entities(plan, t, what, x, v, f, &energy, work);
    if (what == ENERGY) energies[k] += energy;
  }
  free(work);
  return bad;
}

/* ---- pattern of the matrix -------------------------------------------------------------------- */
static int compare(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/*
 * Adjacency of owned vertices: start[owned + 1] and, unless columns is NULL, the adjacent local
 * vertices ordered by their global number.  Returns the number of pairs, or -1.
 */
int64_t symancf_adjacency(int32_t owned, int32_t local, int32_t n, const int32_t *entity_start,
                          const int32_t *entity_vertices, const int64_t *global, int64_t *start,
                          int32_t *columns)
{
  int32_t *count = calloc((size_t)owned + 1, sizeof *count), *marker = malloc(((size_t)local + 1) * sizeof *marker);
  if (!count || !marker) return -1;
  const int32_t total = n ? entity_start[n] : 0;
  for (int32_t p = 0; p < total; p++)
    if (entity_vertices[p] < owned) count[entity_vertices[p] + 1]++;
  for (int32_t v = 0; v < owned; v++) count[v + 1] += count[v];
  int32_t *touching = malloc(((size_t)count[owned] + 1) * sizeof *touching);
  int32_t *cursor = malloc(((size_t)owned + 1) * sizeof *cursor);
  if (!touching || !cursor) return -1;
  memcpy(cursor, count, ((size_t)owned + 1) * sizeof *cursor);
  for (int32_t e = 0; e < n; e++)
    for (int32_t p = entity_start[e]; p < entity_start[e + 1]; p++)
      if (entity_vertices[p] < owned) touching[cursor[entity_vertices[p]]++] = e;
  memset(marker, 0xff, ((size_t)local + 1) * sizeof *marker);
  int64_t pairs = 0, capacity = 64;
  int64_t *keys = malloc((size_t)capacity * 2 * sizeof *keys);
  if (!keys) return -1;
  start[0] = 0;
  for (int32_t v = 0; v < owned; v++) {
    int64_t found = 0;
    marker[v] = v; /* the diagonal always exists */
    keys[0] = global[v];
    keys[1] = v;
    found = 1;
    for (int32_t k = count[v]; k < count[v + 1]; k++) {
      const int32_t e = touching[k];
      for (int32_t p = entity_start[e]; p < entity_start[e + 1]; p++) {
        const int32_t w = entity_vertices[p];
        if (marker[w] == v) continue;
        marker[w] = v;
        if (found == capacity) {
          capacity *= 2;
          int64_t *more = realloc(keys, (size_t)capacity * 2 * sizeof *keys);
          if (!more) return -1;
          keys = more;
        }
        keys[2 * found] = global[w];
        keys[2 * found + 1] = w;
        found++;
      }
    }
    if (columns) {
      qsort(keys, (size_t)found, 2 * sizeof *keys, compare);
      for (int64_t k = 0; k < found; k++) columns[pairs + k] = (int32_t)keys[2 * k + 1];
    }
    pairs += found;
    start[v + 1] = pairs;
  }
  free(count);
  free(marker);
  free(touching);
  free(cursor);
  free(keys);
  return pairs;
}

/*
 * Column offsets: for each adjacent pair the place of the column vertex's first free coordinate
 * in any row of the row vertex, within the diagonal part (>= 0) or the off-diagonal part (~).
 */
void symancf_offsets(int32_t owned, const int64_t *start, const int32_t *columns, const int32_t *free_count,
                     int32_t *offsets)
{
  for (int32_t v = 0; v < owned; v++) {
    int32_t diagonal = 0, off = 0;
    for (int64_t k = start[v]; k < start[v + 1]; k++) {
      const int32_t w = columns[k];
      if (w < owned) {
        offsets[k] = diagonal;
        diagonal += free_count[w];
      } else {
        offsets[k] = ~off;
        off += free_count[w];
      }
    }
  }
}

/* Positions of all vertex pairs of all entities of a term (0 where the row is not owned). */
int symancf_positions(int32_t owned, const int64_t *start, const int32_t *columns, const int32_t *offsets,
                      const int64_t *global, int32_t n, const int32_t *vertex_start,
                      const int32_t *vertices, const int64_t *pair_start, int32_t *positions)
{
  for (int32_t e = 0; e < n; e++) {
    const int32_t *vertex = vertices + vertex_start[e];
    const int corners = vertex_start[e + 1] - vertex_start[e];
    for (int i = 0; i < corners; i++)
      for (int j = 0; j < corners; j++) {
        int32_t *position = positions + pair_start[e] + (int64_t)i * corners + j;
        *position = 0;
        if (vertex[i] >= owned) continue;
        int64_t low = start[vertex[i]], high = start[vertex[i] + 1] - 1;
        const int64_t wanted = global[vertex[j]];
        while (low < high) {
          const int64_t middle = (low + high) / 2;
          if (global[columns[middle]] < wanted) low = middle + 1;
          else high = middle;
        }
        if (columns[low] != vertex[j]) return 1;
        *position = offsets[low];
      }
  }
  return 0;
}

/* Expand vertex adjacency to the rows and global columns of free coordinates. */
void symancf_expand(int32_t owned, const int64_t *start, const int32_t *columns, const int32_t *free_count,
                    const int64_t *first_column, int32_t *row_start, int32_t *column)
{
  int32_t row = 0;
  int64_t place = 0;
  row_start[0] = 0;
  for (int32_t v = 0; v < owned; v++)
    for (int32_t a = 0; a < free_count[v]; a++) {
      for (int64_t k = start[v]; k < start[v + 1]; k++) {
        const int32_t w = columns[k];
        for (int32_t b = 0; b < free_count[w]; b++) column[place++] = (int32_t)(first_column[w] + b);
      }
      row_start[++row] = (int32_t)place;
    }
}
