/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Normals at the corners of facets, and how they change with positions.
 *
 * A normal is m = A/|A|, A = sum a x b over the facets around, a and b the tangents there, sums of
 * vectors of the local vector. With u_k = sum (w_b a - w_a b), w the weights of vector k,
 *
 *     dm = sum_k M_k dx_k,   M_k = ([u_k]x - m (m x u_k)^T)/|A|.
 */
#ifndef SYMANCF_NORMALS_H
#define SYMANCF_NORMALS_H

#include "opposite.h"

#include <stdlib.h>

typedef struct {
  double *m, *size; /* [normals][3], |A| */
  double *Q;        /* [facets][4][3] polynomials of interpolated normals */
  double *M;        /* [vectors][3][3], or NULL */
  double *dm;       /* [normals][3] in a direction, or NULL */
  int32_t *at;      /* [vertices] place among the vertices of `element` */
  int32_t element;
} symancf_normals;

static void tangents(const symancf_closest_points *c, int span, const double *x, double ab[2][3])
{
  memset(ab, 0, 6 * sizeof(double));
  for (int32_t e = c->entry_start[span]; e < c->entry_start[span + 1]; e++) {
    const double *y = x + c->turn_offset[c->entry_vector[e]], *w = c->entry_weight + 2 * e;
    for (int k = 0; k < 2; k++)
      for (int a = 0; a < 3; a++) ab[k][a] += w[k] * y[a];
  }
}

/* m, |A| and Q at positions x. */
static void find_normals(const symancf_closest_points *c, const double *x, symancf_normals *to)
{
  for (int32_t k = 0; k < c->normals; k++) {
    double sum[3] = {0}, ab[2][3], one[3];
    for (int32_t s = c->span_start[k]; s < c->span_start[k + 1]; s++) {
      tangents(c, s, x, ab);
      cross3(ab[0], ab[1], one);
      for (int a = 0; a < 3; a++) sum[a] += one[a];
    }
    to->size[k] = sqrt(dot3(sum, sum));
    for (int a = 0; a < 3; a++) to->m[3 * k + a] = to->size[k] > 0.0 ? sum[a] / to->size[k] : 0.0;
  }
  if (*c->holds) memcpy(to->m, c->frozen_normals, (size_t)c->normals * 3 * sizeof(double));
  for (int32_t f = 0; f < c->facets; f++) {
    const int32_t *number = c->normal + 4 * f;
    double *Q = to->Q + 12 * (int64_t)f;
    const int n = basis_of(&c->types, f)->corners;
    memset(Q, 0, 12 * sizeof *Q);
    if (number[0] < 0) continue;
    for (int a = 0; a < 3; a++) {
      const double m0 = to->m[3 * number[0] + a], m1 = to->m[3 * number[1] + a];
      const double m2 = to->m[3 * number[2] + a], last = to->m[3 * number[n - 1] + a];
      Q[a] = m0, Q[3 + a] = m1 - m0, Q[6 + a] = last - m0;
      if (n == 4) Q[9 + a] = m0 - m1 + m2 - last;
    }
  }
}

/* M at the positions x of m and |A|. */
static void turn_normals(const symancf_closest_points *c, const double *x, symancf_normals *to)
{
  for (int32_t k = 0; k < c->normals; k++) {
    const int32_t first = c->vector_start[k], end = c->vector_start[k + 1];
    memset(to->M + 9 * (int64_t)first, 0, (size_t)(end - first) * 9 * sizeof(double));
    for (int32_t s = c->span_start[k]; s < c->span_start[k + 1]; s++) {
      double ab[2][3];
      tangents(c, s, x, ab);
      for (int32_t e = c->entry_start[s]; e < c->entry_start[s + 1]; e++) {
        const double *w = c->entry_weight + 2 * e;
        double *u = to->M + 9 * (int64_t)c->entry_vector[e]; /* u_k first, in the place of M_k */
        for (int a = 0; a < 3; a++) u[a] += w[1] * ab[0][a] - w[0] * ab[1][a];
      }
    }
    const double *m = to->m + 3 * k, by = to->size[k] > 0.0 && !*c->holds ? 1.0 / to->size[k] : 0.0;
    for (int32_t v = first; v < end; v++) {
      double *M = to->M + 9 * (int64_t)v, u[3], q[3];
      memcpy(u, M, sizeof u);
      cross3(m, u, q);
      const double skew[9] = {0.0, -u[2], u[1], u[2], 0.0, -u[0], -u[1], u[0], 0.0};
      for (int a = 0; a < 9; a++) M[a] = by * (skew[a] - m[a / 3] * q[a % 3]);
    }
  }
}

/* dm in the direction v. */
static void move_normals(const symancf_closest_points *c, const double *M, const double *v, double *dm)
{
  memset(dm, 0, (size_t)c->normals * 3 * sizeof *dm);
  for (int32_t k = 0; k < c->normals; k++)
    for (int32_t j = c->vector_start[k]; j < c->vector_start[k + 1]; j++)
      for (int a = 0; a < 3; a++)
        dm[3 * k + a] += dot3(M + 9 * (int64_t)j + 3 * a, v + c->turn_offset[j]);
}

/* The weights of the normals of a facet's corners at a place; returns how many corners it has. */
static inline int corners_at(const symancf_closest_points *c, int f, const double *xi, double N[4])
{
  const int n = basis_of(&c->types, f)->corners;
  const double x = xi[0], y = xi[1];
  N[0] = n == 3 ? 1.0 - x - y : (1.0 - x) * (1.0 - y);
  N[1] = n == 3 ? x : x * (1.0 - y);
  N[2] = n == 3 ? y : x * y;
  N[3] = n == 3 ? 0.0 : (1.0 - x) * y;
  return n;
}

/* The change of n at a closest point on facet f, those of the corners' normals being dm. */
static inline void turn_of(const symancf_closest_points *c, int f, const symancf_closest_point *o,
                           const double *dm, double *h)
{
  double N[4];
  const int n = corners_at(c, f, o->xi, N);
  h[0] = h[1] = h[2] = 0.0;
  for (int k = 0; k < n; k++)
    for (int a = 0; a < 3; a++) h[a] += N[k] * dm[3 * c->normal[4 * f + k] + a];
  const double along = dot3(o->n, h);
  for (int a = 0; a < 3; a++) h[a] = (h[a] - along * o->n[a]) / o->length;
}

/* Room for it all; 0: there is none. */
static int make_normals(const symancf_closest_points *c, int turns, symancf_normals *to)
{
  const int64_t n = c->normals, all = c->vector_start[n];
  memset(to, 0, sizeof *to);
  to->element = -1;
  to->m = malloc((size_t)(4 * n + 12 * c->facets + (turns ? 9 * all + 3 * n : 0) + 1) * sizeof(double));
  to->at = malloc(((size_t)c->vertices + 1) * sizeof *to->at);
  if (!to->m || !to->at) return 0;
  to->size = to->m + 3 * n;
  to->Q = to->size + n;
  if (turns) to->M = to->Q + 12 * (int64_t)c->facets, to->dm = to->M + 9 * all;
  return 1;
}

static void forget_normals(symancf_normals *n)
{
  free(n->m);
  free(n->at);
}

#endif
