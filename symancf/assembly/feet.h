/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A term on points and the facets opposite: before each evaluation the foot of each point is found
 * among the candidates of its patch; those within reach of the law become entities (entities.h).
 *
 * With xi, eta, g the foot of r_s = r_m + g n the jets are d = r_s - r_m, the tangents a_1 and a_2,
 * and where the law asks for them t = r_s - r_a, r_a the anchor that the point remembers, and the
 * rate of d; all combinations of positions, their coefficients numbers. What the foot depends on
 * them by stands in rows of the point's parameters: S^-1 (9), n, n_1, n_2 (9), g; see foot.h. Then
 * come the share with which the point counts, 2 chi_m/(chi_s + chi_m), and its derivatives by xi and
 * eta: a point that slides off a side fades, and its neighbours on the other side count for it.
 *
 * A point with friction remembers its anchor, (facet + 1, xi, eta) by the global number of the
 * facet, 0: none; how it slipped in the last step; and its status, -1 open, 0 stick, 1 slip. Its
 * kernel tells in place of the anchor the shift from r_m to where it shall be.
 */
#ifndef SYMANCF_FEET_H
#define SYMANCF_FEET_H

#include "entities.h"
#include "foot.h"

#include <stdlib.h>

#define ANCHOR_ROWS 5 /* of the memory: facet + 1, xi, eta, slip, status */

typedef struct symancf_feet {
  symancf_basis basis; /* of the targets */
  /* facets that are candidates on this rank */
  int32_t facets;
  const int32_t *offset;  /* [facets][functions] of their vectors in the local vector */
  const double *maps;     /* [facets][corners][slopes][slopes] */
  const double *normals;  /* [facets][4][3] */
  const int32_t *number;  /* [facets] global */
  const double *size;     /* [facets] a length of the facet's cell */
  const int32_t *free;    /* [facets] their free edges, a bit for each */
  /* patches: a facet that has points, and what is opposite */
  int32_t vectors, patches; /* coefficient vectors of such a facet */
  const int32_t *patch_offset;  /* [patches][vectors] */
  const int32_t *vector_vertex; /* [vectors] vertex among those of the patch */
  const int32_t *facet_start;   /* [patches + 1]; the candidates ascend by number */
  const int32_t *candidates;    /* [patches] how many; what follows holds anchors only */
  const int32_t *facet;
  const int32_t *corner; /* [][corners] vertices of these facets among those of the patch */
  /* points */
  const int32_t *patch; /* [n], ascending */
  const double *value;  /* [n][vectors] */
  const double *own;    /* [n] chi of the points on their own side */
  const double *first;  /* [n][3] anchors of points that remember none, as they remember them */
  double reach;         /* the law vanishes where the gap is larger */
  int32_t row;          /* first of the rows of parameters that are written here */
  int32_t memory;       /* first row of what points remember, those of the anchor come first */
  int32_t gap;          /* row of the gap among them, or -1 */
  int32_t damping, span; /* places of theta and h in uniform: the law is taken at g + theta h g' */
  int32_t anchor, rate; /* first of the jets t and of the rates of d, or -1 */
} symancf_feet;

/* What is known of a facet before any point is looked at. */
typedef struct {
  double centre[3], n[3], radius, top, lean; /* lean: tangent of the normals' largest angle to n */
} symancf_bound;

static void coefficients_of(const symancf_feet *c, int f, const double *x, double *P)
{
  const symancf_basis *s = &c->basis;
  double e[3 * MOST_MONOMIALS * 2];
  const int width = 1 + s->slopes;
  for (int i = 0; i < s->functions; i++) {
    const int v = i / width, k = i % width - 1;
    double *to = e + 3 * i;
    if (k < 0) {
      memcpy(to, x + c->offset[f * s->functions + i], 3 * sizeof(double));
      continue;
    }
    const double *map = c->maps + (((int64_t)f * s->corners + v) * s->slopes + k) * s->slopes;
    to[0] = to[1] = to[2] = 0.0;
    for (int m = 0; m < s->slopes; m++)
      for (int a = 0; a < 3; a++)
        to[a] += map[m] * x[c->offset[f * s->functions + v * width + 1 + m] + a];
  }
  for (int k = 0; k < s->monomials; k++)
    for (int a = 0; a < 3; a++) {
      double sum = 0.0;
      for (int i = 0; i < s->functions; i++) sum += s->coefficients[k * s->functions + i] * e[3 * i + a];
      P[3 * k + a] = sum;
    }
}

static void bound(const symancf_basis *s, const double *P, const double *Q, symancf_bound *b)
{
  static const double quad[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, tri[3][2] = {{0, 0}, {1, 0}, {0, 1}};
  const double(*at)[2] = s->corners == 3 ? tri : quad;
  symancf_foot o;
  double bulge = 0.0; /* of what is beyond the surface through the corners: |x^2 - x| <= 1/4 ... */
  o.g = 0.0;
  o.xi[0] = o.xi[1] = s->corners == 3 ? 1.0 / 3.0 : 0.5;
  b->radius = b->top = b->lean = 0.0;
  if (!at_foot(s, P, Q, &o)) {
    b->radius = b->lean = HUGE_VAL;
    return;
  }
  memcpy(b->centre, o.r, sizeof b->centre);
  memcpy(b->n, o.n, sizeof b->n);
  for (int k = 0; k < s->monomials; k++) {
    const int p = s->exponents[2 * k], q = s->exponents[2 * k + 1];
    if (p > 1 || q > 1 || (p && q && s->corners == 3))
      bulge += 0.5 * sqrt(dot3(P + 3 * k, P + 3 * k));
  }
  for (int v = 0; v < s->corners; v++) {
    symancf_foot corner = {.xi = {at[v][0], at[v][1]}};
    double m[3][MOST_MONOMIALS], y[3] = {0}, n[3];
    monomials(s, corner.xi, m);
    for (int k = 0; k < s->monomials; k++)
      for (int a = 0; a < 3; a++) y[a] += m[0][k] * P[3 * k + a];
    for (int a = 0; a < 3; a++) {
      y[a] -= b->centre[a];
      n[a] = Q[a] + Q[3 + a] * at[v][0] + (Q[6 + a] + Q[9 + a] * at[v][0]) * at[v][1];
    }
    const double up = dot3(y, b->n), along = dot3(n, b->n);
    b->radius = fmax(b->radius, sqrt(dot3(y, y)));
    b->top = fmax(b->top, fabs(up));
    const double across = sqrt(fmax(0.0, dot3(n, n) - along * along));
    b->lean = fmax(b->lean, along > 0.0 ? across / along : HUGE_VAL);
  }
  b->radius += bulge;
  b->top += bulge;
}

/* Whether a point may have its foot on a facet, with a gap below `reach`. */
static inline int may_touch(const symancf_bound *b, const double *r, double reach)
{
  const double y[3] = {r[0] - b->centre[0], r[1] - b->centre[1], r[2] - b->centre[2]};
  const double up = dot3(y, b->n);
  if (up > b->top + reach) return 0;
  const double across = dot3(y, y) - up * up, wide = b->radius * (1.0 + 1e-6);
  if (across <= wide * wide) return 1;
  const double all = wide + (fabs(up) + b->top) * b->lean;
  return !(across > all * all);
}

/* The nearest foot among the candidates of a patch: the number of the facet there, or -1. */
static int nearest(const symancf_feet *c, int patch, const double *P, const symancf_bound *b,
                   const double *r, double reach, symancf_foot *best)
{
  const int m = 3 * c->basis.monomials;
  const int32_t *facet = c->facet + c->facet_start[patch];
  int found = -1;
  for (int k = 0; k < c->candidates[patch]; k++) {
    const int f = facet[k];
    symancf_foot o;
    if (!may_touch(b + f, r, reach)) continue;
    if (!find_foot(&c->basis, P + (int64_t)f * m, c->normals + 12 * (int64_t)f, r, INSIDE, &o)) continue;
    if (found >= 0 && !(fabs(o.g) < fabs(best->g) - 1e-9 * c->size[f])) continue;
    *best = o;
    found = k;
  }
  return found;
}

/* The values of a facet's functions by its vectors as they are stored: of slopes, mapped. */
static void weights(const symancf_feet *c, int f, const double *xi, double *W)
{
  const symancf_basis *s = &c->basis;
  double N[3 * MOST_MONOMIALS * 2];
  const int width = 1 + s->slopes;
  functions(s, xi, N);
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < s->functions; i++) {
      const int v = i / width, m = i % width - 1;
      double sum = N[d * s->functions + i];
      if (m >= 0) {
        const double *map = c->maps + ((int64_t)f * s->corners + v) * s->slopes * s->slopes;
        sum = 0.0;
        for (int k = 0; k < s->slopes; k++)
          sum += N[d * s->functions + v * width + 1 + k] * map[k * s->slopes + m];
      }
      W[d * s->functions + i] = sum;
    }
}

/* Up to 8 points as entities of a term of their own. */
typedef struct {
  symancf_term term;
  int32_t point[LANES], piece[LANES], piece_end[LANES];
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

/* Take a point with its foot as the next lane; `k`: the place of its facet in the patch. */
static void take(const symancf_term *t, symancf_batch *b, int point, int k, const symancf_foot *o)
{
  const symancf_feet *c = t->feet;
  const symancf_basis *s = &c->basis;
  const int lane = b->term.n++, patch = c->patch[point], width = 1 + s->slopes, nf = s->functions;
  const int first = c->facet_start[patch], f = c->facet[first + k], count = vertices_of(t, patch);
  int32_t at = b->entry_start[lane], column = b->column_start[lane], begin = column;
  double W[3 * MOST_MONOMIALS * 2];
  b->point[lane] = point;
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
    const int32_t vertex = c->corner[(int64_t)(first + k) * s->corners + i / width];
    enter(b, &at, own, 0, vertex, offset, -W[i]);
    enter(b, &at, own, 3, vertex, offset, W[nf + i]);
    enter(b, &at, own, 6, vertex, offset, W[2 * nf + i]);
    if (c->rate >= 0) enter(b, &at, own, c->rate, vertex, ~offset, -W[i]);
    columns_of(b, &column, offset, vertex);
  }
  if (c->anchor >= 0) {
    double xi[2];
    const int32_t number = anchor_of(t, point, xi) - 1;
    int q = c->facet_start[patch + 1] - first - 1;
    while (q >= 0 && (number < 0 || c->number[c->facet[first + q]] != number)) q--;
    if (q >= 0) {
      const int h = c->facet[first + q];
      weights(c, h, xi, W);
      for (int i = 0; i < nf; i++) {
        const int32_t offset = c->offset[(int64_t)h * nf + i];
        const int32_t vertex = c->corner[(int64_t)(first + q) * s->corners + i / width];
        enter(b, &at, h == f ? on + 3 * i : column - begin, c->anchor, vertex, offset, -W[i]);
        if (h != f) columns_of(b, &column, offset, vertex);
      }
    } else { /* no anchor: t = 0, so no friction in this step */
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

/* Where what a point remembers is written. */
static inline double *told(const symancf_term *t, int point)
{
  return t->table + (int64_t)(point / LANES) * t->table_rows * LANES + point % LANES;
}

/* Write an anchor: at a place of facet k of the point's patch, or nowhere (k < 0). */
static void put_anchor(const symancf_term *t, int point, int k, const double *xi)
{
  const symancf_feet *c = t->feet;
  double *to = told(t, point);
  to[0] = k < 0 ? 0.0 : 1.0 + c->number[c->facet[c->facet_start[c->patch[point]] + k]];
  to[LANES] = k < 0 ? 0.0 : xi[0];
  to[2 * LANES] = k < 0 ? 0.0 : xi[1];
}

/* What a point remembers that does not touch: its foot on facet k of its patch, if there is one. */
static void open_point(const symancf_term *t, int point, int k, const symancf_foot *o, int what)
{
  const symancf_feet *c = t->feet;
  double *to = told(t, point);
  for (int row = 0; row < t->table_rows; row++)
    to[row * LANES] = what == UPDATE ? of_point(t->cell, t->cell_rows, point, c->memory + row) : 0.0;
  if (c->gap >= 0) to[c->gap * LANES] = k < 0 ? 0.0 : o->g;
  if (c->anchor < 0) return;
  put_anchor(t, point, k, o->xi);
  to[3 * LANES] = 0.0;
  to[4 * LANES] = -1.0;
  to[5 * LANES] = 0.0;
}

/* What a point remembers of which the kernel has told, with its foot on facet k of its patch. */
static void remember(const symancf_term *t, const symancf_batch *b, int lane, int k, const double *P,
                     const symancf_bound *bounds)
{
  const symancf_feet *c = t->feet;
  const int point = b->point[lane], patch = c->patch[point], first = c->facet_start[patch];
  const symancf_foot *o = b->foot + lane;
  double *to = told(t, point);
  for (int row = 0; row < t->table_rows; row++) to[row * LANES] = b->table[row * LANES + lane];
  if (c->anchor < 0) return;
  double before[2];
  const double status = to[4 * LANES];
  const int anchored = anchor_of(t, point, before);
  if (status < 0.0 || !anchored) {
    put_anchor(t, point, k, o->xi);
    to[3 * LANES] = 0.0;
  } else if (status == 0.0) {
    to[0] = anchored, to[LANES] = before[0], to[2 * LANES] = before[1];
  } else {
    symancf_foot q;
    double r[3], shift[3];
    for (int a = 0; a < 3; a++) {
      shift[a] = b->table[a * LANES + lane];
      r[a] = o->r[a] + shift[a];
    }
    int h = nearest(c, patch, P, bounds, r, HUGE_VAL, &q);
    if (h < 0 || fabs(q.g) > c->size[c->facet[first + h]]) { /* off the edge: go on from the foot */
      for (int d = 0; d < 2; d++) q.xi[d] = o->xi[d] + dot3(o->inverse[d], shift);
      h = k;
    }
    put_anchor(t, point, h, q.xi);
  }
}

static int64_t flush(const symancf_plan *plan, const symancf_term *t, int what, const double *x,
                     const double *v, double *f, double *energies, double *work, int32_t *cleared,
                     symancf_batch *b)
{
  int64_t bad = 0;
  if (b->term.n) {
    for (int l = b->term.n; l < LANES; l++)
      for (int row = 0; row < t->cell_rows; row++) {
        b->cell[row * LANES + l] = b->cell[row * LANES];
        b->cell_rate[row * LANES + l] = b->cell_rate[row * LANES];
      }
    bad = entities(plan, &b->term, what, x, v, f, energies, work, cleared);
  }
  return bad;
}

/* Local vector of positions, where feet need them. */
static void positions(const symancf_plan *plan, const symancf_feet *c, const double *x, double *r)
{
  for (int64_t k = 0; k < (int64_t)c->facets * c->basis.functions; k++)
    for (int a = 0; a < 3; a++) r[c->offset[k] + a] = plan->reference[c->offset[k] + a] + x[c->offset[k] + a];
  for (int64_t k = 0; k < (int64_t)c->patches * c->vectors; k++)
    for (int a = 0; a < 3; a++)
      r[c->patch_offset[k] + a] = plan->reference[c->patch_offset[k] + a] + x[c->patch_offset[k] + a];
}

/* A bound of the rates of gaps. */
static double fastest(const symancf_plan *plan, const symancf_feet *c)
{
  double most[2] = {0.0, 0.0};
  if (!plan->rate) return 0.0;
  for (int64_t k = 0; k < (int64_t)c->facets * c->basis.functions; k++)
    most[0] = fmax(most[0], dot3(plan->rate + c->offset[k], plan->rate + c->offset[k]));
  for (int64_t k = 0; k < (int64_t)c->patches * c->vectors; k++)
    most[1] = fmax(most[1], dot3(plan->rate + c->patch_offset[k], plan->rate + c->patch_offset[k]));
  return 2.0 * (sqrt(most[0]) + sqrt(most[1]));
}

static int64_t feet(const symancf_plan *plan, const symancf_term *t, int what, const double *x,
                    const double *v, double *f, double *energies, double *work, int32_t *cleared)
{
  const symancf_feet *c = t->feet;
  const int m = 3 * c->basis.monomials, most = t->columns;
  const int64_t entries = (int64_t)LANES * most * 5, rows = t->cell_rows + t->table_rows + 1;
  int32_t vertices = 0;
  int64_t bad = 0;
  int place[LANES] = {0}; /* of the facets of their feet in the patches */
  for (int p = 0; p < c->patches; p++)
    if (vertices_of(t, p) > vertices) vertices = vertices_of(t, p);
  const int64_t reals = (int64_t)c->facets * m + entries + 3 * rows * LANES + 64;
  const int64_t integers = 4 * entries + 2 * LANES * most + LANES * vertices;
  double *r = malloc((size_t)plan->coordinates * sizeof(double));
  double *P = aligned_alloc(64, ((size_t)reals * sizeof(double) + 63) / 64 * 64);
  int32_t *whole = malloc((size_t)(integers + 1) * sizeof(int32_t));
  symancf_bound *bounds = malloc((size_t)(c->facets + 1) * sizeof *bounds);
  symancf_batch *b = calloc(1, sizeof *b);
  if (!r || !P || !whole || !bounds || !b) {
    free(r), free(P), free(whole), free(bounds), free(b);
    return -1;
  }
  b->term = *t;
  b->term.n = 0;
  b->term.owned = b->owned;
  b->term.vertex_start = b->vertex_start, b->term.pair_start = b->pair_start;
  b->term.entry_start = b->entry_start, b->term.column_start = b->column_start;
  b->cell = P + ((int64_t)c->facets * m + 7) / 8 * 8;
  b->cell_rate = b->cell + t->cell_rows * LANES;
  b->table = b->cell_rate + t->cell_rows * LANES;
  b->value = b->table + (t->table_rows + 1) * LANES;
  b->jet = whole, b->coordinate = b->jet + entries, b->vertex = b->coordinate + entries;
  b->column = b->vertex + entries, b->of_column = b->column + entries;
  b->vertex_of_column = b->of_column + LANES * most, b->vertices = b->vertex_of_column + LANES * most;
  b->term.entry_jet = b->jet, b->term.entry_coordinate = b->coordinate;
  b->term.entry_vertex = b->vertex, b->term.entry_column = b->column, b->term.entry_value = b->value;
  b->term.column_coordinate = b->of_column, b->term.column_vertex = b->vertex_of_column;
  b->term.vertices = b->vertices, b->term.cell = b->cell, b->term.table = b->table;
  b->term.cell_rate = t->cell_rate ? b->cell_rate : NULL;
  positions(plan, c, x, r);
  const double reach = c->reach + fabs(t->uniform[c->damping] * t->uniform[c->span]) * fastest(plan, c);
  for (int k = 0; k < c->facets; k++) {
    coefficients_of(c, k, r, P + (int64_t)k * m);
    bound(&c->basis, P + (int64_t)k * m, c->normals + 12 * (int64_t)k, bounds + k);
  }
  for (int point = 0; point <= t->n; point++) {
    if (point == t->n || b->term.n == LANES) {
      bad += flush(plan, t, what, r, v, f, energies, work, cleared, b);
      for (int l = 0; l < b->term.n && tabulates(what); l++) {
        if (what == UPDATE) {
          remember(t, b, l, place[l], P, bounds);
          continue;
        }
        double *to = told(t, b->point[l]);
        for (int row = 0; row < t->table_rows; row++) to[row * LANES] = b->table[row * LANES + l];
      }
      b->term.n = 0;
      if (point == t->n) break;
    }
    const int patch = c->patch[point];
    double y[3] = {0.0, 0.0, 0.0};
    symancf_foot o;
    for (int i = 0; i < c->vectors; i++)
      for (int a = 0; a < 3; a++)
        y[a] += c->value[(int64_t)point * c->vectors + i] * r[c->patch_offset[patch * c->vectors + i] + a];
    const int k = nearest(c, patch, P, bounds, y, tabulates(what) ? HUGE_VAL : reach, &o);
    if (k >= 0 && what != INITIAL && (what == OUTPUTS || o.g <= reach)) {
      place[b->term.n] = k;
      take(t, b, point, k, &o);
    } else if (what == UPDATE || what == INITIAL) {
      open_point(t, point, k, &o, what);
    } else if (what == OUTPUTS) { /* nothing is opposite */
      for (int row = 0; row < t->table_rows; row++) told(t, point)[row * LANES] = NAN;
    }
  }
  free(r), free(P), free(whole), free(bounds), free(b);
  return bad;
}

/*
 * The feet of points on facets, pair by pair: place [n][2] and gap [n], NaN where there is none within
 * `beyond` of the facet. `facet` [n] numbers of P [][monomials][3] and Q [][4][3].
 */
void symancf_feet_of(const symancf_basis *s, const double *P, const double *Q, int64_t n,
                     const int32_t *facet, const double *r, double beyond, double *xi, double *g)
{
  for (int64_t k = 0; k < n; k++) {
    symancf_foot o;
    const int64_t f = facet[k];
    if (find_foot(s, P + 3 * f * s->monomials, Q + 12 * f, r + 3 * k, beyond, &o)) {
      xi[2 * k] = o.xi[0], xi[2 * k + 1] = o.xi[1];
      g[k] = o.g;
    } else {
      xi[2 * k] = xi[2 * k + 1] = g[k] = NAN;
    }
  }
}

/* chi at places xi [n][2] of facets with the free edges `free` [n]. */
void symancf_inner(const symancf_basis *s, int64_t n, const int32_t *free, const double *xi, double *chi)
{
  for (int64_t k = 0; k < n; k++) {
    double found[3];
    inner(s, free[k], xi + 2 * k, found);
    chi[k] = found[0];
  }
}

#endif
