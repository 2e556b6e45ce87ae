/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The closest point on a facet: r = r_m(xi, eta) + g n(xi, eta), n = m/|m| the unit vector along
 * the interpolated normals of the corners, which are given. Facets and normals are polynomials:
 * r_m = sum_k P_k xi^a eta^b, m = N_0 + N_1 xi + N_2 eta + N_3 xi eta.
 */
#ifndef SYMANCF_CLOSEST_POINT_H
#define SYMANCF_CLOSEST_POINT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define MOST_POWERS 5     /* powers of a parameter in a polynomial, 1 included */
#define MOST_MONOMIALS 16
#define CONVERGED 1e-10   /* step in the parameters: what laws make of it is exact to its square */
#define INSIDE 1e-9       /* beyond an edge */
#define LEAST 1e-9        /* share of a point whose closest point is on a free edge: forces begin at nothing */
#define STEEP 8.0         /* times as deep as far from a free edge: a point counts little */
#define BEHIND 0.5        /* of a cell: deeper a point is not in a facet but behind it, and counts less */
#define GONE 1.0          /* where it does not count at all */

typedef struct {
  int32_t functions, monomials, vertices, corners, slopes; /* slopes that a facet's maps turn */
  int32_t bilinear; /* whether the monomials are 1, xi, eta, xi eta, the functions those of 4 corners */
  const int32_t *exponents;   /* [monomials][2] */
  const double *coefficients; /* [monomials][functions] */
} symancf_basis;

/* Those of facets of several types: what is stored of a facet has the room that the largest needs. */
typedef struct {
  const symancf_basis *basis; /* of each type */
  const int32_t *type;        /* [facets] */
  int32_t functions, monomials, vertices, corners, slopes; /* the most of all types */
} symancf_types;

static inline const symancf_basis *basis_of(const symancf_types *t, int64_t facet)
{
  return t->basis + t->type[facet];
}

typedef struct {
  double xi[2], g, r[3], a[2][3]; /* place on the facet, gap, r_m and its derivatives */
  double n[3], dn[2][3], length;  /* n and its derivatives, |m| */
  double inverse[3][3];           /* of [a_1 + g n_1 | a_2 + g n_2 | n] */
} symancf_closest_point;

static inline double dot3(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross3(const double *a, const double *b, double *c)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Monomials at a place, and their derivatives: [3][monomials]. */
static inline void monomials(const symancf_basis *s, const double *xi, double m[3][MOST_MONOMIALS])
{
  double p[2][MOST_POWERS];
  for (int d = 0; d < 2; d++) {
    p[d][0] = 1.0;
    for (int k = 1; k < MOST_POWERS; k++) p[d][k] = p[d][k - 1] * xi[d];
  }
  for (int k = 0; k < s->monomials; k++) {
    const int a = s->exponents[2 * k], b = s->exponents[2 * k + 1];
    m[0][k] = p[0][a] * p[1][b];
    m[1][k] = a ? a * p[0][a - 1] * p[1][b] : 0.0;
    m[2][k] = b ? b * p[0][a] * p[1][b - 1] : 0.0;
  }
}

/* The functions of a facet at a place, and their derivatives: [3][functions]. */
static inline void functions(const symancf_basis *s, const double *xi, double *N)
{
  if (s->bilinear) {
    const double x = xi[0], y = xi[1];
    const double all[12] = {(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y, y - 1, 1 - y, y, -y,
                            x - 1, -x, x, 1 - x};
    memcpy(N, all, sizeof all);
    return;
  }
  double m[3][MOST_MONOMIALS];
  monomials(s, xi, m);
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < s->functions; i++) {
      double sum = 0.0;
      for (int k = 0; k < s->monomials; k++) sum += m[d][k] * s->coefficients[k * s->functions + i];
      N[d * s->functions + i] = sum;
    }
}

/* 1, xi, eta, xi eta of 3-vectors C[4], and their derivatives. */
static inline void bilinear(const double *C, const double *xi, double *r, double *along, double *across)
{
  for (int a = 0; a < 3; a++) {
    along[a] = C[3 + a] + C[9 + a] * xi[1];
    across[a] = C[6 + a] + C[9 + a] * xi[0];
    r[a] = C[a] + C[3 + a] * xi[0] + across[a] * xi[1];
  }
}

/* r_m, n and their derivatives at o->xi; 0 where there is no normal. */
static inline int place_closest_point(const symancf_basis *s, const double *P, const double *Q,
                                      symancf_closest_point *o)
{
  double v[3], d[2][3];
  if (s->bilinear) {
    bilinear(P, o->xi, o->r, o->a[0], o->a[1]);
  } else {
    double m[3][MOST_MONOMIALS];
    monomials(s, o->xi, m);
    for (int a = 0; a < 3; a++) o->r[a] = o->a[0][a] = o->a[1][a] = 0.0;
    for (int k = 0; k < s->monomials; k++)
      for (int a = 0; a < 3; a++) {
        o->r[a] += m[0][k] * P[3 * k + a];
        o->a[0][a] += m[1][k] * P[3 * k + a];
        o->a[1][a] += m[2][k] * P[3 * k + a];
      }
  }
  bilinear(Q, o->xi, v, d[0], d[1]);
  const double length = sqrt(dot3(v, v));
  o->length = length;
  if (!(length > 0.0)) return 0;
  for (int a = 0; a < 3; a++) o->n[a] = v[a] / length;
  for (int k = 0; k < 2; k++) {
    const double along = dot3(o->n, d[k]);
    for (int a = 0; a < 3; a++) o->dn[k][a] = (d[k][a] - along * o->n[a]) / length;
  }
  return 1;
}

/* The inverse at a closest point with the gap o->g; 0 where facet and normals have no volume. */
static inline int invert(symancf_closest_point *o)
{
  double column[2][3], c[3];
  for (int k = 0; k < 2; k++)
    for (int a = 0; a < 3; a++) column[k][a] = o->a[k][a] + o->g * o->dn[k][a];
  cross3(column[0], column[1], c);
  const double det = dot3(c, o->n), least = 1e-12 * dot3(o->a[0], o->a[0]) * dot3(o->a[1], o->a[1]);
  if (!(det > 0.0 && det * det > least)) return 0;
  cross3(column[1], o->n, o->inverse[0]);
  cross3(o->n, column[0], o->inverse[1]);
  const double scale = 1.0 / det;
  for (int a = 0; a < 3; a++) {
    o->inverse[0][a] *= scale;
    o->inverse[1][a] *= scale;
    o->inverse[2][a] = c[a] * scale;
  }
  return 1;
}

/* What a closest point at o->xi with the gap o->g is made of; 0 where facet and normals have no volume. */
static inline int at_closest_point(const symancf_basis *s, const double *P, const double *Q,
                                   symancf_closest_point *o)
{
  return place_closest_point(s, P, Q, o) && invert(o);
}

/* How far a place is outside of the facet, in its parameters. */
static inline double outside(const symancf_basis *s, const double *xi)
{
  const double low = fmax(-xi[0], -xi[1]);
  return fmax(low, s->corners == 3 ? xi[0] + xi[1] - 1.0 : fmax(xi[0], xi[1]) - 1.0);
}

/*
 * (1/x^4 + 1/y^4 - less)^(-1/4) of two numbers from 0 to 1, about the lower one, and its derivatives by
 * them: 0 where one is 0; with less = 1 it is x where y = 1.
 */
static inline double lower(double x, double y, double less, double slope[2])
{
  const double a = x * x * x * x, b = y * y * y * y, all = a + b - less * a * b;
  slope[0] = slope[1] = 0.0;
  if (!(x > 0.0 && y > 0.0)) return 0.0;
  const double found = x * y / sqrt(sqrt(all));
  slope[0] = found * b / (x * all);
  slope[1] = found * a / (y * all);
  return found;
}

/*
 * p at a place and its derivatives: 1 at corners within a side and 0 on its free edges, continuous on
 * the side. It is the sum of the functions of the corners that are not on a free edge (the rim) and,
 * where both ends of an edge between two facets are on one, of a bump along it; a bubble where all
 * edges are free. Near to a corner of the side it grows with the distance from the nearer edge,
 * whatever the facets there are: it is compared with that of the facets opposite. Bits of `rim`: c
 * where the edge from corner c to c + 1 is free, 4 + c where corner c is on the rim, 8 + c where the
 * edge is between two quadrilaterals, as in strips that are one facet wide: its bump is 1 high.
 */
static void inner(const symancf_basis *s, int rim, const double *xi, double found[3])
{
  const int n = s->corners;
  const double x = xi[0], y = xi[1];
  const double tri[3][3] = {{1.0 - x - y, -1, -1}, {x, 1, 0}, {y, 0, 1}};
  const double quad[4][3] = {{(1 - x) * (1 - y), y - 1, x - 1},
                             {x * (1 - y), 1 - y, -x},
                             {x * y, y, x},
                             {(1 - x) * y, -y, 1 - x}};
  const double(*N)[3] = n == 3 ? tri : quad;
  double p = 0.0, dp[2] = {0.0, 0.0}, slope[2];
  int within = 0;
  for (int c = 0; c < n; c++) within += !(rim >> (4 + c) & 1);
  for (int c = 0; c < n; c++) {
    const int next = (c + 1) % n;
    if (!(rim >> (4 + c) & 1)) {
      if (n == 4 && within == 1) { /* as near as to the nearer of two edges */
        const int right = c == 1 || c == 2, up = c >= 2;
        p += lower(right ? x : 1.0 - x, up ? y : 1.0 - y, 1.0, slope);
        dp[0] += right ? slope[0] : -slope[0];
        dp[1] += up ? slope[1] : -slope[1];
        continue;
      }
      p += N[c][0];
      for (int d = 0; d < 2; d++) dp[d] += N[c][1 + d];
    } else if (!(rim >> c & 1) && rim >> (4 + next) & 1) {
      if (n == 3) {
        p += lower(N[c][0], N[next][0], 0.0, slope);
        for (int d = 0; d < 2; d++) dp[d] += slope[0] * N[c][1 + d] + slope[1] * N[next][1 + d];
      } else { /* along the edge, and how near it is */
        const int along = c % 2, wide = rim >> (8 + c) & 1;
        const double u = xi[along], near = c == 0 || c == 3 ? 1.0 - xi[1 - along] : xi[1 - along];
        const double bump = wide ? 4.0 * u * (1.0 - u) : lower(u, 1.0 - u, 0.0, slope);
        p += bump * near;
        dp[along] += (wide ? 4.0 * (1.0 - 2.0 * u) : slope[0] - slope[1]) * near;
        dp[1 - along] += c == 0 || c == 3 ? -bump : bump;
      }
    }
  }
  const int every = (1 << n) - 1;
  if ((rim & every) == every) {
    const double a = n == 3 ? 27.0 * N[0][0] : 16.0 * (1.0 - x) * (1.0 - y);
    p = a * x * y;
    dp[0] = n == 3 ? (a - 27.0 * x) * y : 16.0 * (1.0 - 2.0 * x) * y * (1.0 - y);
    dp[1] = n == 3 ? (a - 27.0 * y) * x : 16.0 * (1.0 - 2.0 * y) * x * (1.0 - x);
  }
  found[0] = fmin(fmax(p, 0.0), 1.0);
  for (int d = 0; d < 2; d++) found[1 + d] = p > 0.0 && p < 1.0 ? dp[d] : 0.0;
}

/*
 * chi and its derivatives by p and `sunk`, the depth in parts of the facet's width: with
 * e = p^2/(p + (1 - p) STEEP sunk), chi = e^2 (3 - 2 e). It is 1 within a side and 0 on its free edges;
 * near to these it is less where points lie deep, as those do that have come in beside the side.
 */
static inline void fade(double p, double sunk, double chi[3])
{
  const double k = STEEP * sunk, all = p + (1.0 - p) * k;
  chi[0] = chi[1] = chi[2] = 0.0;
  if (!(p > 0.0)) return;
  const double e = p * p / all, slope = 6.0 * e * (1.0 - e) * p / (all * all);
  chi[0] = e * e * (3.0 - 2.0 * e);
  chi[1] = slope * (p + (2.0 - p) * k);
  chi[2] = -slope * p * (1.0 - p) * STEEP;
}

/* The part with which a point at the gap g counts that may be behind a facet, and its derivative by g. */
static inline void behind(double g, double size, double part[2])
{
  const double s = fmin(fmax((-g / size - BEHIND) / (GONE - BEHIND), 0.0), 1.0);
  part[0] = 1.0 - s * s * (3.0 - 2.0 * s);
  part[1] = 6.0 * s * (1.0 - s) / ((GONE - BEHIND) * size);
}

/*
 * Find the closest point of r by Newton's method from the centre; 0: there is none within `beyond` of the
 * facet. It is exact but for the last step, which is below CONVERGED.
 */
static int find_closest_point(const symancf_basis *s, const double *P, const double *Q, const double *r,
                              double beyond, symancf_closest_point *o)
{
  const double wide = beyond + 0.5;
  o->xi[0] = o->xi[1] = s->corners == 3 ? 1.0 / 3.0 : 0.5;
  o->g = 0.0;
  for (int iteration = 0; iteration < 25; iteration++) {
    double e[3], step[2];
    if (!place_closest_point(s, P, Q, o)) return 0;
    for (int a = 0; a < 3; a++) e[a] = r[a] - o->r[a];
    if (!iteration) { /* the gap at the centre first: it may be larger than the facet */
      if (!invert(o)) return 0;
      o->g = dot3(e, o->n);
    }
    if (!invert(o)) return 0;
    for (int a = 0; a < 3; a++) e[a] -= o->g * o->n[a];
    step[0] = dot3(o->inverse[0], e);
    step[1] = dot3(o->inverse[1], e);
    const double size = fmax(fabs(step[0]), fabs(step[1]));
    if (size < CONVERGED) return outside(s, o->xi) <= beyond;
    if (!(size < 1e6)) return 0;
    const double part = size > 0.75 ? 0.75 / size : 1.0;
    o->xi[0] += part * step[0];
    o->xi[1] += part * step[1];
    o->g += part * dot3(o->inverse[2], e);
    if (iteration > 1 && outside(s, o->xi) > wide) return 0;
  }
  return 0;
}

#endif
