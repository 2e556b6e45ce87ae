/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tangent of points at one state, kept for many products with it: they look for no feet.
 *
 * Of the jets the force is along d, a_1 and a_2, and changes with d and t.
 */
#ifndef SYMANCF_KEPT_H
#define SYMANCF_KEPT_H

#include "blocks.h"

typedef struct symancf_kept {
  int32_t n;      /* points that act */
  int32_t *place; /* [n][3] point, facet of its foot, facet of its anchor or -1 */
  double *number; /* [n] H [9][3 or, with t, 6]; N, N_,1, N_,2 at the foot; N at the anchor */
} symancf_kept;

/* Doubles that are kept of a point. */
int64_t symancf_kept_size(const symancf_term *t)
{
  const int rubs = t->feet->anchor >= 0;
  return 27 * (1 + rubs) + t->feet->types.functions * (3 + rubs);
}

/* Keep the tangent of a batch of points. */
static int64_t keep(const symancf_term *t, const symancf_batch *b, const double *g, double *P, double *H)
{
  const symancf_feet *c = t->feet;
  const int columns = c->anchor < 0 ? 3 : 6, rest = c->types.functions * (columns < 6 ? 3 : 4);
  const int64_t size = symancf_kept_size(t);
  const int64_t bad = t->tangent(b->n, t->uniform, b->cell, NULL, g, P, H);
  for (int l = 0; l < b->n; l++) {
    int32_t *at = t->kept->place + 3 * (int64_t)t->kept->n;
    double *to = t->kept->number + size * t->kept->n;
    int acts = 0;
    for (int j = 0; j < 9; j++)
      for (int k = 0; k < columns; k++) {
        to[j * columns + k] = H[packed(t, j, k < 3 ? k : c->anchor + k - 3) * LANES + l];
        acts |= to[j * columns + k] != 0.0;
      }
    if (!acts) continue;
    t->kept->n++;
    at[0] = b->point[l], at[1] = b->facet[l], at[2] = b->anchor[l];
    memcpy(to + 9 * columns, b->N[l], (size_t)rest * sizeof(double));
  }
  return bad;
}

/* f += K v */
static void multiply(const symancf_term *t, const double *v, double *f)
{
  const symancf_feet *c = t->feet;
  const int columns = c->anchor < 0 ? 3 : 6;
  const int64_t size = symancf_kept_size(t);
  for (int64_t k = 0; k < t->kept->n; k++) {
    const int32_t *at = t->kept->place + 3 * k;
    const double *H = t->kept->number + size * k, *N = H + 9 * columns;
    double d[6], P[9];
    distances(c, at[0], at[1], at[2], N, v, d, d + 3);
    for (int j = 0; j < 9; j++) {
      P[j] = 0.0;
      for (int i = 0; i < columns; i++) P[j] += H[j * columns + i] * d[i];
    }
    spread(c, at[0], at[1], N, P, f);
  }
}

#endif
