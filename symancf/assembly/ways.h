/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points that move from one state to another, past facets that move.
 */
#ifndef SYMANCF_WAYS_H
#define SYMANCF_WAYS_H

#include "opposite.h"

#include <stdlib.h>

enum { NOTHING, CROSSED, NO_MEMORY };

/* Facets with points and facets opposite, by pairs, at the beginning and at the end of the ways. */
typedef struct symancf_ways {
  symancf_types types;   /* of the facets opposite */
  int32_t facets, parts; /* facets opposite, parts that ways are cut into */
  int64_t pairs;
  const int32_t *pair;  /* [pairs][2] a facet with points, one opposite */
  const double *P[2];   /* [facets][monomials][3] */
  const double *Q[2];   /* [facets][4][3] */
  const double *deep;   /* [facets] deeper a point is not in a facet but behind it */
  const int32_t *first; /* first of the points of each facet with points, and behind the last one */
  const double *r[2];   /* [points][3] */
} symancf_ways;

static void between(const double *const *ends, double part, int64_t n, double *to)
{
  for (int64_t k = 0; k < n; k++) to[k] = (1.0 - part) * ends[0][k] + part * ends[1][k];
}

/* What a point has come to, past facet f, at the end of part `k` of its way. */
static int passes(const symancf_ways *w, int k, int64_t f, const double *const *P,
                  const double *const *Q, const symancf_bound *b, const double *const *r)
{
  const symancf_basis *s = basis_of(&w->types, f);
  const double deep = w->deep[f];
  double y[3];
  symancf_closest_point o;
  between(r, (double)k / w->parts, 3, y);
  if (!may_touch(b, y, -deep / sqrt(1.0 + b->lean * b->lean))) return NOTHING;
  if (!find_closest_point(s, P[1], Q[1], y, 0.5, &o) || outside(s, o.xi) > INSIDE) return NOTHING;
  if (!(o.g < -deep)) return NOTHING;
  between(r, (k - 1.0) / w->parts, 3, y);
  return find_closest_point(s, P[0], Q[0], y, 0.5, &o) && o.g >= -deep ? CROSSED : NOTHING;
}

/*
 * The worst that happens: CROSSED, a point comes to lie behind a facet, within its edges, that was
 * before it one part earlier. Normals are interpolated in time as facets are.
 */
int symancf_follow(const symancf_ways *w)
{
  const int64_t m = 3 * w->types.monomials, size = w->facets * (m + 12), normals = w->facets * m;
  double *now = malloc((size_t)(2 * size + 1) * sizeof *now), *before = now + size;
  symancf_bound *bounds = malloc((size_t)(w->facets + 1) * sizeof *bounds);
  int worst = now && bounds ? NOTHING : NO_MEMORY;
  if (now) {
    memcpy(now, w->P[0], (size_t)normals * sizeof *now);
    memcpy(now + normals, w->Q[0], (size_t)(size - normals) * sizeof *now);
  }
  for (int k = 1; k <= w->parts && worst < CROSSED; k++) {
    memcpy(before, now, (size_t)size * sizeof *now);
    between(w->P, (double)k / w->parts, normals, now);
    between(w->Q, (double)k / w->parts, size - normals, now + normals);
    for (int64_t f = 0; f < w->facets; f++)
      bound(basis_of(&w->types, f), now + f * m, now + normals + 12 * f, bounds + f);
    for (int64_t p = 0; p < w->pairs && worst < CROSSED; p++) {
      const int64_t a = w->pair[2 * p], f = w->pair[2 * p + 1];
      const double *P[2] = {before + f * m, now + f * m};
      const double *Q[2] = {before + normals + 12 * f, now + normals + 12 * f};
      for (int64_t point = w->first[a]; point < w->first[a + 1] && worst < CROSSED; point++) {
        const double *r[2] = {w->r[0] + 3 * point, w->r[1] + 3 * point};
        worst = passes(w, k, f, P, Q, bounds + f, r);
      }
    }
  }
  free(now), free(bounds);
  return worst;
}

#endif
