/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tangent of points at one state, kept for many products with it: they look for no feet.
 *
 * Of the jets the force is along d, a_1 and a_2, and changes with d and t.
 */
#ifndef SYMANCF_KEPT_H
#define SYMANCF_KEPT_H

#include "batch.h"

typedef struct symancf_kept {
  int32_t n;      /* points that act */
  int32_t *place; /* [n][3] point, facet of its foot, facet of its anchor or -1 */
  double *number; /* [n] H [9][3 or, with t, 6]; N, N_,1, N_,2 at the foot; N at the anchor */
} symancf_kept;

/* Doubles that are kept of a point. */
int64_t symancf_kept_size(const symancf_term *t)
{
  const int rubs = t->feet->anchor >= 0;
  return 27 * (1 + rubs) + t->feet->basis.functions * (3 + rubs);
}

/* Keep the tangent of a batch of points. */
static int64_t keep(const symancf_plan *plan, const symancf_term *t, const symancf_batch *b,
                    const double *x, double *work)
{
  const symancf_feet *c = t->feet;
  const int m = t->jets, columns = c->anchor < 0 ? 3 : 6;
  const int64_t size = symancf_kept_size(t);
  double *g = work, *P = g + m * LANES, *H = P + m * LANES;
  jets(&b->term, 0, b->term.n, x, plan->rate, g);
  const int64_t bad = t->tangent(b->term.n, t->uniform, b->cell, NULL, g, P, H);
  for (int l = 0; l < b->term.n; l++) {
    const int point = b->point[l], patch = c->patch[point], first = c->facet_start[patch];
    int32_t *at = t->kept->place + 3 * (int64_t)t->kept->n;
    double *to = t->kept->number + size * t->kept->n, xi[2];
    int acts = 0;
    for (int j = 0; j < 9; j++)
      for (int k = 0; k < columns; k++) {
        to[j * columns + k] = H[packed(t, j, k < 3 ? k : c->anchor + k - 3) * LANES + l];
        acts |= to[j * columns + k] != 0.0;
      }
    if (!acts) continue;
    t->kept->n++;
    at[0] = point, at[1] = c->facet[first + b->place[l]], at[2] = -1;
    to += 9 * columns;
    weights(c, at[1], b->foot[l].xi, to);
    const int q = c->anchor < 0 ? -1 : anchor_place(t, point, xi);
    if (q < 0) continue;
    double W[3 * MOST_MONOMIALS * 2];
    at[2] = c->facet[first + q];
    weights(c, at[2], xi, W);
    memcpy(to + 3 * c->basis.functions, W, (size_t)c->basis.functions * sizeof(double));
  }
  return bad;
}

/* f += K v */
static void multiply(const symancf_term *t, const double *v, double *f)
{
  const symancf_feet *c = t->feet;
  const int columns = c->anchor < 0 ? 3 : 6, nf = c->basis.functions;
  const int64_t size = symancf_kept_size(t);
  for (int64_t k = 0; k < t->kept->n; k++) {
    const int32_t *at = t->kept->place + 3 * k;
    const double *H = t->kept->number + size * k, *N = H + 9 * columns, *A = N + 3 * nf;
    const double *value = c->value + (int64_t)at[0] * c->vectors;
    const int32_t *own = c->patch_offset + (int64_t)c->patch[at[0]] * c->vectors;
    const int32_t *foot = c->offset + (int64_t)at[1] * nf;
    double d[6] = {0}, P[9];
    for (int i = 0; i < c->vectors; i++)
      for (int a = 0; a < 3; a++) d[a] += value[i] * v[own[i] + a];
    if (at[2] >= 0) {
      const int32_t *anchor = c->offset + (int64_t)at[2] * nf;
      memcpy(d + 3, d, 3 * sizeof(double));
      for (int i = 0; i < nf; i++)
        for (int a = 0; a < 3; a++) d[3 + a] -= A[i] * v[anchor[i] + a];
    }
    for (int i = 0; i < nf; i++)
      for (int a = 0; a < 3; a++) d[a] -= N[i] * v[foot[i] + a];
    for (int j = 0; j < 9; j++) {
      P[j] = 0.0;
      for (int i = 0; i < columns; i++) P[j] += H[j * columns + i] * d[i];
    }
    for (int i = 0; i < c->vectors; i++)
      for (int a = 0; a < 3; a++) f[own[i] + a] += value[i] * P[a];
    for (int i = 0; i < nf; i++)
      for (int a = 0; a < 3; a++)
        f[foot[i] + a] += N[nf + i] * P[3 + a] + N[2 * nf + i] * P[6 + a] - N[i] * P[a];
  }
}

#endif
