/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A term on points and the facets opposite: before each evaluation the closest point of each point is found
 * among the candidates of its contact element; those within reach of the law are evaluated, 8 at a time.
 *
 * With xi, eta, g the closest point of r_s = r_m + g n the jets are d = r_s - r_m, the tangents a_1 and a_2,
 * where the law asks for it t = r_s - r_a, r_a the anchor that the point remembers, the change of n
 * where xi and eta stay (normals.h), 0 at the present positions, and the rate of d; all combinations
 * of positions, their coefficients numbers. What the closest point depends on
 * them by stands in rows of the point's parameters: S^-1 (9), n, n_1, n_2 (9), g; see closest_point.h. Then
 * come the share with which the point counts and its derivatives by xi, eta and g, see `share_of`.
 *
 * A point with friction remembers its anchor, (facet + 1, xi, eta) by the global number of the
 * facet, 0: none; how it slipped in the last step; and its status, -1 open, 0 stick, 1 slip. Its
 * kernel tells in place of the anchor the shift from r_m to where it shall be.
 */
#ifndef SYMANCF_CLOSEST_POINTS_H
#define SYMANCF_CLOSEST_POINTS_H

#include "linearized.h"
#include "pull_points.h"
#include "roundoff.h"

#include <stdlib.h>

/* Where what a point remembers is written. */
static inline double *memory_of(const symancf_term *t, int point)
{
  return t->table + (int64_t)(point / LANES) * t->table_rows * LANES + point % LANES;
}

/* Write an anchor: at a place of facet k of the point's contact element, or nowhere (k < 0). */
static void put_anchor(const symancf_term *t, int point, int k, const double *xi)
{
  const symancf_closest_points *c = t->closest_points;
  double *to = memory_of(t, point);
  to[0] = k < 0 ? 0.0 : 1.0 + c->number[c->facet[c->facet_start[c->element[point]] + k]];
  to[LANES] = k < 0 ? 0.0 : xi[0];
  to[2 * LANES] = k < 0 ? 0.0 : xi[1];
}

/* What a point remembers that does not touch: its closest point on facet k of its contact element, if there is one. */
static void open_point(const symancf_term *t, int point, int k, const symancf_closest_point *o, int what)
{
  const symancf_closest_points *c = t->closest_points;
  double *to = memory_of(t, point);
  for (int row = 0; row < t->table_rows; row++)
    to[row * LANES] = what == UPDATE ? of_point(t->cell, t->cell_rows, point, c->memory + row) : 0.0;
  if (c->gap >= 0) to[c->gap * LANES] = k < 0 ? 0.0 : o->g;
  if (c->anchor < 0) return;
  put_anchor(t, point, k, o->xi);
  to[3 * LANES] = 0.0;
  to[4 * LANES] = -1.0;
  to[5 * LANES] = 0.0;
}

/* What a point remembers of which the kernel has told. */
static void remember(const symancf_term *t, const symancf_batch *b, int lane, const double *P,
                     const double *Q, const symancf_bound *bounds)
{
  const symancf_closest_points *c = t->closest_points;
  const int point = b->point[lane];
  double *to = memory_of(t, point);
  for (int row = 0; row < t->table_rows; row++) to[row * LANES] = b->table[row * LANES + lane];
  if (c->anchor < 0) return;
  symancf_next_anchor next;
  find_next_anchor(t, b, lane, P, Q, bounds, &next);
  if (next.how == STAYS) {
    double before[2];
    to[0] = anchor_of(t, point, before), to[LANES] = before[0], to[2 * LANES] = before[1];
    return;
  }
  put_anchor(t, point, next.place, next.at.xi);
  if (next.how == CLOSEST) to[3 * LANES] = 0.0;
}

/* Evaluate a batch of points; `v` in directions: of positions, `w` of their rates. */
static int64_t flush(const symancf_assembler *assembler, const symancf_term *t, int what, const double *x,
                     const double *v, const double *w, double *f, double *energies, double *work,
                     int32_t *cleared, symancf_normals *normals, const symancf_room *room, symancf_batch *b)
{
  const symancf_closest_points *c = t->closest_points;
  const int n = b->n, m = t->jets;
  double *g = work, *d = g + m * LANES, *P = d + m * LANES, *H = P + m * LANES;
  int64_t bad = 0;
  if (!n) return 0;
  repeat_lanes(t, b);
  jets_of(t, b, x, assembler->rate, NULL, g);
  if (what == LINEARIZE) return keep(t, b, g, P, H);
  if (tabulates(what)) return function_of(t, what)(n, t->uniform, b->cell, NULL, g, b->table);
  if (what == ENERGY) {
    bad = t->energy(n, t->uniform, b->cell, NULL, g, P);
    disturb(P, LANES);
    for (int l = 0; l < n; l++)
      if (t->owned[b->point[l]]) energies[t->form[0]] += P[l];
    return bad;
  }
  if (what == PRODUCT) {
    jets_of(t, b, v, w, normals->dm, d);
    bad = t->product(n, t->uniform, b->cell, NULL, g, d, P);
    disturb(P, (int64_t)m * LANES);
  } else if (what == PARAMETER) {
    const double *rate = t->cell_rate ? b->cell_rate : NULL;
    bad = t->parameter(n, t->uniform, b->cell, NULL, g, t->uniform_rate, rate, P);
    disturb(P, (int64_t)m * LANES);
  } else if (what == TANGENT && t->has_tangent) {
    bad = t->tangent(n, t->uniform, b->cell, NULL, g, P, H);
    disturb(P, (int64_t)m * LANES);
    disturb(H, (int64_t)m * m * LANES);
    add_blocks(assembler, t, b, P, H, normals, room, cleared);
  } else {
    bad = t->residual(n, t->uniform, b->cell, NULL, g, P);
    disturb(P, (int64_t)m * LANES);
  }
  for (int l = 0; l < n; l++) {
    double force[9];
    for (int j = 0; j < 9; j++) force[j] = P[j * LANES + l];
    spread(c, b->point[l], b->facet[l], b->N[l], force, f);
  }
  return bad;
}

/* Local vector of positions, where closest points need them. */
static void positions(const symancf_assembler *assembler, const symancf_closest_points *c,
                      const double *x, double *r)
{
  for (int64_t k = 0; k < (int64_t)c->facets * c->types.functions; k++)
    for (int a = 0; a < 3; a++)
      r[c->offset[k] + a] = assembler->reference[c->offset[k] + a] + x[c->offset[k] + a];
  for (int64_t k = 0; k < (int64_t)c->elements * c->vectors; k++)
    for (int a = 0; a < 3; a++)
      r[c->element_offset[k] + a] = assembler->reference[c->element_offset[k] + a] + x[c->element_offset[k] + a];
}

/* A bound of the rates of gaps. */
static double fastest(const symancf_assembler *assembler, const symancf_closest_points *c)
{
  double most[2] = {0.0, 0.0};
  if (!assembler->rate) return 0.0;
  for (int64_t k = 0; k < (int64_t)c->facets * c->types.functions; k++)
    most[0] = fmax(most[0], dot3(assembler->rate + c->offset[k], assembler->rate + c->offset[k]));
  for (int64_t k = 0; k < (int64_t)c->elements * c->vectors; k++)
    most[1] = fmax(most[1],
                   dot3(assembler->rate + c->element_offset[k], assembler->rate + c->element_offset[k]));
  return 2.0 * (sqrt(most[0]) + sqrt(most[1]));
}

static int64_t closest_points(const symancf_assembler *assembler, const symancf_term *t, int what,
                              const double *x, const double *v, double *f, double *energies, double *work, int32_t *cleared)
{
  const symancf_closest_points *c = t->closest_points;
  const int m = 3 * c->types.monomials, turns = what == PRODUCT && assembler->rate_factor;
  const int64_t rows = t->cell_rows + t->table_rows + 1;
  int64_t bad = 0;
  const int64_t reals = (int64_t)c->facets * m + 3 * rows * LANES + 64;
  double *r = malloc((size_t)assembler->coordinates * (turns ? 2 : 1) * sizeof(double));
  double *P = aligned_alloc(64, ((size_t)reals * sizeof(double) + 63) / 64 * 64), *w = NULL;
  symancf_bound *bounds = malloc((size_t)(c->facets + 1) * sizeof *bounds);
  symancf_batch *b = calloc(1, sizeof *b);
  symancf_normals normals;
  symancf_room room = {0};
  const int derived = what == TANGENT || what == PRODUCT || what == LINEARIZE || what == PULL;
  if (!make_normals(c, derived, &normals) || !r || !P || !bounds || !b ||
      (what == TANGENT && !make_room(assembler, t, &room))) {
    free(r), free(P), free(bounds), free(b), forget_normals(&normals), forget_room(&room);
    return -1;
  }
  b->cell = P + ((int64_t)c->facets * m + 7) / 8 * 8;
  b->cell_rate = b->cell + t->cell_rows * LANES;
  b->table = b->cell_rate + t->cell_rows * LANES;
  if (turns) {
    w = r + assembler->coordinates;
    for (int32_t k = 0; k < assembler->coordinates; k++) w[k] = assembler->rate_factor[k] * v[k];
  }
  positions(assembler, c, x, r);
  find_normals(c, r, &normals);
  if (derived) turn_normals(c, r, &normals);
  if (what == PRODUCT) move_normals(c, normals.M, v, normals.dm);
  if (what == LINEARIZE)
    memcpy(t->linearized->turn, normals.M, (size_t)c->vector_start[c->normals] * 9 * sizeof(double));
  const double reach = c->reach + fabs(t->uniform[c->damping] * t->uniform[c->span]) * fastest(assembler, c);
  for (int k = 0; k < c->facets; k++) {
    coefficients_of(c, k, r, P + (int64_t)k * m);
    bound(basis_of(&c->types, k), P + (int64_t)k * m, normals.Q + 12 * (int64_t)k, bounds + k);
  }
  for (int point = 0; point <= t->n; point++) {
    if (point == t->n || b->n == LANES) {
      if (what == PULL)
        bad += pull_points(assembler, t, b, r, v, P, &normals, bounds, work, f);
      else
        bad += flush(assembler, t, what, r, v, w, f, energies, work, cleared, &normals, &room, b);
      for (int l = 0; l < b->n && tabulates(what); l++) {
        if (what == UPDATE) {
          remember(t, b, l, P, normals.Q, bounds);
          continue;
        }
        double *to = memory_of(t, b->point[l]);
        for (int row = 0; row < t->table_rows; row++) to[row * LANES] = b->table[row * LANES + l];
      }
      b->n = 0;
      if (point == t->n) break;
    }
    const int element = c->element[point];
    double y[3] = {0.0, 0.0, 0.0};
    symancf_closest_point o;
    for (int i = 0; i < c->vectors; i++)
      for (int a = 0; a < 3; a++)
        y[a] += c->value[(int64_t)point * c->vectors + i] * r[c->element_offset[element * c->vectors + i] + a];
    const int far = tabulates(what) || (what == PULL && is_seeded(t, point));
    const int k = nearest(c, element, P, normals.Q, bounds, y, far ? HUGE_VAL : reach, &o);
    if (k >= 0 && what != INITIAL && (what == OUTPUTS || o.g <= reach)) {
      take(t, b, point, k, &o);
    } else if (what == PULL) {
      if (far) pull_open(t, point, k, &o, normals.M, f);
    } else if (what == UPDATE || what == INITIAL) {
      open_point(t, point, k, &o, what);
    } else if (what == OUTPUTS) { /* nothing is opposite */
      for (int row = 0; row < t->table_rows; row++) memory_of(t, point)[row * LANES] = NAN;
    }
  }
  free(r), free(P), free(bounds), free(b), forget_normals(&normals), forget_room(&room);
  return bad;
}

/*
 * Closest points on facets, pair by pair: place [n][2] and gap [n], NaN where there is none within
 * `beyond` of the facet. `facet` [n] numbers of P [][monomials][3] and Q [][4][3].
 */
void symancf_closest_points_of(const symancf_types *t, const double *P, const double *Q, int64_t n,
                               const int32_t *facet, const double *r, double beyond, double *xi, double *g)
{
  for (int64_t k = 0; k < n; k++) {
    symancf_closest_point o;
    const int64_t f = facet[k];
    if (find_closest_point(basis_of(t, f), P + 3 * f * t->monomials, Q + 12 * f, r + 3 * k, beyond, &o)) {
      xi[2 * k] = o.xi[0], xi[2 * k + 1] = o.xi[1];
      g[k] = o.g;
    } else {
      xi[2 * k] = xi[2 * k + 1] = g[k] = NAN;
    }
  }
}

/* p at places xi [n][2] of facets with the bits `rim` [n]. */
void symancf_inner(const symancf_basis *s, int64_t n, const int32_t *rim, const double *xi, double *p)
{
  for (int64_t k = 0; k < n; k++) {
    double found[3];
    inner(s, rim[k], xi + 2 * k, found);
    p[k] = found[0];
  }
}

#endif
