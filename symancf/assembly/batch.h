/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points and their closest points: the jets d, a_1, a_2, t and the rate of d, and what the law is told of the
 * closest point.
 */
#ifndef SYMANCF_BATCH_H
#define SYMANCF_BATCH_H

#include "lanes.h"
#include "normals.h"
#include "assembler.h"

#define CLOSEST_POINT_ROWS 23 /* of the parameters of a point: what depends on the closest point */

/* Up to 8 points. */
typedef struct {
  int32_t n;
  int32_t point[LANES];
  int32_t facet[LANES], anchor[LANES]; /* of their closest points and their anchors; -1: none */
  int32_t place[LANES], anchor_place[LANES]; /* of these in the contact elements */
  double N[LANES][4 * 2 * MOST_MONOMIALS];   /* N, N_,1, N_,2 at the closest point; N at the anchor */
  symancf_closest_point closest[LANES];
  double *cell, *cell_rate, *table;
} symancf_batch;

/* Parameter `row` of a point in [batches][rows][8]. */
static inline double of_point(const double *cell, int rows, int point, int row)
{
  return cell[((int64_t)(point / LANES) * rows + row) * LANES + point % LANES];
}

/* The anchor of a point at the beginning of the step: facet + 1, or 0. */
static inline int anchor_of(const symancf_term *t, int point, double *xi)
{
  const symancf_closest_points *c = t->closest_points;
  const int known = of_point(t->cell, t->cell_rows, point, c->memory) > 0.0;
  double a[3];
  for (int row = 0; row < 3; row++)
    a[row] = known ? of_point(t->cell, t->cell_rows, point, c->memory + row) : c->first[3 * point + row];
  xi[0] = a[1], xi[1] = a[2];
  return (int)a[0];
}

/* The place of a point's anchor in its contact element, or -1: none, so no friction in this step. */
static inline int anchor_place(const symancf_term *t, int point, double *xi)
{
  const symancf_closest_points *c = t->closest_points;
  const int element = c->element[point], first = c->facet_start[element];
  const int32_t number = anchor_of(t, point, xi) - 1;
  int q = c->facet_start[element + 1] - first - 1;
  while (q >= 0 && (number < 0 || c->number[c->facet[first + q]] != number)) q--;
  return q;
}

/*
 * The share with which a point counts and its derivatives by xi, eta and g: with q = chi_s/chi_m
 * 2/(1 + q) - (1 - q)^8 where q < 1, 2/(1 + q)/(1 + ((q - 1)/6)^4) beyond. It is 1 where both are within
 * their sides, or these end together; a point that slides off a side fades; one at the edge of its own
 * side, which those opposite have left, counts for itself alone.
 */
static void share_of(const symancf_closest_points *c, int point, int f,
                     const symancf_closest_point *o, double share[4])
{
  const double deep = fmax(-o->g, 0.0), wide[2] = {c->width[f], c->own_width[point]};
  double p[3], m[3], s[3];
  inner(basis_of(&c->types, f), c->rim[f], o->xi, p);
  fade(p[0], deep / wide[0], m);
  fade(c->own[point], deep / wide[1], s);
  const double q = (s[0] + LEAST) / (m[0] + LEAST), both = 2.0 / (1.0 + q), less = fmax(0.0, 1.0 - q);
  const double more = fmax(0.0, q - 1.0) / 6.0, cube = more * more * more, by = 1.0 / (1.0 + more * cube);
  const double seventh = pow(less, 7.0), step = 0.5 * both + by * cube * (2.0 / 3.0);
  const double slope = (8.0 * seventh - by * both * step) / (m[0] + LEAST);
  share[0] = both * by - less * seventh;
  for (int d = 0; d < 2; d++) share[1 + d] = -slope * q * m[1] * p[1 + d];
  share[3] = deep > 0.0 ? slope * (q * m[2] / wide[0] - s[2] / wide[1]) : 0.0;
}

/* Take a point with its closest point as the next lane; `k`: the place of its facet in the contact element. */
static void take(const symancf_term *t, symancf_batch *b, int point, int k, const symancf_closest_point *o)
{
  const symancf_closest_points *c = t->closest_points;
  const int lane = b->n++, first = c->facet_start[c->element[point]];
  const int nf = c->types.functions, f = c->facet[first + k];
  double *N = b->N[lane], xi[2], W[3 * MOST_MONOMIALS * 2], share[4], part[2];
  b->point[lane] = point, b->place[lane] = k, b->facet[lane] = f;
  b->closest[lane] = *o;
  weights(c, f, o->xi, N);
  const int q = b->anchor_place[lane] = c->anchor < 0 ? -1 : anchor_place(t, point, xi);
  b->anchor[lane] = q < 0 ? -1 : c->facet[first + q];
  if (q >= 0) {
    weights(c, b->anchor[lane], xi, W);
    memcpy(N + 3 * nf, W, (size_t)nf * sizeof(double));
  }
  for (int row = 0; row < t->cell_rows; row++)
    if (row < c->row || row >= c->row + CLOSEST_POINT_ROWS)
      b->cell[row * LANES + lane] = of_point(t->cell, t->cell_rows, point, row);
  for (int row = 0; row < t->cell_rows && t->cell_rate; row++)
    b->cell_rate[row * LANES + lane] = of_point(t->cell_rate, t->cell_rows, point, row);
  double *to = b->cell + c->row * LANES + lane;
  for (int a = 0; a < 3; a++)
    for (int d = 0; d < 3; d++) to[(3 * a + d) * LANES] = o->inverse[a][d];
  for (int a = 0; a < 3; a++) {
    to[(9 + a) * LANES] = o->n[a];
    to[(12 + a) * LANES] = o->dn[0][a];
    to[(15 + a) * LANES] = o->dn[1][a];
  }
  to[18 * LANES] = o->g;
  share_of(c, point, f, o, share);
  behind(o->g, c->size[f], part);
  for (int k = 1; k < 4; k++) share[k] *= part[0];
  share[3] += share[0] * part[1];
  share[0] *= part[0];
  for (int k = 0; k < 4; k++) to[(19 + k) * LANES] = share[k];
}

/* sum w_i x_i of vectors x_i of a local vector */
static inline void combine(int n, const double *w, const int32_t *offset, const double *x, double *to)
{
  for (int i = 0; i < n; i++)
    for (int a = 0; a < 3; a++) to[a] += w[i] * x[offset[i] + a];
}

/* The jets d and t of a point; N of its closest point and its anchor, `anchor` a facet or -1: t = 0. */
static inline void distances(const symancf_closest_points *c, int point, int facet, int anchor,
                             const double *N, const double *x, double *d, double *t)
{
  const int nf = c->types.functions;
  const int32_t *own = c->element_offset + (int64_t)c->element[point] * c->vectors;
  double closest[3] = {0}, old[3] = {0};
  d[0] = d[1] = d[2] = t[0] = t[1] = t[2] = 0.0;
  combine(c->vectors, c->value + (int64_t)point * c->vectors, own, x, d);
  if (anchor >= 0) {
    combine(nf, N + 3 * nf, c->offset + (int64_t)anchor * nf, x, old);
    for (int a = 0; a < 3; a++) t[a] = d[a] - old[a];
  }
  combine(nf, N, c->offset + (int64_t)facet * nf, x, closest);
  for (int a = 0; a < 3; a++) d[a] -= closest[a];
}

/* f += the forces along d, a_1 and a_2; there are none along t. */
static inline void spread(const symancf_closest_points *c, int point, int facet, const double *N,
                          const double *P, double *f)
{
  const int nf = c->types.functions;
  const int32_t *own = c->element_offset + (int64_t)c->element[point] * c->vectors;
  const int32_t *closest = c->offset + (int64_t)facet * nf;
  for (int i = 0; i < c->vectors; i++)
    for (int a = 0; a < 3; a++) f[own[i] + a] += c->value[(int64_t)point * c->vectors + i] * P[a];
  for (int i = 0; i < nf; i++)
    for (int a = 0; a < 3; a++)
      f[closest[i] + a] += N[nf + i] * P[3 + a] + N[2 * nf + i] * P[6 + a] - N[i] * P[a];
}

/*
 * The jets of the points of a batch, lanes beyond the last one repeat it. The normals change by dm;
 * NULL: by nothing, they are those of the present positions.
 */
static void jets_of(const symancf_term *t, const symancf_batch *b, const double *x, const double *rate,
                    const double *dm, double *g)
{
  const symancf_closest_points *c = t->closest_points;
  const int nf = c->types.functions;
  memset(g, 0, (size_t)(t->jets * LANES) * sizeof *g);
  for (int l = 0; l < LANES; l++) {
    const int of = l < b->n ? l : b->n - 1, facet = b->facet[of];
    const int32_t *closest = c->offset + (int64_t)facet * nf;
    double jet[4][3] = {{0}}, speed[3] = {0}, turn[3] = {0}, none[3];
    distances(c, b->point[of], facet, b->anchor[of], b->N[of], x, jet[0], jet[3]);
    for (int k = 1; k < 3; k++) combine(nf, b->N[of] + k * nf, closest, x, jet[k]);
    if (rate) distances(c, b->point[of], facet, -1, b->N[of], rate, speed, none);
    if (dm) turn_of(c, facet, b->closest + of, dm, turn);
    for (int a = 0; a < 3; a++) {
      for (int k = 0; k < 3; k++) g[(3 * k + a) * LANES + l] = jet[k][a];
      if (c->anchor >= 0) g[(c->anchor + a) * LANES + l] = jet[3][a];
      g[(c->turn + a) * LANES + l] = turn[a];
      if (c->rate >= 0) g[(c->rate + a) * LANES + l] = speed[a];
    }
  }
}

#endif
