/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where cells of solids meet parts of curves.  A cell is the polynomial X(xi) = sum_m c[m] x^e[m] of
 * its nodes, with x = start + width xi and xi in the reference cell of side 1; beside it stands its
 * linear map at the centre, xi = inverse X + zero.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST 32 /* nodes of a cell, and monomials */

/* Cells of one type; see `CellMaps` in cell_maps.py. */
typedef struct {
  int64_t cells, nodes, corners, simplices; /* of factors: lines, triangles, tetrahedra */
  double start, width, digits, affine;
  const int32_t *exponents, *factors; /* [nodes][3], [simplices] */
  const double *coefficients;         /* [nodes][nodes], of monomials by nodes */
  const double *value, *slope, *unit; /* at the centre [nodes], [nodes][3]; of nodes [nodes][3] */
  const double *X;                    /* [cells][nodes][3] */
  double *inverse, *zero, *off;       /* [cells][3][3], [cells][3], [cells] */
} CellMaps;

/* The polynomial of the cell that was asked for last. */
typedef struct {
  int64_t row;
  double c[MOST][3];
} Polynomial;

static double determinant(const double a[9], double minors[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int p = (j + 1) % 3, q = (j + 2) % 3, r = (i + 1) % 3, s = (i + 2) % 3;
      minors[3 * i + j] = a[3 * p + r] * a[3 * q + s] - a[3 * p + s] * a[3 * q + r];
    }
  return a[0] * minors[0] + a[3] * minors[1] + a[6] * minors[2];
}

static void times(const double a[9], double factor, const double b[3], double x[3])
{
  for (int i = 0; i < 3; i++) x[i] = (a[3 * i] * b[0] + a[3 * i + 1] * b[1] + a[3 * i + 2] * b[2]) * factor;
}

/* xi by the map at the centre of a cell. */
static void guess(const CellMaps *m, int64_t row, const double X[3], double xi[3])
{
  times(m->inverse + 9 * row, 1.0, X, xi);
  for (int k = 0; k < 3; k++) xi[k] += m->zero[3 * row + k];
}

/* Fill the linear maps, and how far the nodes are from where those put them. */
void symancf_linear_maps(CellMaps *m)
{
  for (int64_t row = 0; row < m->cells; row++) {
    const double *X = m->X + 3 * m->nodes * row;
    double x[3] = {0}, J[9] = {0}, minors[9], off = 0.0, *inverse = m->inverse + 9 * row;
    for (int64_t v = 0; v < m->nodes; v++)
      for (int a = 0; a < 3; a++) {
        x[a] += m->value[v] * X[3 * v + a];
        for (int d = 0; d < 3; d++) J[3 * a + d] += m->slope[3 * v + d] * X[3 * v + a];
      }
    const double one = 1.0 / determinant(J, minors);
    int finite = 1;
    for (int k = 0; k < 9; k++) finite &= isfinite(inverse[k] = minors[k] * one) != 0;
    if (!finite) memset(inverse, 0, 9 * sizeof *inverse);
    double centre[3] = {0}, shift[3];
    for (int64_t v = 0; v < m->nodes; v++)
      for (int d = 0; d < 3; d++) centre[d] += m->value[v] * m->unit[3 * v + d];
    times(inverse, 1.0, x, shift);
    for (int d = 0; d < 3; d++) m->zero[3 * row + d] = centre[d] - shift[d];
    for (int64_t v = 0; v < m->nodes; v++) {
      double from[3], xi[3];
      for (int a = 0; a < 3; a++) from[a] = X[3 * v + a] - x[a];
      times(inverse, 1.0, from, xi);
      for (int d = 0; d < 3; d++) off = fmax(off, fabs(xi[d] + centre[d] - m->unit[3 * v + d]));
    }
    m->off[row] = m->nodes > m->corners ? 2.0 * off : off;
  }
}

/* Whether a part between two places may meet a cell, whose ends are both beyond one face of others. */
static int meets(const CellMaps *m, int64_t row, const double low[3], const double high[3], double sag,
                 double near)
{
  const double *inverse = m->inverse + 9 * row;
  double norm = 0.0, a[3], b[3];
  for (int k = 0; k < 9; k++) norm += inverse[k] * inverse[k];
  const double room = -(m->off[row] + sag * sqrt(norm) + near);
  guess(m, row, low, a);
  guess(m, row, high, b);
  for (int64_t f = 0, k = 0; f < m->simplices; f++) {
    double p = 0.0, q = 0.0;
    for (int32_t d = 0; d < m->factors[f]; d++, k++) {
      if (!(fmax(a[k], b[k]) >= room)) return 0;
      p += a[k], q += b[k];
    }
    if (!((1.0 - fmin(p, q)) / m->factors[f] >= room)) return 0;
  }
  return 1;
}

/* Tell which of n parts may meet the cells rows[n]. */
void symancf_meet(const CellMaps *m, int64_t n, const int64_t *rows, const double *low, const double *high,
                  const double *sag, double near, uint8_t *met)
{
  for (int64_t i = 0; i < n; i++) met[i] = (uint8_t)meets(m, rows[i], low + 3 * i, high + 3 * i, sag[i], near);
}

/* Bins of boxes: those of a box are first[k] <= bin < last[k] along each axis. */
typedef struct {
  double from[3], size[3];
  int64_t count[3];
} Bins;

static void bins_of(const Bins *bins, const double low[3], const double high[3], int64_t first[3], int64_t last[3])
{
  for (int k = 0; k < 3; k++) {
    const double a = (low[k] - bins->from[k]) / bins->size[k], b = (high[k] - bins->from[k]) / bins->size[k];
    const double most = (double)bins->count[k];
    first[k] = a > 0.0 ? (int64_t)fmin(a, most) : 0;
    last[k] = b >= 0.0 ? (int64_t)fmin(b + 1.0, most) : 0;
  }
}

#define EACH_BIN(first, last)                                                                                 \
  for (int64_t x = first[0]; x < last[0]; x++)                                                                \
    for (int64_t y = first[1]; y < last[1]; y++)                                                              \
      for (int64_t z = first[2]; z < last[2]; z++)

#define BIN ((x * bins.count[1] + y) * bins.count[2] + z)

/*
 * Find the pairs of cells and of n parts that may meet, by cells.  boxes[cells][2][3] hold the cells;
 * box[2][3] holds all parts, and `side` is the wanted length of bins.  Return the number of pairs, of which
 * the first `room` are in rows and parts; -1: there is no memory.
 */
int64_t symancf_meeting(const CellMaps *m, const double *boxes, int64_t n, const double *low, const double *high,
                        const double *sag, const double *box, double side, double near, int64_t room,
                        int64_t *rows, int64_t *parts)
{
  Bins bins;
  int64_t first[3], last[3], found = 0, total = 1;
  for (;; side *= 1.3, total = 1) {
    for (int k = 0; k < 3; k++) {
      const double length = box[3 + k] - box[k];
      bins.from[k] = box[k];
      bins.count[k] = 1 + (int64_t)fmin(length / side, 1e6);
      bins.size[k] = length > 0.0 ? length / (double)bins.count[k] * (1.0 + 1e-12) : 1.0;
    }
    const double every = (double)bins.count[0] * (double)bins.count[1] * (double)bins.count[2];
    if (every <= 4.0 * (double)(m->cells + n) + 8.0) {
      total = (int64_t)every;
      break;
    }
  }
  int64_t *start = calloc((size_t)total + 2, sizeof *start), *seen = malloc(((size_t)n + 1) * sizeof *seen);
  int64_t *held = NULL;
  if (start && seen) {
    for (int fill = 0; fill < 2; fill++) {
      for (int64_t i = 0; i < n; i++) {
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
          a[k] = fmin(low[3 * i + k], high[3 * i + k]) - sag[i];
          b[k] = fmax(low[3 * i + k], high[3 * i + k]) + sag[i];
        }
        bins_of(&bins, a, b, first, last);
        EACH_BIN(first, last) if (fill) held[start[BIN + 1]++] = i;
        else start[BIN + 2]++;
      }
      if (fill) break;
      for (int64_t k = 2; k < total + 2; k++) start[k] += start[k - 1];
      held = malloc(((size_t)start[total + 1] + 1) * sizeof *held);
      if (!held) break;
    }
  }
  if (held) {
    for (int64_t i = 0; i < n; i++) seen[i] = -1;
    for (int64_t row = 0; row < m->cells; row++) {
      const double *from = boxes + 6 * row, *to = from + 3;
      bins_of(&bins, from, to, first, last);
      EACH_BIN(first, last)
      for (int64_t k = start[BIN]; k < start[BIN + 1]; k++) {
        const int64_t i = held[k];
        if (seen[i] == row) continue;
        seen[i] = row;
        int apart = 0;
        for (int d = 0; d < 3; d++)
          apart |= fmax(low[3 * i + d], high[3 * i + d]) + sag[i] < from[d] ||
                   fmin(low[3 * i + d], high[3 * i + d]) - sag[i] > to[d];
        if (apart || !meets(m, row, low + 3 * i, high + 3 * i, sag[i], near)) continue;
        if (found < room) rows[found] = row, parts[found] = i;
        found++;
      }
    }
  } else
    found = -1;
  free(start), free(seen), free(held);
  return found;
}

/* The polynomial of a cell. */
static void polynomial(const CellMaps *m, int64_t row, Polynomial *p)
{
  if (p->row == row) return;
  const double *X = m->X + 3 * m->nodes * row;
  memset(p->c, 0, sizeof p->c);
  for (int64_t e = 0; e < m->nodes; e++)
    for (int64_t v = 0; v < m->nodes; v++) {
      const double c = m->coefficients[m->nodes * e + v];
      if (c != 0.0)
        for (int a = 0; a < 3; a++) p->c[e][a] += c * X[3 * v + a];
    }
  p->row = row;
}

/* X(xi) and its derivatives A[3][3] by xi. */
static void evaluate(const CellMaps *m, const Polynomial *p, const double xi[3], double X[3], double A[9])
{
  double power[3][4], slope[3][4];
  for (int k = 0; k < 3; k++) {
    const double x = m->start + m->width * xi[k];
    power[k][0] = 1.0, slope[k][0] = 0.0;
    for (int e = 1; e < 4; e++) power[k][e] = power[k][e - 1] * x, slope[k][e] = m->width * e * power[k][e - 1];
  }
  memset(X, 0, 3 * sizeof *X);
  memset(A, 0, 9 * sizeof *A);
  for (int64_t e = 0; e < m->nodes; e++) {
    const int32_t *at = m->exponents + 3 * e;
    const double x = power[0][at[0]], y = power[1][at[1]], z = power[2][at[2]];
    const double w[4] = {x * y * z, slope[0][at[0]] * y * z, x * slope[1][at[1]] * z, x * y * slope[2][at[2]]};
    for (int a = 0; a < 3; a++) {
      X[a] += w[0] * p->c[e][a];
      for (int d = 0; d < 3; d++) A[3 * a + d] += w[1 + d] * p->c[e][a];
    }
  }
}

/*
 * How far xi[n][3] of places X[n][3] are from given ones to first order, u, and w = dxi/ds for tangents
 * t[n][3].
 */
void symancf_moves(const CellMaps *m, int64_t n, const int64_t *rows, const double *xi, const double *X,
                   const double *t, double *u, double *w)
{
  Polynomial p = {.row = -1};
  for (int64_t i = 0; i < 3 * n; i += 3) {
    const int64_t row = rows[i / 3];
    if (m->off[row] <= m->affine) {
      guess(m, row, X + i, u + i);
      for (int k = 0; k < 3; k++) u[i + k] -= xi[i + k];
      times(m->inverse + 9 * row, 1.0, t + i, w + i);
      continue;
    }
    double at[3], A[9], minors[9], left[3];
    polynomial(m, row, &p);
    evaluate(m, &p, xi + i, at, A);
    const double one = 1.0 / determinant(A, minors);
    for (int k = 0; k < 3; k++) left[k] = X[i + k] - at[k];
    times(minors, one, left, u + i);
    times(minors, one, t + i, w + i);
  }
}

/* xi[n][3] of places X[n][3], also outside of their cells, by Newton's method; NaN: there are none. */
void symancf_invert(const CellMaps *m, int64_t n, const int64_t *rows, const double *X, double *xi)
{
  Polynomial p = {.row = -1};
  for (int64_t i = 0; i < 3 * n; i += 3) {
    const int64_t row = rows[i / 3];
    guess(m, row, X + i, xi + i);
    if (m->off[row] <= m->affine) continue;
    polynomial(m, row, &p);
    for (int k = 0; k < 3; k++) xi[i + k] = fmin(fmax(xi[i + k], -1.0), 2.0);
    double size = INFINITY, far = 0.0;
    for (int step = 0; step < 20 && size > m->digits && far < 3.0; step++) {
      double at[3], A[9], minors[9], left[3], change[3];
      evaluate(m, &p, xi + i, at, A);
      const double one = 1.0 / determinant(A, minors);
      for (int k = 0; k < 3; k++) left[k] = X[i + k] - at[k];
      times(minors, one, left, change);
      size = far = 0.0;
      for (int k = 0; k < 3; k++) {
        if (!isfinite(change[k])) change[k] = INFINITY;
        size = fmax(size, fabs(change[k]));
        xi[i + k] += fmin(fmax(change[k], -0.5), 0.5);
        far = fmax(far, fabs(xi[i + k]));
      }
    }
    if (!(size <= m->digits)) xi[i] = xi[i + 1] = xi[i + 2] = NAN;
  }
}

/*
 * X[n][3] and dX/ds of helices number[n] at s[n].  A row of table[][17] has the centre, the axes e1, e2, e3,
 * what it rises, by how much it turns, where it starts [rad], the radius and the taper.
 */
void symancf_helices(int64_t n, const int64_t *number, const double *s, const double *table, double *X, double *t)
{
  for (int64_t i = 0; i < n; i++) {
    const double *h = table + 17 * number[i], *e1 = h + 3, *e2 = h + 6, *e3 = h + 9;
    const double rise = h[12], rate = h[13], phi = h[14] + rate * s[i], taper = h[16], z = rise * s[i];
    const double r = h[15] + taper * z, c = cos(phi), d = sin(phi);
    for (int k = 0; k < 3; k++) {
      const double outward = c * e1[k] + d * e2[k], around = c * e2[k] - d * e1[k];
      X[3 * i + k] = h[k] + z * e3[k] + r * outward;
      t[3 * i + k] = rise * (e3[k] + taper * outward) + r * rate * around;
    }
  }
}
