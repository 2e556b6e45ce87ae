/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is opposite of points: facets, of which they are candidates, and where a point may touch.
 */
#ifndef SYMANCF_OPPOSITE_H
#define SYMANCF_OPPOSITE_H

#include "closest_point.h"

#include <string.h>

typedef struct symancf_closest_points {
  symancf_types types; /* of the targets */
  /* facets that are candidates on this rank */
  int32_t facets;
  const int32_t *offset;  /* [facets][functions] of their vectors in the local vector; of types with
                             fewer functions the first one again */
  const double *maps;     /* [facets][corners][slopes][slopes] */
  const int32_t *number;  /* [facets] global */
  const double *size;     /* [facets] a length of the facet's cell */
  const double *width;    /* [facets] the shortest edge in the reference */
  const int32_t *rim;     /* [facets] free edges and corners on them, a bit for each: `inner` */
  /* contact elements: a facet that has points, and what is opposite */
  int32_t vectors, elements; /* coefficient vectors of such a facet, at most */
  const int32_t *element_offset;  /* [contact elements][vectors] */
  const int32_t *vector_vertex; /* [contact elements][vectors] vertex among those of the contact element */
  const int32_t *facet_start;   /* [contact elements + 1]; the candidates ascend by number */
  const int32_t *candidates;    /* [contact elements] how many; what follows holds anchors only */
  const int32_t *facet;
  const int32_t *corner; /* [][vertices] vertices of these facets among those of the contact element */
  /* normals at the corners of candidates, see normals.h */
  int32_t normals;
  const int32_t *normal;      /* [facets][4] their numbers, -1: of no candidate */
  const int32_t *span_start;  /* [normals + 1] facets around, at the corner there */
  const int32_t *entry_start; /* [spans + 1] a and b of each are sums of vectors */
  const int32_t *entry_vector;
  const double *entry_weight; /* [entries][2] */
  const int32_t *vector_start;                 /* [normals + 1] vectors that a normal depends on */
  const int32_t *turn_offset, *turn_vertex;    /* [vectors] in the local vector; their vertices */
  const double *frozen_normals;   /* [normals][3], what they are where they do not follow the state */
  const int32_t *holds; /* whether they do not */
  int32_t vertices; /* more than the numbers of those of contact elements */
  /* points */
  const int32_t *element; /* [n], ascending */
  const double *value;  /* [n][vectors] */
  const double *own;    /* [n] p of the points on their own side, see `inner` */
  const double *own_width; /* [n] of the facets that have them */
  const double *first;  /* [n][3] anchors of points that remember none, as they remember them */
  double reach;         /* the law vanishes where the gap is larger */
  int32_t row;          /* first of the rows of parameters that are written here */
  int32_t memory;       /* first row of what points remember, those of the anchor come first */
  int32_t gap;          /* row of the gap among them, or -1 */
  int32_t damping, span; /* places of theta and h in uniform: the law is taken at g + theta h g' */
  int32_t *unknown; /* points whose derivatives `pull_points` does not know */
  int32_t anchor, turn, rate; /* first of the jets t and of the change of n, of the rates of d; or -1 */
} symancf_closest_points;

/* What is known of a facet before any point is looked at. */
typedef struct {
  double centre[3], n[3], radius, top, lean; /* lean: tangent of the normals' largest angle to n */
} symancf_bound;

/* Slopes of the element of facet f at its corner v from those of the vertex: [slopes][slopes]. */
static inline const double *map_of(const symancf_closest_points *c, int f, int v)
{
  return c->maps + ((int64_t)f * c->types.corners + v) * c->types.slopes * c->types.slopes;
}

static void coefficients_of(const symancf_closest_points *c, int f, const double *x, double *P)
{
  const symancf_types *most = &c->types;
  const symancf_basis *s = basis_of(most, f);
  const int32_t *offset = c->offset + (int64_t)f * most->functions;
  double e[3 * MOST_MONOMIALS * 2];
  const int width = 1 + s->slopes;
  for (int i = 0; i < s->functions; i++) {
    const int v = i / width, k = i % width - 1;
    double *to = e + 3 * i;
    if (k < 0) {
      memcpy(to, x + offset[i], 3 * sizeof(double));
      continue;
    }
    const double *map = map_of(c, f, v) + k * most->slopes;
    to[0] = to[1] = to[2] = 0.0;
    for (int m = 0; m < s->slopes; m++)
      for (int a = 0; a < 3; a++) to[a] += map[m] * x[offset[v * width + 1 + m] + a];
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
  symancf_closest_point o;
  double bulge = 0.0; /* of what is beyond the surface through the corners: |x^2 - x| <= 1/4 ... */
  o.g = 0.0;
  o.xi[0] = o.xi[1] = s->corners == 3 ? 1.0 / 3.0 : 0.5;
  memset(b, 0, sizeof *b);
  if (!at_closest_point(s, P, Q, &o)) {
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
    symancf_closest_point corner = {.xi = {at[v][0], at[v][1]}};
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

/* Whether a point may have its closest point on a facet, with a gap below `reach`. */
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

/* The closest of the points among the candidates of a contact element: the number of the facet there, or -1. */
static int nearest(const symancf_closest_points *c, int element, const double *P, const double *Q,
                   const symancf_bound *b, const double *r, double reach, symancf_closest_point *best)
{
  const int m = 3 * c->types.monomials;
  const int32_t *facet = c->facet + c->facet_start[element];
  int found = -1;
  for (int k = 0; k < c->candidates[element]; k++) {
    const int f = facet[k];
    symancf_closest_point o;
    if (!may_touch(b + f, r, reach)) continue;
    const symancf_basis *s = basis_of(&c->types, f);
    if (!find_closest_point(s, P + (int64_t)f * m, Q + 12 * (int64_t)f, r, INSIDE, &o)) continue;
    if (o.g <= -GONE * c->size[f]) continue;
    if (found >= 0 && !(fabs(o.g) < fabs(best->g) - 1e-9 * c->size[f])) continue;
    *best = o;
    found = k;
  }
  return found;
}

/*
 * The values of a facet's functions by its vectors as they are stored: of slopes, mapped; 0 of those
 * that other types have.
 */
static void weights(const symancf_closest_points *c, int f, const double *xi, double *W)
{
  const symancf_basis *s = basis_of(&c->types, f);
  double N[3 * MOST_MONOMIALS * 2];
  const int width = 1 + s->slopes, all = c->types.functions;
  functions(s, xi, N);
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < s->functions; i++) {
      const int v = i / width, m = i % width - 1;
      double sum = N[d * s->functions + i];
      if (m >= 0) {
        const double *map = map_of(c, f, v);
        sum = 0.0;
        for (int k = 0; k < s->slopes; k++)
          sum += N[d * s->functions + v * width + 1 + k] * map[k * c->types.slopes + m];
      }
      W[d * all + i] = sum;
    }
  for (int d = 0; d < 3; d++)
    for (int i = s->functions; i < all; i++) W[d * all + i] = 0.0;
}
#endif
