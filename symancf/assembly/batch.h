/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points with their feet as entities: the entries of the jets d, a_1, a_2, t and the rate of d, and
 * what the law is told of the foot.
 */
#ifndef SYMANCF_BATCH_H
#define SYMANCF_BATCH_H

#include "entities.h"
#include "opposite.h"

/* Up to 8 points as entities of a term of their own. */
typedef struct {
  symancf_term term;
  int32_t point[LANES], piece[LANES], piece_end[LANES];
  int32_t place[LANES]; /* of the facets of their feet in the patches */
  int32_t entry_start[LANES + 1], column_start[LANES + 1], vertex_start[LANES + 1];
  int64_t pair_start[LANES + 1];
  uint8_t owned[LANES];
  symancf_foot foot[LANES];
  int32_t *jet, *coordinate, *vertex, *column, *of_column, *vertex_of_column, *vertices;
  double *value, *cell, *cell_rate, *table;
} symancf_batch;

static void enter(symancf_batch *b, int32_t *at, int32_t column, int32_t jet, int32_t vertex,
                  int32_t coordinate, double value)
{
  for (int a = 0; a < 3; a++, ++*at) {
    b->jet[*at] = jet + a;
    b->coordinate[*at] = coordinate < 0 ? coordinate - a : coordinate + a;
    b->vertex[*at] = vertex;
    b->column[*at] = column + a;
    b->value[*at] = value;
  }
}

static void columns_of(symancf_batch *b, int32_t *at, int32_t coordinate, int32_t vertex)
{
  for (int a = 0; a < 3; a++, ++*at) {
    b->of_column[*at] = coordinate + a;
    b->vertex_of_column[*at] = vertex;
  }
}

/* Parameter `row` of a point in [batches][rows][8]. */
static inline double of_point(const double *cell, int rows, int point, int row)
{
  return cell[((int64_t)(point / LANES) * rows + row) * LANES + point % LANES];
}

/* The anchor of a point at the beginning of the step: facet + 1, or 0. */
static inline int anchor_of(const symancf_term *t, int point, double *xi)
{
  const symancf_feet *c = t->feet;
  const int known = of_point(t->cell, t->cell_rows, point, c->memory) > 0.0;
  double a[3];
  for (int row = 0; row < 3; row++)
    a[row] = known ? of_point(t->cell, t->cell_rows, point, c->memory + row) : c->first[3 * point + row];
  xi[0] = a[1], xi[1] = a[2];
  return (int)a[0];
}

/* The place of a point's anchor in its patch, or -1: none, so no friction in this step. */
static inline int anchor_place(const symancf_term *t, int point, double *xi)
{
  const symancf_feet *c = t->feet;
  const int patch = c->patch[point], first = c->facet_start[patch];
  const int32_t number = anchor_of(t, point, xi) - 1;
  int q = c->facet_start[patch + 1] - first - 1;
  while (q >= 0 && (number < 0 || c->number[c->facet[first + q]] != number)) q--;
  return q;
}

/* Take a point with its foot as the next lane; `k`: the place of its facet in the patch. */
static void take(const symancf_term *t, symancf_batch *b, int point, int k, const symancf_foot *o)
{
  const symancf_feet *c = t->feet;
  const symancf_basis *s = &c->basis;
  const int lane = b->term.n++, patch = c->patch[point], width = 1 + s->slopes, nf = s->functions;
  const int first = c->facet_start[patch], f = c->facet[first + k], count = vertices_of(t, patch);
  int32_t at = b->entry_start[lane], column = b->column_start[lane], begin = column;
  double W[3 * MOST_MONOMIALS * 2];
  b->point[lane] = point, b->place[lane] = k;
  b->foot[lane] = *o;
  b->owned[lane] = t->owned[point];
  b->pair_start[lane] = t->pair_start ? t->pair_start[patch] : 0;
  b->vertex_start[lane + 1] = b->vertex_start[lane] + count;
  memcpy(b->vertices + b->vertex_start[lane], t->vertices + t->vertex_start[patch],
         (size_t)count * sizeof(int32_t));
  for (int i = 0; i < c->vectors; i++) {
    const int32_t offset = c->patch_offset[patch * c->vectors + i], vertex = c->vector_vertex[i];
    const int32_t own = column - begin;
    const double value = c->value[(int64_t)point * c->vectors + i];
    enter(b, &at, own, 0, vertex, offset, value);
    if (c->anchor >= 0) enter(b, &at, own, c->anchor, vertex, offset, value);
    if (c->rate >= 0) enter(b, &at, own, c->rate, vertex, ~offset, value);
    columns_of(b, &column, offset, vertex);
  }
  weights(c, f, o->xi, W);
  const int32_t on = column - begin;
  for (int i = 0; i < nf; i++) {
    const int32_t offset = c->offset[(int64_t)f * nf + i], own = column - begin;
    const int32_t vertex = c->corner[(int64_t)(first + k) * s->vertices + i / width];
    enter(b, &at, own, 0, vertex, offset, -W[i]);
    enter(b, &at, own, 3, vertex, offset, W[nf + i]);
    enter(b, &at, own, 6, vertex, offset, W[2 * nf + i]);
    if (c->rate >= 0) enter(b, &at, own, c->rate, vertex, ~offset, -W[i]);
    columns_of(b, &column, offset, vertex);
  }
  if (c->anchor >= 0) {
    double xi[2];
    const int q = anchor_place(t, point, xi);
    if (q >= 0) {
      const int h = c->facet[first + q];
      weights(c, h, xi, W);
      for (int i = 0; i < nf; i++) {
        const int32_t offset = c->offset[(int64_t)h * nf + i];
        const int32_t vertex = c->corner[(int64_t)(first + q) * s->vertices + i / width];
        enter(b, &at, h == f ? on + 3 * i : column - begin, c->anchor, vertex, offset, -W[i]);
        if (h != f) columns_of(b, &column, offset, vertex);
      }
    } else { /* t = 0 */
      int32_t kept = b->entry_start[lane];
      for (int32_t p = kept; p < at; p++) {
        if (b->jet[p] >= c->anchor && b->jet[p] < c->anchor + 3) continue;
        b->jet[kept] = b->jet[p];
        b->coordinate[kept] = b->coordinate[p];
        b->vertex[kept] = b->vertex[p];
        b->column[kept] = b->column[p];
        b->value[kept++] = b->value[p];
      }
      at = kept;
    }
  }
  b->entry_start[lane + 1] = at;
  b->column_start[lane + 1] = column;
  for (int row = 0; row < t->cell_rows; row++) {
    b->cell[row * LANES + lane] = of_point(t->cell, t->cell_rows, point, row);
    if (t->cell_rate) b->cell_rate[row * LANES + lane] = of_point(t->cell_rate, t->cell_rows, point, row);
  }
  double *to = b->cell + c->row * LANES + lane;
  for (int a = 0; a < 3; a++)
    for (int d = 0; d < 3; d++) to[(3 * a + d) * LANES] = o->inverse[a][d];
  for (int a = 0; a < 3; a++) {
    to[(9 + a) * LANES] = o->n[a];
    to[(12 + a) * LANES] = o->dn[0][a];
    to[(15 + a) * LANES] = o->dn[1][a];
  }
  to[18 * LANES] = o->g;
  double chi[3];
  inner(s, c->free[f], o->xi, chi);
  const double own = c->own[point] + LEAST, all = own + chi[0] + LEAST;
  to[19 * LANES] = 2.0 * (chi[0] + LEAST) / all;
  for (int d = 0; d < 2; d++) to[(20 + d) * LANES] = 2.0 * own / (all * all) * chi[1 + d];
}
#endif
