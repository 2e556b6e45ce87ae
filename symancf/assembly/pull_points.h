/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives of s = v . residual + seeds . update of points and the facets opposite: by unknowns, by
 * parameters, and by what points remember.
 *
 * With weights y, the closest point r_s = r_m + g n moves by y . (dr_s - dr_m - g dn), where r_m and n
 * change with the nodes alone; y = sum of the weights of xi, eta (and g) times rows of S^-1.
 */
#ifndef SYMANCF_PULL_POINTS_H
#define SYMANCF_PULL_POINTS_H

#include "batch.h"
#include "roundoff.h"

#include <stdlib.h>

enum { CLOSEST, STAYS, SLIDES, LEAVES };

/* Where the anchor of a point is at the end of a step. */
typedef struct {
  int how;   /* it is the closest point, stays, slides to another place, or to one off the edge */
  int place; /* of its facet in the contact element, but where it stays */
  symancf_closest_point at; /* the closest point there; off the edge xi alone */
} symancf_next_anchor;

/* Find it by what the kernel tells in b->table: the shift from r_m to where it shall be, and the status. */
static void find_next_anchor(const symancf_term *t, const symancf_batch *b, int lane, const double *P,
                             const double *Q, const symancf_bound *bounds, symancf_next_anchor *to)
{
  const symancf_closest_points *c = t->closest_points;
  const int point = b->point[lane], element = c->element[point];
  const symancf_closest_point *o = b->closest + lane;
  const double status = b->table[4 * LANES + lane];
  double before[2], r[3], shift[3];
  to->place = b->place[lane];
  to->at = *o;
  if (status < 0.0 || !anchor_of(t, point, before)) {
    to->how = CLOSEST;
    return;
  }
  to->how = STAYS;
  if (status == 0.0) return;
  for (int a = 0; a < 3; a++) {
    shift[a] = b->table[a * LANES + lane];
    r[a] = o->r[a] + shift[a];
  }
  to->how = SLIDES;
  to->place = nearest(c, element, P, Q, bounds, r, HUGE_VAL, &to->at);
  if (to->place >= 0 && !(fabs(to->at.g) > c->size[c->facet[c->facet_start[element] + to->place]])) return;
  to->how = LEAVES; /* go on from the closest point */
  to->place = b->place[lane];
  to->at = *o;
  for (int d = 0; d < 2; d++) to->at.xi[d] += dot3(o->inverse[d], shift);
}

/* Let idle lanes repeat the parameters of the first one. */
static void repeat_lanes(const symancf_term *t, symancf_batch *b)
{
  for (int l = b->n; l < LANES; l++)
    for (int row = 0; row < t->cell_rows; row++) {
      b->cell[row * LANES + l] = b->cell[row * LANES];
      b->cell_rate[row * LANES + l] = b->cell_rate[row * LANES];
    }
}

/* Weight of row `row` of what a point remembers at the end. */
static inline double seed_of(const symancf_term *t, int point, int row)
{
  return of_point(t->seed, t->cell_rows, point, t->closest_points->memory + row);
}

static int is_seeded(const symancf_term *t, int point)
{
  for (int row = 0; row < t->table_rows; row++)
    if (seed_of(t, point, row) != 0.0) return 1;
  return 0;
}

static inline double *by_memory_of(const symancf_term *t, int point, int row)
{
  const int64_t batch = point / LANES * t->cell_rows + t->closest_points->memory + row;
  return t->by_cell + batch * LANES + point % LANES;
}

/* f += factor times the vector y along the place of a point on its own facet. */
static void spread_own(const symancf_closest_points *c, int point, const double *y, const double *factors, double *f)
{
  const int32_t *own = c->element_offset + (int64_t)c->element[point] * c->vectors;
  for (int i = 0; i < c->vectors; i++)
    for (int a = 0; a < 3; a++)
      f[own[i] + a] += c->value[(int64_t)point * c->vectors + i] * y[a] * (factors ? factors[own[i] + a] : 1.0);
}

/* f += sign times the vector y along a place of a facet, N being the values of its functions there. */
static void spread_facet(const symancf_closest_points *c, int facet, const double *N, double sign,
                         const double *y, const double *factors, double *f)
{
  const int32_t *offset = c->offset + (int64_t)facet * c->types.functions;
  for (int i = 0; i < c->types.functions; i++)
    for (int a = 0; a < 3; a++)
      f[offset[i] + a] += sign * N[i] * y[a] * (factors ? factors[offset[i] + a] : 1.0);
}

/* f += the vector h along the change of n at a closest point: the transpose of `turn_of`, `move_normals`. */
static void spread_turn(const symancf_closest_points *c, int facet, const symancf_closest_point *o,
                        const double *M, const double *h, double *f)
{
  double N[4], z[3];
  const int corners = corners_at(c, facet, o->xi, N);
  const double along = dot3(o->n, h);
  for (int a = 0; a < 3; a++) z[a] = (h[a] - along * o->n[a]) / o->length;
  for (int k = 0; k < corners; k++) {
    const int32_t number = c->normal[4 * (int64_t)facet + k];
    for (int32_t j = c->vector_start[number]; j < c->vector_start[number + 1]; j++)
      for (int b = 0; b < 3; b++)
        for (int a = 0; a < 3; a++)
          f[c->turn_offset[j] + b] += N[k] * z[a] * M[9 * (int64_t)j + 3 * a + b];
  }
}

/* f += y . (-dr_m - g dn) at a closest point. */
static void spread_closest(const symancf_closest_points *c, int facet, const double *N,
                           const symancf_closest_point *o, const double *M, const double *y, double *f)
{
  const double h[3] = {-o->g * y[0], -o->g * y[1], -o->g * y[2]};
  spread_facet(c, facet, N, -1.0, y, NULL, f);
  spread_turn(c, facet, o, M, h, f);
}

/* y = sum of weights of xi, eta and perhaps g times rows of S^-1 */
static void weigh(const symancf_closest_point *o, const double *weight, int n, double *y)
{
  y[0] = y[1] = y[2] = 0.0;
  for (int d = 0; d < n; d++)
    for (int a = 0; a < 3; a++) y[a] += weight[d] * o->inverse[d][a];
}

/* The part of a point that does not touch: its closest point, if it has one, moves with the nodes. */
static void pull_open(const symancf_term *t, int point, int k, const symancf_closest_point *o,
                      const double *M, double *f)
{
  const symancf_closest_points *c = t->closest_points;
  double weight[3] = {0.0, 0.0, 0.0}, y[3], N[3 * MOST_MONOMIALS * 2];
  for (int row = 0; row < t->table_rows; row++)
    if (row != c->gap && (c->anchor < 0 || row > 5)) *by_memory_of(t, point, row) += seed_of(t, point, row);
  if (k < 0) return;
  if (c->anchor >= 0) weight[0] = seed_of(t, point, 1), weight[1] = seed_of(t, point, 2);
  if (c->gap >= 0) weight[2] = seed_of(t, point, c->gap);
  const int facet = c->facet[c->facet_start[c->element[point]] + k];
  weights(c, facet, o->xi, N);
  weigh(o, weight, 3, y);
  spread_own(c, point, y, NULL, f);
  spread_closest(c, facet, N, o, M, y, f);
}

/*
 * The part of where the anchor of a point is at the end, `weight` the weights of its xi and eta; those of
 * the shift that the kernel tells are `by_shift`.
 */
static void pull_anchor(const symancf_term *t, const symancf_batch *b, int l, const symancf_next_anchor *next,
                        const double *weight, const double *by_shift, const double *M, double *f)
{
  const symancf_closest_points *c = t->closest_points;
  const symancf_closest_point *o = b->closest + l;
  const int point = b->point[l];
  double y[3], W[3 * MOST_MONOMIALS * 2];
  if (next->how == STAYS) {
    for (int d = 0; d < 2; d++) *by_memory_of(t, point, 1 + d) += weight[d];
    return;
  }
  if (next->how == CLOSEST) {
    weigh(o, weight, 2, y);
  } else { /* the place r_m + shift moves, and then its closest point */
    const double moves[2] = {dot3(by_shift, o->a[0]), dot3(by_shift, o->a[1])};
    const int facet = c->facet[c->facet_start[c->element[point]] + next->place];
    weights(c, facet, next->at.xi, W);
    spread_closest(c, facet, W, &next->at, M, by_shift, f);
    spread_facet(c, b->facet[l], b->N[l], 1.0, by_shift, NULL, f);
    weigh(o, moves, 2, y);
  }
  spread_own(c, point, y, NULL, f);
  spread_closest(c, b->facet[l], b->N[l], o, M, y, f);
}

/*
 * The part of the rate of d, by which s changes by `by_rate`: it follows the rates of the nodes, and the
 * place at which the facet's are taken, d' - a_k' dxi^k.
 */
static void pull_rate(const symancf_assembler *assembler, const symancf_term *t, const symancf_batch *b, int l,
                      const double *by_rate, const double *M, double *f)
{
  const symancf_closest_points *c = t->closest_points;
  const int point = b->point[l], facet = b->facet[l], nf = c->types.functions;
  const double *factors = assembler->rate_factor;
  double moves[2], y[3];
  if (c->rate < 0) return;
  if (factors) {
    spread_own(c, point, by_rate, factors, f);
    spread_facet(c, facet, b->N[l], -1.0, by_rate, factors, f);
  }
  if (!assembler->rate) return;
  for (int d = 0; d < 2; d++) {
    double a[3] = {0.0, 0.0, 0.0};
    combine(nf, b->N[l] + (1 + d) * nf, c->offset + (int64_t)facet * nf, assembler->rate, a);
    moves[d] = -dot3(by_rate, a);
  }
  weigh(b->closest + l, moves, 2, y);
  spread_own(c, point, y, NULL, f);
  spread_closest(c, facet, b->N[l], b->closest + l, M, y, f);
}

/* The part of the anchor at the beginning, `by_t` the derivative by t = r_s - r_a: by xi, eta and nodes. */
static void pull_anchor_before(const symancf_term *t, const symancf_batch *b, int l, const double *r,
                               const double *by_t, double *f)
{
  const symancf_closest_points *c = t->closest_points;
  const int point = b->point[l], facet = b->anchor[l], nf = c->types.functions;
  double xi[2], W[3 * MOST_MONOMIALS * 2];
  if (facet < 0) return;
  anchor_of(t, point, xi);
  weights(c, facet, xi, W);
  spread_own(c, point, by_t, NULL, f);
  spread_facet(c, facet, W, -1.0, by_t, NULL, f);
  for (int d = 0; d < 2; d++) {
    double a[3] = {0.0, 0.0, 0.0};
    combine(nf, W + (1 + d) * nf, c->offset + (int64_t)facet * nf, r, a);
    *by_memory_of(t, point, 1 + d) -= dot3(by_t, a);
  }
}

/* Add the derivatives by parameters and by what a point remembers, of the kernel. */
static void add_by_parameters(const symancf_term *t, const symancf_batch *b, const double *by_cell,
                              const double *by_uniform)
{
  for (int l = 0; l < b->n; l++) {
    const int64_t begin = b->point[l] / LANES * LANES, lane = b->point[l] % LANES;
    for (int k = 0; k < t->uniform_rows; k++)
      t->by_uniform[begin * t->uniform_rows + k * LANES + lane] += by_uniform[k * LANES + l];
    for (int k = 0; k < t->cell_rows; k++)
      t->by_cell[begin * t->cell_rows + k * LANES + lane] += by_cell[k * LANES + l];
  }
}

/* The weights of what the kernel tells of the points of a batch; those of anchors are of the shift. */
static void seeds_of(const symancf_term *t, const symancf_batch *b, const symancf_next_anchor *next, double *seed)
{
  const symancf_closest_points *c = t->closest_points;
  for (int l = 0; l < b->n; l++) {
    double *to = seed + c->memory * LANES + l, y[3] = {0.0, 0.0, 0.0};
    for (int row = 0; row < t->table_rows; row++) to[row * LANES] = seed_of(t, b->point[l], row);
    if (c->anchor < 0) continue;
    const double weight[2] = {to[LANES], to[2 * LANES]};
    if (next[l].how == SLIDES || next[l].how == LEAVES) weigh(&next[l].at, weight, 2, y);
    if (next[l].how == CLOSEST) to[3 * LANES] = 0.0;
    for (int a = 0; a < 3; a++) to[a * LANES] = y[a];
  }
}

/*
 * The points of a batch: positions r, facets of polynomials P, normals with their M. Those whose anchor
 * slides off an edge are counted in c->unknown. Derivatives by an anchor that is not remembered but in
 * c->first stand where it would be remembered.
 */
static int64_t pull_points(const symancf_assembler *assembler, const symancf_term *t, symancf_batch *b,
                           const double *r, const double *v, const double *P,
                           const symancf_normals *normals, const symancf_bound *bounds, double *work, double *f)
{
  const symancf_closest_points *c = t->closest_points;
  const int m = t->jets;
  const int64_t rows = 2 * t->cell_rows + t->uniform_rows;
  double *g = work, *d = g + m * LANES, *by = d + m * LANES;
  symancf_next_anchor next[LANES];
  if (!b->n) return 0;
  double *by_cell = aligned_alloc(64, (size_t)(rows + 1) * LANES * sizeof(double));
  if (!by_cell) return 1;
  double *by_uniform = by_cell + t->cell_rows * LANES, *seed = by_uniform + t->uniform_rows * LANES;
  memset(by_cell, 0, (size_t)rows * LANES * sizeof(double));
  repeat_lanes(t, b);
  jets_of(t, b, r, assembler->rate, NULL, g);
  jets_of(t, b, v, NULL, NULL, d);
  int64_t bad = 0;
  if (c->anchor >= 0) {
    bad += t->update(b->n, t->uniform, b->cell, NULL, g, b->table);
    for (int l = 0; l < b->n; l++) find_next_anchor(t, b, l, P, normals->Q, bounds, next + l);
  }
  seeds_of(t, b, next, seed);
  bad += t->pull(b->n, t->uniform, b->cell, NULL, g, d, seed, by, by_uniform, by_cell);
  disturb(by, (int64_t)m * LANES);
  add_by_parameters(t, b, by_cell, by_uniform);
  for (int l = 0; l < b->n; l++) {
    const int point = b->point[l], facet = b->facet[l];
    double along[9], by_t[3], turn[3], by_rate[3];
    for (int j = 0; j < 9; j++) along[j] = by[j * LANES + l];
    spread(c, point, facet, b->N[l], along, f);
    for (int a = 0; a < 3; a++) turn[a] = by[(c->turn + a) * LANES + l];
    spread_turn(c, facet, b->closest + l, normals->M, turn, f);
    for (int a = 0; a < 3 && c->rate >= 0; a++) by_rate[a] = by[(c->rate + a) * LANES + l];
    pull_rate(assembler, t, b, l, by_rate, normals->M, f);
    if (c->anchor < 0) continue;
    const double weight[2] = {seed_of(t, point, 1), seed_of(t, point, 2)};
    for (int a = 0; a < 3; a++) {
      by_t[a] = by[(c->anchor + a) * LANES + l];
      turn[a] = seed[(c->memory + a) * LANES + l];
    }
    *c->unknown += next[l].how == LEAVES && (weight[0] != 0.0 || weight[1] != 0.0);
    pull_anchor(t, b, l, next + l, weight, turn, normals->M, f);
    pull_anchor_before(t, b, l, r, by_t, f);
  }
  free(by_cell);
  return bad;
}

#endif
