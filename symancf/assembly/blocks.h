/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matrix of points with feet: K += B^T H B, B being that of batch.h. A jet is a sum of vectors
 * (of nodes) times numbers, so that B^T H B is one of blocks of 3 x 3; they are made for 8 points
 * at a time.
 */
#ifndef SYMANCF_BLOCKS_H
#define SYMANCF_BLOCKS_H

#include "batch.h"
#include "entities.h"

#define MOST_VECTORS (3 * 2 * MOST_MONOMIALS) /* of a point: on its own facet, at foot and anchor */

/* What the jets d, a_1, a_2 and t have of a vector in 8 points, and the rate of d of each component. */
typedef struct {
  v8 d, a[2], t, rate[3];
} symancf_part;

/* Where a vector of one point stands: in the local vector, in its patch, in the matrix. */
typedef struct {
  int32_t offset, vertex;
  int32_t row, column; /* of its first component, where all three are free; else -1 */
  int32_t own;         /* whether it has rows here */
} symancf_spot;

static symancf_spot spot_of(const symancf_plan *plan, const symancf_term *t, int patch, int32_t offset,
                            int32_t vertex)
{
  const int32_t local = t->vertices[t->vertex_start[patch] + vertex];
  const int plain = plan->vertex_plain[local];
  return (symancf_spot){offset, vertex, plain ? plan->row[offset] : -1,
                        plain ? plan->rank_in_vertex[offset] : -1, plan->vertex_row[local] >= 0};
}

/* Add the rows of one vector of a point, values [3][wide], to the columns of n vectors. */
static inline void add_rows(const symancf_plan *plan, const symancf_spot *at, const symancf_spot *spots,
                            int n, int wide, const int32_t *position, const double *values)
{
  if (!at->own) return;
  for (int a = 0; a < 3; a++, values += wide) {
    const int32_t row = at->row >= 0 ? at->row + a : plan->row[at->offset + a];
    if (row < 0) continue;
    double *diagonal = plan->diagonal + plan->diagonal_start[row], *off = plan->off + plan->off_start[row];
    for (int k = 0; k < n; k++) {
      const int32_t p = position[spots[k].vertex];
      double *to = p >= 0 ? diagonal + p : off + ~p;
      if (spots[k].column >= 0) {
        add(to + spots[k].column, values + 3 * k, 3);
        continue;
      }
      for (int b = 0; b < 3; b++) {
        const int32_t column = plan->rank_in_vertex[spots[k].offset + b];
        if (column >= 0) to[column] += values[3 * k + b];
      }
    }
  }
}

/* The vertex, among those of a patch, of function i of the facet at `place` in the lists of patches. */
static inline int32_t vertex_of(const symancf_feet *c, int place, int i)
{
  const symancf_basis *s = basis_of(&c->types, c->facet[place]);
  return c->corner[(int64_t)place * c->types.vertices + (i < s->functions ? i / (1 + s->slopes) : 0)];
}

/* The vectors of the points of a batch; returns how many there are, anchors of their own included. */
static int parts_of(const symancf_plan *plan, const symancf_term *t, const symancf_batch *b,
                    symancf_part *part, symancf_spot (*spots)[MOST_VECTORS], int *count)
{
  const symancf_feet *c = t->feet;
  const int nf = c->types.functions, foot = c->vectors, old = foot + nf;
  int n = old;
  memset(part, 0, (size_t)(old + nf) * sizeof *part);
  for (int l = 0; l < b->n; l++) {
    const int patch = c->patch[b->point[l]], first = c->facet_start[patch];
    const int apart = b->anchor[l] >= 0 && b->anchor[l] != b->facet[l];
    const double *N = b->N[l], *own = c->value + (int64_t)b->point[l] * c->vectors;
    count[l] = old + (apart ? nf : 0);
    if (apart) n = old + nf;
    for (int i = 0; i < c->vectors; i++) {
      const int32_t offset = c->patch_offset[(int64_t)patch * c->vectors + i];
      spots[l][i] = spot_of(plan, t, patch, offset, c->vector_vertex[patch * c->vectors + i]);
      part[i].d[l] = own[i];
      part[i].t[l] = b->anchor[l] >= 0 ? own[i] : 0.0;
    }
    for (int i = 0; i < nf; i++) {
      const int32_t offset = c->offset[(int64_t)b->facet[l] * nf + i];
      const int32_t vertex = vertex_of(c, first + b->place[l], i);
      spots[l][foot + i] = spot_of(plan, t, patch, offset, vertex);
      part[foot + i].d[l] = -N[i];
      for (int k = 0; k < 2; k++) part[foot + i].a[k][l] = N[(1 + k) * nf + i];
    }
    for (int i = 0; i < nf && b->anchor[l] >= 0; i++) {
      part[(apart ? old : foot) + i].t[l] = -N[3 * nf + i];
      if (!apart) continue;
      const int32_t offset = c->offset[(int64_t)b->anchor[l] * nf + i];
      const int32_t vertex = vertex_of(c, first + b->anchor_place[l], i);
      spots[l][old + i] = spot_of(plan, t, patch, offset, vertex);
    }
    if (plan->rate_factor && c->rate >= 0)
      for (int i = 0; i < old; i++)
        for (int a = 0; a < 3; a++)
          part[i].rate[a][l] = part[i].d[l] * plan->rate_factor[spots[l][i].offset + a];
  }
  return n;
}

/* Whether two points of a batch have their vectors in common. */
static inline int on_the_same(const symancf_feet *c, const symancf_batch *b, int k, int l)
{
  return k == l || (c->patch[b->point[k]] == c->patch[b->point[l]] && b->facet[k] == b->facet[l] &&
                    b->anchor[k] == b->anchor[l]);
}

#define TOGETHER 16 /* vectors of normals whose columns are added together */

/*
 * Add the rows of one vector of the points that `l` leads to the columns of what turns the normals of
 * their facet: with Z = B^T H (I - n n^T)/|m| of each point, sum_c (sum Z N_c) M_c.
 */
static void add_turns(const symancf_plan *plan, const symancf_term *t, const symancf_batch *b,
                      const int *leader, int l, const symancf_part *p, const v8 *h, const symancf_spot *at,
                      const int32_t *position, symancf_normals *normals)
{
  const symancf_feet *c = t->feet;
  const int f = b->facet[l], patch = c->patch[b->point[l]];
  double Y[4][9] = {{0}}, N[4], values[9 * TOGETHER];
  symancf_spot spots[TOGETHER];
  int corners = 0, some = 0;
  if (!at->own) return;
  for (int q = l; q < b->n; q++) {
    if (leader[q] != l) continue;
    const symancf_foot *o = b->foot + q;
    corners = corners_at(c, f, o->xi, N);
    for (int a = 0; a < 3; a++) {
      double Z[3];
      for (int k = 0; k < 3; k++) {
        Z[k] = p->d[q] * h[packed(t, a, c->turn + k)][q] + p->a[0][q] * h[packed(t, 3 + a, c->turn + k)][q] +
               p->a[1][q] * h[packed(t, 6 + a, c->turn + k)][q];
        some |= Z[k] != 0.0;
      }
      const double along = dot3(Z, o->n);
      for (int k = 0; k < 3; k++) Z[k] = (Z[k] - along * o->n[k]) / o->length;
      for (int v = 0; v < corners; v++)
        for (int k = 0; k < 3; k++) Y[v][3 * a + k] += N[v] * Z[k];
    }
  }
  if (!some) return;
  if (normals->patch != patch) {
    normals->patch = patch;
    for (int k = 0; k < vertices_of(t, patch); k++) normals->at[t->vertices[t->vertex_start[patch] + k]] = k;
  }
  for (int v = 0; v < corners; v++) {
    const int32_t number = c->normal[4 * f + v], end = c->vector_start[number + 1];
    for (int32_t first = c->vector_start[number]; first < end; first += TOGETHER) {
      const int n = end - first < TOGETHER ? end - first : TOGETHER;
      for (int k = 0; k < n; k++) {
        const double *M = normals->M + 9 * (int64_t)(first + k);
        spots[k] = spot_of(plan, t, patch, c->turn_offset[first + k],
                           normals->at[c->turn_vertex[first + k]]);
        for (int a = 0; a < 3; a++)
          for (int e = 0; e < 3; e++)
            values[a * 3 * TOGETHER + 3 * k + e] =
                Y[v][3 * a] * M[e] + Y[v][3 * a + 1] * M[3 + e] + Y[v][3 * a + 2] * M[6 + e];
      }
      add_rows(plan, at, spots, n, 3 * TOGETHER, position, values);
    }
  }
}

/*
 * Add the matrices of the points of a batch that are not at rest: H [m][m] rows, forces P [m] rows;
 * `work` [15 x 3 vectors] rows.
 */
static void add_blocks(const symancf_plan *plan, const symancf_term *t, const symancf_batch *b,
                       const double *P, const double *H, double *work, symancf_normals *normals,
                       int32_t *cleared)
{
  const symancf_feet *c = t->feet;
  const v8 *h = (const v8 *)H;
  symancf_part part[MOST_VECTORS];
  symancf_spot spots[LANES][MOST_VECTORS];
  int count[LANES], acts[LANES], leader[LANES]; /* the first of those on the same facets */
  int16_t straight[9 * MOST_VECTORS];
  const int n = parts_of(plan, t, b, part, spots, count), wide = 3 * n;
  v8 *T = (v8 *)work, *K = T + 9 * wide;
  double *values = (double *)(K + 3 * wide);
  for (int k = 0; k < 3 * wide; k++) straight[k] = (int16_t)k;
  for (int l = 0; l < b->n; l++) {
    acts[l] = !t->compact;
    for (int j = 0; j < 9; j++) acts[l] |= P[j * LANES + l] != 0.0;
    leader[l] = 0;
    while (!on_the_same(c, b, leader[l], l)) leader[l]++;
    if (leader[l] != l) acts[leader[l]] |= acts[l];
    clear_for(plan, t, c->patch[b->point[l]], 1, cleared);
  }
  for (int j = 0; j < 9; j++)
    for (int k = 0; k < n; k++)
      for (int a = 0; a < 3; a++) {
        const symancf_part *p = part + k;
        const v8 rubs = c->anchor < 0 ? (v8){0} : h[packed(t, j, c->anchor + a)];
        const v8 damps = c->rate < 0 ? (v8){0} : h[packed(t, j, c->rate + a)];
        T[j * wide + 3 * k + a] = p->d * h[packed(t, j, a)] + p->a[0] * h[packed(t, j, 3 + a)] +
                                  p->a[1] * h[packed(t, j, 6 + a)] + p->t * rubs + p->rate[a] * damps;
      }
  for (int i = 0; i < c->vectors + c->types.functions; i++) { /* none along t */
    const symancf_part *p = part + i;
    for (int a = 0; a < 3; a++)
      for (int k = 0; k < wide; k++)
        K[a * wide + k] = p->d * T[a * wide + k] + p->a[0] * T[(3 + a) * wide + k] +
                          p->a[1] * T[(6 + a) * wide + k];
    split(K, straight, 3 * wide, values);
    for (int l = b->n - 1; l >= 0; l--) {
      if (leader[l] == l) continue;
      add(values + (int64_t)leader[l] * 3 * wide, values + (int64_t)l * 3 * wide, 3 * wide);
    }
    for (int l = 0; l < b->n; l++) {
      if (leader[l] != l || !acts[l]) continue;
      const int patch = c->patch[b->point[l]];
      const int32_t *position = t->positions + t->pair_start[patch] +
                                (int64_t)spots[l][i].vertex * vertices_of(t, patch);
      add_rows(plan, spots[l] + i, spots[l], count[l], wide, position, values + (int64_t)l * 3 * wide);
      add_turns(plan, t, b, leader, l, p, h, spots[l] + i, position, normals);
    }
  }
}

#endif
