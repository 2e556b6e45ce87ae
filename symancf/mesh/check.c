/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is looked at in each cell and along each edge of a mesh; see conformity.py and cells.py.
 */
#include "symancf_kernel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LANES SYMANCF_WIDTH
#define TINY 1e-300 /* squares below are of vectors without length */

/*
 * Numbers of cells that depend on which vertices they have, in any order, as `hashes` of conformity.py
 * makes them: key[cells].  ids: global numbers of the vertices, NULL where they are these.  Returns the
 * first cell that names a vertex twice, else -1.  No more than `nv` vertices: row[nv] is for work.
 */
int64_t symancf_keys(int64_t cells, int64_t nv, const int32_t *vertices, const int64_t *ids, int32_t *row,
                     uint64_t *key)
{
  int64_t twice = -1;
  for (int64_t c = 0; c < cells; c++) {
    for (int64_t k = 0; k < nv; k++) {
      const int32_t v = vertices[c * nv + k];
      int64_t p = k;
      for (; p > 0 && row[p - 1] > v; p--) row[p] = row[p - 1];
      row[p] = v;
    }
    uint64_t sum = (uint64_t)nv;
    for (int64_t k = 0; k < nv; k++) {
      if (k > 0 && row[k] == row[k - 1] && twice < 0) twice = c;
      sum = (sum ^ (uint64_t)(ids ? ids[row[k]] : row[k])) + 0x9E3779B97F4A7C15u;
      sum = (sum ^ (sum >> 30)) * 0xBF58476D1CE4E5B9u; /* the finaliser of SplitMix64 */
      sum = (sum ^ (sum >> 27)) * 0x94D049BB133111EBu;
      sum ^= sum >> 31;
    }
    key[c] = sum;
  }
  return twice;
}

/* Scale vectors v[3] to length 1; those without length stay. */
static inline void unit(vec *v)
{
  const vec square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  vec length;
  for (int l = 0; l < LANES; l++) length[l] = sqrt(square[l] > TINY ? square[l] : TINY);
  const vec factor = 1.0 / length;
  for (int a = 0; a < 3; a++) v[a] *= factor;
}

static inline void cross(const vec *a, const vec *b, vec *out)
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* e[d][3] = sum over nodes of table[d][nv] times x[nv][3] */
static inline void along(int d, int nv, const double *table, const vec *x, vec *e)
{
  for (int i = 0; i < d; i++) {
    vec sum[3] = {{0}};
    for (int k = 0; k < nv; k++) {
      const double factor = table[i * nv + k];
      if (factor == 0.0) continue;
      for (int a = 0; a < 3; a++) sum[a] += factor * x[3 * k + a];
    }
    memcpy(e + 3 * i, sum, sizeof sum);
  }
}

/*
 * The least scaled Jacobian of each cell, low[cells]; see `jacobians` of cells.py.
 * sizes = {cells, nv, dimension, places}; table[places + 1][dimension][nv], the middle last;
 * X[][3] by numbers vertices[cells][nv].  Returns 0, or 1 when memory is short.
 */
int symancf_jacobians(const int64_t *sizes, const double *table, const int32_t *vertices, const double *X,
                      double *low)
{
  const int nv = (int)sizes[1], d = (int)sizes[2], places = (int)sizes[3];
  vec e[9], middle[3], normal[3], *x = aligned_alloc(sizeof(vec), sizeof(vec) * 3 * (size_t)nv);
  if (!x) return 1;
  for (int64_t first = 0; first < sizes[0]; first += LANES) {
    for (int l = 0; l < LANES; l++) { /* the last cell fills the lanes that are left */
      const int64_t c = first + l < sizes[0] ? first + l : sizes[0] - 1;
      for (int k = 0; k < nv; k++)
        for (int a = 0; a < 3; a++) x[3 * k + a][l] = X[3 * (int64_t)vertices[c * nv + k] + a];
    }
    if (d < 3) { /* the tangent or normal there */
      along(d, nv, table + (int64_t)places * d * nv, x, e);
      if (d == 1) memcpy(middle, e, sizeof middle);
      else cross(e, e + 3, middle);
      unit(middle);
    }
    vec least = {0};
    least += INFINITY;
    for (int p = 0; p < places; p++) {
      along(d, nv, table + (int64_t)p * d * nv, x, e);
      for (int i = 0; i < d; i++) unit(e + 3 * i);
      if (d > 1) cross(e, e + 3, normal);
      const vec *one = d > 1 ? normal : e, *other = d > 2 ? e + 6 : middle;
      const vec j = one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
      for (int l = 0; l < LANES; l++) least[l] = j[l] < least[l] ? j[l] : least[l];
    }
    for (int l = 0; l < LANES && first + l < sizes[0]; l++) low[first + l] = least[l];
  }
  free(x);
  return 0;
}

/* Note a point inside an edge: of several edges the one with the lowest ends. */
static void carry(int32_t *carriers, int32_t point, int32_t a, int32_t b)
{
  const int32_t low = a < b ? a : b, high = a < b ? b : a;
  int32_t *old = carriers + 2 * (int64_t)point;
  if (old[0] >= 0 && (old[0] < low || (old[0] == low && old[1] <= high))) return;
  old[0] = low;
  old[1] = high;
}

/*
 * Look at the edges of each of n vertices in turn: neighbours from start[n + 1] on, at X[n][3]; at those
 * with chosen[v] alone.
 *
 * found = {largest loss, shortest, longest}: that of eps X / h (`eps` is given as found[0]), lengths > 0,
 * lengths; ends[2]: the edge of that loss, the first one, -1 without.  carriers[n][2]: the ends of an edge
 * on which each vertex lies without being its end, else -1 as given: a shorter edge runs along it, turned
 * by less than `straight`.  Returns 0, or 1 when memory is short.
 */
int symancf_edges(int32_t n, const int64_t *start, const int32_t *neighbours, const double *X,
                  const uint8_t *chosen, double straight, double *found, int32_t *ends, int32_t *carriers)
{
  int64_t most = 0;
  for (int32_t v = 0; v < n; v++) most = start[v + 1] - start[v] > most ? start[v + 1] - start[v] : most;
  double(*unit)[4] = malloc(sizeof(double[4]) * (size_t)(most + 1)); /* and length */
  if (!unit) return 1;
  const double eps = found[0];
  double loss = -1.0, shortest = INFINITY, longest = 0.0;
  ends[0] = ends[1] = -1;
  for (int32_t v = 0; v < n; v++) {
    if (!chosen[v]) continue;
    const int64_t count = start[v + 1] - start[v];
    const int32_t *there = neighbours + start[v];
    for (int64_t k = 0; k < count; k++) {
      double *u = unit[k], largest = 0.0, size = 0.0;
      for (int a = 0; a < 3; a++) {
        const double x = fabs(X[3 * (int64_t)v + a]);
        u[a] = X[3 * (int64_t)there[k] + a] - X[3 * (int64_t)v + a];
        if (fabs(u[a]) > largest) largest = fabs(u[a]);
        if (u[a] != 0.0 && x > size) size = x;
      }
      const double scale = largest > 1e-100 && largest < 1e100 ? 1.0 : largest > 0.0 ? largest : 1.0;
      const double x = u[0] / scale, y = u[1] / scale, z = u[2] / scale; /* squares of 1e-200 m are zero */
      const double length = u[3] = scale * sqrt(x * x + y * y + z * z);
      if (length > longest) longest = length;
      const double lost = length > 0.0 ? eps * size / length : 0.0;
      if (lost > loss) {
        loss = lost;
        ends[0] = v;
        ends[1] = there[k];
      }
      if (length <= 0.0) continue;
      if (length < shortest) shortest = length;
      for (int a = 0; a < 3; a++) u[a] /= length;
    }
    for (int64_t k = 0; k < count; k++)
      for (int64_t m = k + 1; m < count; m++) {
        const double *a = unit[k], *b = unit[m];
        const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
        if (x * x + y * y + z * z >= straight * straight || a[3] <= 0.0 || b[3] <= 0.0) continue;
        if (fabs(a[3] - b[3]) <= 1e-3 * a[3]) continue;
        const int32_t inner = there[a[3] < b[3] ? k : m], outer = there[a[3] < b[3] ? m : k];
        carry(carriers, inner, v, outer);
      }
  }
  free(unit);
  found[0] = loss < 0.0 ? 0.0 : loss;
  found[1] = shortest;
  found[2] = longest;
  return 0;
}
