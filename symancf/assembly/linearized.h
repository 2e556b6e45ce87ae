/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tangent of points at one state, kept for many products with it: they look for no closest points.
 *
 * Of the jets the force is along d, a_1 and a_2, and changes with d, t and the change of n.
 */
#ifndef SYMANCF_LINEARIZED_H
#define SYMANCF_LINEARIZED_H

#include "blocks.h"
#include "roundoff.h"

typedef struct symancf_linearized {
  int32_t n;      /* points that act */
  int32_t *place; /* [n][3] point, facet of its closest point, facet of its anchor or -1 */
  double *number; /* [n] H [9][6 or, with t, 9], its last 3 columns times (I - n n^T)/|m|; N, N_,1,
                     N_,2 at the closest point; N at the anchor; weights of the normals [4] */
  double *turn, *change; /* M of the normals, and room for their change: [][9] and [][3] */
} symancf_linearized;

/* Doubles that are kept of a point. */
int64_t symancf_linearized_size(const symancf_term *t)
{
  const int rubs = t->closest_points->anchor >= 0;
  return 27 * (2 + rubs) + t->closest_points->types.functions * (3 + rubs) + 4;
}

/* Keep the tangent of a batch of points. */
static int64_t keep(const symancf_term *t, const symancf_batch *b, const double *g, double *P, double *H)
{
  const symancf_closest_points *c = t->closest_points;
  const int columns = c->anchor < 0 ? 6 : 9, rest = c->types.functions * (columns < 9 ? 3 : 4);
  const int64_t size = symancf_linearized_size(t);
  const int64_t bad = t->tangent(b->n, t->uniform, b->cell, NULL, g, P, H);
  disturb(P, (int64_t)t->jets * LANES);
  disturb(H, (int64_t)t->jets * t->jets * LANES);
  for (int l = 0; l < b->n; l++) {
    int32_t *at = t->linearized->place + 3 * (int64_t)t->linearized->n;
    double *to = t->linearized->number + size * t->linearized->n;
    int acts = 0;
    for (int j = 0; j < 9; j++)
      for (int k = 0; k < columns; k++) {
        const int jet = k < 3 ? k : k < columns - 3 ? c->anchor + k - 3 : c->turn + k - columns + 3;
        to[j * columns + k] = H[packed(t, j, jet) * LANES + l];
        acts |= to[j * columns + k] != 0.0;
      }
    if (!acts) continue;
    const symancf_closest_point *o = b->closest + l;
    for (int j = 0; j < 9; j++) {
      double *h = to + (j + 1) * columns - 3;
      const double along = dot3(h, o->n);
      for (int a = 0; a < 3; a++) h[a] = (h[a] - along * o->n[a]) / o->length;
    }
    corners_at(c, b->facet[l], o->xi, to + 9 * columns + rest);
    t->linearized->n++;
    at[0] = b->point[l], at[1] = b->facet[l], at[2] = b->anchor[l];
    memcpy(to + 9 * columns, b->N[l], (size_t)rest * sizeof(double));
  }
  return bad;
}

/* f += K v */
static void multiply(const symancf_term *t, const double *v, double *f)
{
  const symancf_closest_points *c = t->closest_points;
  const int columns = c->anchor < 0 ? 6 : 9;
  const int64_t size = symancf_linearized_size(t);
  move_normals(c, t->linearized->turn, v, t->linearized->change);
  for (int64_t k = 0; k < t->linearized->n; k++) {
    const int32_t *at = t->linearized->place + 3 * k;
    const double *H = t->linearized->number + size * k, *N = H + 9 * columns, *corner = H + size - 4;
    double d[9], rub[3], P[9], *turn = d + columns - 3;
    distances(c, at[0], at[1], at[2], N, v, d, rub);
    if (columns == 9) memcpy(d + 3, rub, sizeof rub);
    turn[0] = turn[1] = turn[2] = 0.0;
    for (int j = 0; j < basis_of(&c->types, at[1])->corners; j++)
      for (int a = 0; a < 3; a++)
        turn[a] += corner[j] * t->linearized->change[3 * c->normal[4 * at[1] + j] + a];
    for (int j = 0; j < 9; j++) {
      P[j] = 0.0;
      for (int i = 0; i < columns; i++) P[j] += H[j * columns + i] * d[i];
    }
    spread(c, at[0], at[1], N, P, f);
  }
}

#endif
