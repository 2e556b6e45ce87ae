/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matrix of points on facets: K += B^T H B, B being that of batch.h. A jet is a sum of vectors
 * (of nodes) times numbers, so that B^T H B is one of blocks of 3 x 3; they are made for 8 points
 * at a time.
 */
#ifndef SYMANCF_BLOCKS_H
#define SYMANCF_BLOCKS_H

#include "batch.h"
#include "entities.h"

#define MOST_VECTORS (3 * 2 * MOST_MONOMIALS) /* of a point: on its own facet, at closest point and anchor */

/* What the jets d, a_1, a_2 and t have of a vector in 8 points, and the rate of d of each component. */
typedef struct {
  v8 d, a[2], t, rate[3];
} symancf_part;

/* Where a vector of one point stands: in the local vector, in its contact element, in the matrix. */
typedef struct {
  int32_t offset, vertex;
  int32_t row, column; /* of its first component, where all three are free; else -1 */
  int32_t own;         /* whether it has rows here */
} symancf_spot;

static symancf_spot spot_of(const symancf_assembler *assembler, const symancf_term *t, int element,
                            int32_t offset, int32_t vertex)
{
  const int32_t local = t->vertices[t->vertex_start[element] + vertex];
  const int plain = assembler->vertex_plain[local];
  return (symancf_spot){offset, vertex, plain ? assembler->row[offset] : -1,
                        plain ? assembler->rank_in_vertex[offset] : -1, assembler->vertex_row[local] >= 0};
}

/*
 * The places `to` [n][3] in the matrix of the rows of one vector and the columns of n vectors, NULL where
 * there is no row; they are on their way to the cache then.
 */
static inline void places_of(const symancf_assembler *assembler, const symancf_spot *at,
                             const symancf_spot *spots, int n, const int32_t *position, double **to)
{
  double *diagonal[3], *off[3];
  for (int a = 0; a < 3; a++) {
    const int32_t row = at->row >= 0 ? at->row + a : assembler->row[at->offset + a];
    diagonal[a] = row < 0 ? NULL : assembler->diagonal + assembler->diagonal_start[row];
    off[a] = row < 0 ? NULL : assembler->off + assembler->off_start[row];
  }
  for (int k = 0; k < n; k++) {
    const int32_t p = position[spots[k].vertex], column = spots[k].column >= 0 ? spots[k].column : 0;
    for (int a = 0; a < 3; a++) {
      to[3 * k + a] = !diagonal[a] ? NULL : p >= 0 ? diagonal[a] + p + column : off[a] + ~p + column;
      __builtin_prefetch(to[3 * k + a], 1);
    }
  }
}

/* Add rows, values [3][wide], there. */
static inline void add_rows(const symancf_assembler *assembler, const symancf_spot *spots, int n, int wide,
                            double *const *to, const double *values)
{
  for (int k = 0; k < n; k++)
    for (int a = 0; a < 3; a++) {
      const double *from = values + a * wide + 3 * k;
      if (!to[3 * k + a]) continue;
      if (spots[k].column >= 0) {
        add(to[3 * k + a], from, 3);
        continue;
      }
      for (int b = 0; b < 3; b++) {
        const int32_t column = assembler->rank_in_vertex[spots[k].offset + b];
        if (column >= 0) to[3 * k + a][column] += from[b];
      }
    }
}

/* The vertex, among those of a contact element, of function i of the facet at `place` in the lists of contact elements. */
static inline int32_t vertex_of(const symancf_closest_points *c, int place, int i)
{
  const symancf_basis *s = basis_of(&c->types, c->facet[place]);
  return c->corner[(int64_t)place * c->types.vertices + (i < s->functions ? i / (1 + s->slopes) : 0)];
}

/* Whether the anchor of a point is on another facet than its closest point. */
static inline int apart(const symancf_batch *b, int l)
{
  return b->anchor[l] >= 0 && b->anchor[l] != b->facet[l];
}

/* The vectors of the points of a batch; returns how many there are, anchors of their own included. */
static int parts_of(const symancf_assembler *assembler, const symancf_term *t, const symancf_batch *b,
                    symancf_part *part)
{
  const symancf_closest_points *c = t->closest_points;
  const int nf = c->types.functions, closest = c->vectors, old = closest + nf;
  int n = old;
  memset(part, 0, (size_t)(old + nf) * sizeof *part);
  for (int l = 0; l < b->n; l++) {
    const double *N = b->N[l], *own = c->value + (int64_t)b->point[l] * c->vectors;
    if (apart(b, l)) n = old + nf;
    for (int i = 0; i < c->vectors; i++) {
      part[i].d[l] = own[i];
      part[i].t[l] = b->anchor[l] >= 0 ? own[i] : 0.0;
    }
    for (int i = 0; i < nf; i++) {
      part[closest + i].d[l] = -N[i];
      for (int k = 0; k < 2; k++) part[closest + i].a[k][l] = N[(1 + k) * nf + i];
      if (b->anchor[l] >= 0) part[(apart(b, l) ? old : closest) + i].t[l] = -N[3 * nf + i];
    }
    if (!assembler->rate_factor || c->rate < 0) continue;
    const int32_t *own_offset = c->element_offset + (int64_t)c->element[b->point[l]] * c->vectors;
    const int32_t *offset = c->offset + (int64_t)b->facet[l] * nf;
    for (int i = 0; i < old; i++)
      for (int a = 0; a < 3; a++)
        part[i].rate[a][l] = part[i].d[l] * assembler->rate_factor[(i < closest ? own_offset[i] : offset[i - closest]) + a];
  }
  return n;
}

/* Where the vectors of one point stand; returns how many there are. */
static int spots_of(const symancf_assembler *assembler, const symancf_term *t, const symancf_batch *b, int l,
                    symancf_spot *spots)
{
  const symancf_closest_points *c = t->closest_points;
  const int nf = c->types.functions, element = c->element[b->point[l]], first = c->facet_start[element];
  int n = 0;
  for (int i = 0; i < c->vectors; i++) {
    const int64_t k = (int64_t)element * c->vectors + i;
    spots[n++] = spot_of(assembler, t, element, c->element_offset[k], c->vector_vertex[k]);
  }
  for (int anchors = 0; anchors <= apart(b, l); anchors++) {
    const int32_t *offset = c->offset + (int64_t)(anchors ? b->anchor[l] : b->facet[l]) * nf;
    const int place = first + (anchors ? b->anchor_place[l] : b->place[l]);
    for (int i = 0; i < nf; i++)
      spots[n++] = spot_of(assembler, t, element, offset[i], vertex_of(c, place, i));
  }
  return n;
}

/* Whether two points of a batch have their vectors in common. */
static inline int on_the_same(const symancf_closest_points *c, const symancf_batch *b, int k, int l)
{
  return k == l || (c->element[b->point[k]] == c->element[b->point[l]] && b->facet[k] == b->facet[l] &&
                    b->anchor[k] == b->anchor[l]);
}

/* Room for the matrices of a batch, made once for all of a term. */
typedef struct {
  int32_t beside; /* the most vectors beside those of a facet on which its normals depend */
  int32_t wide;   /* columns of A: of those, then of the vectors of a point */
  int32_t turned; /* columns of E and G: of those, then of the vectors of the facet */
  v8 *T;                 /* [9][3 vectors of a point] H B */
  double *A;             /* [LANES][9][wide] that of each point, and of what turns the normal */
  double *E, *G, *rows;  /* [4][3][turned] M of a facet's corners; [3][turned] of a point; [3][wide] */
  symancf_spot *spots;   /* [beside + vectors of a point] */
  int32_t *column;       /* [coordinates] of E, in vectors, or -1 */
  int16_t *straight;
  double **to[2]; /* [beside + vectors of a point][3] places of the rows of a vector, and of the next */
} symancf_room;

static int make_room(const symancf_assembler *assembler, const symancf_term *t, symancf_room *to)
{
  const symancf_closest_points *c = t->closest_points;
  const int all = c->vectors + 2 * c->types.functions;
  memset(to, 0, sizeof *to);
  for (int32_t f = 0; f < c->facets; f++) {
    int32_t some = 0;
    for (int v = 0; v < 4; v++) {
      const int32_t number = c->normal[4 * (int64_t)f + v];
      if (number >= 0) some += c->vector_start[number + 1] - c->vector_start[number];
    }
    if (some > to->beside) to->beside = some;
  }
  to->beside = (to->beside + 7) / 8 * 8; /* columns are taken 8 at a time */
  to->wide = (3 * (to->beside + all) + 7) / 8 * 8;
  to->turned = (3 * (to->beside + c->types.functions) + 7) / 8 * 8;
  const int64_t reals = 9 * LANES * (3 * (int64_t)all + to->wide) + 15 * (int64_t)to->turned + 3 * (int64_t)to->wide;
  to->T = aligned_alloc(64, ((size_t)reals * sizeof(double) + 63) / 64 * 64);
  to->spots = malloc((size_t)(to->beside + all) * sizeof *to->spots);
  to->column = malloc(((size_t)assembler->coordinates + 1) * sizeof *to->column);
  to->straight = malloc((size_t)(3 * all) * sizeof *to->straight);
  to->to[0] = malloc((size_t)(6 * (to->beside + all)) * sizeof *to->to[0]);
  if (!to->T || !to->spots || !to->column || !to->straight || !to->to[0]) return 0;
  to->to[1] = to->to[0] + 3 * (to->beside + all);
  memset(to->T, 0, (size_t)reals * sizeof(double));
  memset(to->column, 0xff, (size_t)assembler->coordinates * sizeof *to->column);
  for (int k = 0; k < 3 * all; k++) to->straight[k] = (int16_t)k;
  to->A = (double *)(to->T + 9 * 3 * all);
  to->E = to->A + 9 * LANES * (int64_t)to->wide;
  to->G = to->E + 12 * (int64_t)to->turned;
  to->rows = to->G + 3 * (int64_t)to->turned;
  return 1;
}

static void forget_room(symancf_room *r)
{
  free(r->T), free(r->spots), free(r->column), free(r->straight), free(r->to[0]);
}

/* E of the facet of point l and, before `spots`, where the vectors stand; returns how many there are. */
static int beside_of(const symancf_assembler *assembler, const symancf_term *t, const symancf_batch *b, int l,
                     symancf_normals *normals, const symancf_room *room, symancf_spot *spots)
{
  const symancf_closest_points *c = t->closest_points;
  const int f = b->facet[l], element = c->element[b->point[l]], nf = c->types.functions;
  const symancf_basis *s = basis_of(&c->types, f);
  const int32_t *offset = c->offset + (int64_t)f * nf, *number = c->normal + 4 * (int64_t)f;
  int n = 0;
  if (normals->element != element) {
    normals->element = element;
    for (int k = 0; k < vertices_of(t, element); k++)
      normals->at[t->vertices[t->vertex_start[element] + k]] = k;
  }
  for (int i = 0; i < s->functions; i++) room->column[offset[i]] = room->beside + i;
  for (int v = 0; v < s->corners; v++)
    for (int32_t k = c->vector_start[number[v]]; k < c->vector_start[number[v] + 1]; k++) {
      const int32_t at = c->turn_offset[k];
      if (room->column[at] >= 0) continue;
      n++;
      room->column[at] = room->beside - n;
      spots[-n] = spot_of(assembler, t, element, at, normals->at[c->turn_vertex[k]]);
    }
  const int first = (3 * (room->beside - n)) / 8 * 8;
  for (int k = 0; k < 3 * s->corners; k++)
    memset(room->E + k * room->turned + first, 0, (size_t)(room->turned - first) * sizeof(double));
  for (int v = 0; v < s->corners; v++)
    for (int32_t k = c->vector_start[number[v]]; k < c->vector_start[number[v] + 1]; k++) {
      double *to = room->E + 3 * v * room->turned + 3 * room->column[c->turn_offset[k]];
      for (int a = 0; a < 3; a++) memcpy(to + a * room->turned, normals->M + 9 * (int64_t)k + 3 * a, 3 * sizeof(double));
    }
  for (int k = 1; k <= n; k++) room->column[spots[-k].offset] = -1;
  for (int i = 0; i < s->functions; i++) room->column[offset[i]] = -1;
  return n;
}

/* Add to A of a point what turns its normal, Z G with Z = H (I - n n^T)/|m| and G = sum N_c E_c, of n vectors. */
static void turn_columns(const symancf_term *t, const symancf_batch *b, int l, const v8 *h, int n,
                         const symancf_room *room)
{
  const symancf_closest_points *c = t->closest_points;
  const symancf_closest_point *o = b->closest + l;
  const int first = (3 * (room->beside - n)) / 8 * 8, turned = room->turned, split = 3 * room->beside;
  double N[4], *A = room->A + 9 * (int64_t)room->wide * l;
  const int corners = corners_at(c, b->facet[l], o->xi, N);
  for (int a = 0; a < 3; a++)
    for (int k = first; k < turned; k += SYMANCF_WIDTH) {
      vec sum = {0};
      for (int v = 0; v < corners; v++) sum += N[v] * *(const vec *)(room->E + (3 * v + a) * turned + k);
      *(vec *)(room->G + a * turned + k) = sum;
    }
  for (int j = 0; j < 9; j++, A += room->wide) {
    double Z[3], *closest = A + 3 * c->vectors;
    for (int k = 0; k < 3; k++) Z[k] = h[packed(t, j, c->turn + k)][l];
    const double along = dot3(Z, o->n);
    for (int k = 0; k < 3; k++) Z[k] = (Z[k] - along * o->n[k]) / o->length;
    for (int k = first; k < turned; k += SYMANCF_WIDTH) {
      const double *G = room->G + k;
      const vec sum = Z[0] * *(const vec *)G + Z[1] * *(const vec *)(G + turned) + Z[2] * *(const vec *)(G + 2 * turned);
      if (k < split) *(vec *)(A + k) = sum;
      else *(vec_anywhere *)(closest + k) += sum;
    }
  }
}

/* rows = sum B^T A, of vector i of the points that `l` leads, from column `first` to `end`. */
static void rows_of(const symancf_batch *b, const int *leader, int l, const symancf_part *p, int closest,
                    const symancf_room *room, int first, int end)
{
  const int wide = room->wide;
  const double *A[LANES];
  double w[LANES][3];
  int n = 0;
  for (int q = l; q < b->n; q++) {
    if (leader[q] != l) continue;
    A[n] = room->A + 9 * (int64_t)wide * q;
    w[n][0] = p->d[q], w[n][1] = p->a[0][q], w[n++][2] = p->a[1][q];
  }
  for (int k = first; k < end; k += SYMANCF_WIDTH) {
    vec sum[3] = {{0}};
    for (int q = 0; q < n; q++)
      for (int m = 0; m < (closest ? 3 : 1); m++)
        for (int a = 0; a < 3; a++) sum[a] += w[q][m] * *(const vec *)(A[q] + (3 * m + a) * wide + k);
    for (int a = 0; a < 3; a++) *(vec *)(room->rows + a * wide + k) = sum[a];
  }
}

/* H B of the n vectors of 8 points: room->T, then room->A of each. */
static void columns_of(const symancf_assembler *assembler, const symancf_term *t,
                       const symancf_part *part, int n, const v8 *h, const symancf_room *room)
{
  const symancf_closest_points *c = t->closest_points;
  const int wide = 3 * n, rates = assembler->rate_factor && c->rate >= 0;
  v8 *T = room->T;
  for (int j = 0; j < 9; j++)
    for (int a = 0; a < 3; a++) {
      const v8 d = h[packed(t, j, a)], first = h[packed(t, j, 3 + a)], second = h[packed(t, j, 6 + a)];
      const v8 rubs = c->anchor < 0 ? (v8){0} : h[packed(t, j, c->anchor + a)];
      const v8 damps = rates ? h[packed(t, j, c->rate + a)] : (v8){0};
      v8 *to = T + j * wide + a;
      for (int k = 0; k < n; k++) {
        const symancf_part *p = part + k;
        to[3 * k] = p->d * d + p->t * rubs;
        if (k >= c->vectors) to[3 * k] += p->a[0] * first + p->a[1] * second;
        if (rates) to[3 * k] += p->rate[a] * damps;
      }
    }
  for (int j = 0; j < 9; j++)
    split(T + j * wide, room->straight, wide, 9 * room->wide, room->A + j * room->wide + 3 * room->beside);
}

/*
 * Add the matrices of the points of a batch that are not at rest: H [m][m] rows, forces P [m] rows.
 */
static void add_blocks(const symancf_assembler *assembler, const symancf_term *t, const symancf_batch *b,
                       const double *P, const double *H, symancf_normals *normals, const symancf_room *room,
                       int32_t *cleared)
{
  const symancf_closest_points *c = t->closest_points;
  const v8 *h = (const v8 *)H;
  symancf_part part[MOST_VECTORS];
  symancf_spot *spots = room->spots + room->beside;
  int acts[LANES], leader[LANES]; /* the first of those on the same facets */
  for (int l = 0; l < b->n; l++) {
    acts[l] = !t->compact;
    for (int j = 0; j < 9; j++) acts[l] |= P[j * LANES + l] != 0.0;
    leader[l] = 0;
    while (!on_the_same(c, b, leader[l], l)) leader[l]++;
    if (leader[l] != l) acts[leader[l]] |= acts[l];
    clear_for(assembler, t, c->element[b->point[l]], 1, cleared);
  }
  columns_of(assembler, t, part, parts_of(assembler, t, b, part), h, room);
  for (int l = 0; l < b->n; l++) {
    if (leader[l] != l || !acts[l]) continue;
    const int element = c->element[b->point[l]], n = spots_of(assembler, t, b, l, spots);
    const int turns = *c->holds ? 0 : beside_of(assembler, t, b, l, normals, room, spots);
    const int first = 3 * (room->beside - turns), end = 3 * (room->beside + n);
    for (int q = l; q < b->n && !*c->holds; q++)
      if (leader[q] == l) turn_columns(t, b, q, h, turns, room);
    const int rows = c->vectors + c->types.functions; /* there are none along t */
    for (int i = 0; i <= rows; i++) {
      if (i < rows && spots[i].own) {
        const int64_t pair = t->pair_start[element] + (int64_t)spots[i].vertex * vertices_of(t, element);
        places_of(assembler, spots + i, spots - turns, turns + n, t->positions + pair, room->to[i % 2]);
      }
      if (!i || !spots[i - 1].own) continue; /* while the places of the next vector come to the cache */
      rows_of(b, leader, l, part + i - 1, i > c->vectors, room, first / 8 * 8, end);
      add_rows(assembler, spots - turns, turns + n, room->wide, room->to[(i - 1) % 2], room->rows + first);
    }
  }
}

#endif
