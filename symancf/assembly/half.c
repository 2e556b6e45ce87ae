/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symmetric tangent of nodes by halves, see half.py: its pattern, diagonal blocks, and products.
 */
#include "half.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))
#define AHEAD 4096 /* bytes */

#ifdef __AVX512F__ /* as many lanes as a register has */
enum { WIDTH = 8 };
#else
enum { WIDTH = 4 };
#endif
typedef double doubles __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef float singles __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

/*
 * Blocks of the rows of nodes, from the adjacent vertices of each owned vertex, by global numbers:
 * `start` and `off_start`, and columns unless NULL.
 */
void symancf_half_pattern(int32_t owned, int32_t nodes, const int64_t *begin, const int32_t *adjacent,
                          const int32_t *node, int32_t *start, int32_t *column, int32_t *off_start,
                          int32_t *off)
{
  int32_t own = 0, others = 0;
  for (int32_t v = 0; v < owned; v++) {
    const int32_t i = node[v];
    if (i < 0) continue;
    start[i] = own, off_start[i] = others;
    for (int64_t k = begin[v]; k < begin[v + 1]; k++) {
      const int32_t j = node[adjacent[k]];
      if (j >= nodes) {
        if (off) off[others] = j - nodes;
        others++;
      } else if (j >= i) {
        if (column) column[own] = j;
        own++;
      }
    }
  }
  start[nodes] = own, off_start[nodes] = others;
}

static int32_t find(const int32_t *column, int32_t low, const int32_t end, const int32_t wanted)
{
  int32_t high = end;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (column[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low < end && column[low] == wanted ? low : -1;
}

/*
 * Places within rows of the pairs I < J of n cells of `corners` nodes each, in the order of J: numbers of
 * 16 bits if `wide`, else 8. Returns the number, from 1 on, of a cell with a pair that is none of the pattern.
 */
int32_t symancf_half_places(const symancf_half *h, const int32_t *column, const int32_t *off, int32_t n, int32_t corners,
                            const int32_t *vertices, int32_t wide, void *places)
{
  int64_t at = 0;
  for (int32_t e = 0; e < n; e++, vertices += corners)
    for (int32_t J = 1; J < corners; J++)
      for (int32_t I = 0; I < J; I++, at++) {
        const int32_t a = h->node[vertices[I]], b = h->node[vertices[J]];
        const int32_t low = a < b ? a : b, high = a < b ? b : a;
        int32_t place = 0;
        if (low >= 0 && low < h->nodes && low != high) {
          const int inside = high < h->nodes;
          const int32_t *start = inside ? h->start : h->off_start;
          place = find(inside ? column : off, start[low], start[low + 1], inside ? high : high - h->nodes);
          if (place < 0) return e + 1;
          place -= start[low];
        }
        if (wide) ((uint16_t *)places)[at] = (uint16_t)place;
        else ((uint8_t *)places)[at] = (uint8_t)place;
      }
  return 0;
}

/* The pattern with the blocks of both halves; `column` has room for 2 start[nodes] - nodes. */
void symancf_half_both(int32_t nodes, const int32_t *start, const int32_t *column, int32_t *both_start,
                       int32_t *both)
{
  int32_t *next = both_start + 1;
  memset(both_start, 0, ((size_t)nodes + 1) * sizeof *both_start);
  for (int32_t i = 0; i < nodes; i++) {
    next[i] += start[i + 1] - start[i];
    for (int32_t k = start[i] + 1; k < start[i + 1]; k++) next[column[k]]++;
  }
  int32_t before = 0;
  for (int32_t i = 0; i < nodes; i++) { /* next: where the next one of a row goes */
    const int32_t count = next[i];
    next[i] = before, before += count;
  }
  for (int32_t i = 0; i < nodes; i++)
    for (int32_t k = start[i]; k < start[i + 1]; k++) {
      both[next[i]++] = column[k]; /* those before the diagonal are there already */
      if (k > start[i]) both[next[column[k]]++] = i;
    }
}

/*
 * Diagonal blocks from the sums of rows, without the other blocks as they are rounded; a component
 * that is held gets an entry like that of one that is not. Returns the largest.
 */
double symancf_half_finish(const symancf_half *h, const int32_t *column, const uint8_t *prescribed)
{
  double largest = 0.0;
  for (int32_t i = 0; i < h->nodes; i++) {
    const int32_t first = h->start[i], n = h->start[i + 1] - first, others = h->off_start[i + 1] - h->off_start[i];
    float *v = h->values + 9 * (int64_t)first;
    const float *w = h->off + 9 * (int64_t)h->off_start[i];
    double *D = h->diagonal + 9 * (int64_t)i, sum[9] = {0};
    for (int32_t k = 1; k < n; k++) {
      double *to = h->diagonal + 9 * (int64_t)column[first + k];
      for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) {
          const double value = v[3 * (n * a + k) + c];
          sum[3 * a + c] += value, to[3 * c + a] -= value;
        }
    }
    for (int32_t k = 0; k < others; k++)
      for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) sum[3 * a + c] += w[3 * (others * a + k) + c];
    for (int k = 0; k < 9; k++) D[k] -= sum[k]; /* rows before have taken away theirs */
    for (int a = 0; a < 3; a++)
      for (int c = 0; c < a; c++) D[3 * a + c] = D[3 * c + a] = (D[3 * a + c] + D[3 * c + a]) / 2.0;
    for (int k = 0; prescribed && k < 9; k++)
      if ((prescribed[i] >> k / 3 | prescribed[i] >> k % 3) & 1) D[k] = 0.0; /* there is no such column */
    for (int a = 0; prescribed && a < 3; a++)
      if (prescribed[i] >> a & 1) {
        double size = 0.0;
        for (int c = 2; c >= 0; c--)
          if (!(prescribed[i] >> c & 1) && D[4 * c] != 0.0) size = fabs(D[4 * c]);
        D[4 * a] = size > 0.0 ? size : 1.0;
      }
    for (int a = 0; a < 3; a++) {
      for (int c = 0; c < 3; c++) v[3 * n * a + c] = (float)D[3 * a + c];
      if (!(fabs(D[4 * a]) <= largest)) largest = fabs(D[4 * a]);
    }
  }
  return largest;
}

INLINE double sum_of(const doubles v)
{
  double s[4];
  for (int l = 0; l < 4; l++) s[l] = v[l];
  for (int l = 4; l < WIDTH; l++) s[l % 4] += v[l];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

INLINE doubles widened(const float *v) { return __builtin_convertvector(*(const singles *)v, doubles); }

INLINE void fetch(const void *at, const int64_t bytes)
{
  for (int64_t q = 0; q < bytes; q += 64) __builtin_prefetch((const char *)at + AHEAD + q);
}

/*
 * y = A x of this rank's columns. `room` is scratch for two rows, filled up. The block on the diagonal
 * is the first of its row: it meets zeros there.
 */
void symancf_half_multiply(const symancf_half *h, const int32_t *column, const double *x, double *room, int32_t longest,
                           double *y)
{
  const float *v = h->values;
  double *row = room, *down = room + longest;
  memset(y, 0, 3 * (size_t)h->nodes * sizeof *y);
  for (int32_t i = 0; i < h->nodes; i++) {
    const int32_t *c = column + h->start[i], n = h->start[i + 1] - h->start[i], m = 3 * n;
    const double *D = h->diagonal + 9 * (int64_t)i, *xi = x + 3 * (int64_t)i;
    const double x0 = h->scale * xi[0], x1 = h->scale * xi[1], x2 = h->scale * xi[2];
    double *yi = y + 3 * (int64_t)i;
    doubles s0 = {0}, s1 = {0}, s2 = {0};
    fetch(v, 36 * (int64_t)n);
    row[0] = row[1] = row[2] = 0.0;
    for (int32_t k = 1; k < n; k++)
      for (int a = 0; a < 3; a++) row[3 * k + a] = h->scale * x[3 * (int64_t)c[k] + a];
    for (int32_t k = m; k % WIDTH; k++) row[k] = 0.0;
    for (int32_t k = 0; k < m; k += WIDTH) {
      const doubles b = *(const doubles *)(row + k), v0 = widened(v + k), v1 = widened(v + m + k), v2 = widened(v + 2 * m + k);
      s0 += v0 * b;
      s1 += v1 * b;
      s2 += v2 * b;
      *(doubles *)(down + k) = v0 * x0 + v1 * x1 + v2 * x2;
    }
    yi[0] += sum_of(s0) + D[0] * x0 + D[1] * x1 + D[2] * x2;
    yi[1] += sum_of(s1) + D[3] * x0 + D[4] * x1 + D[5] * x2;
    yi[2] += sum_of(s2) + D[6] * x0 + D[7] * x1 + D[8] * x2;
    for (int32_t k = 1; k < n; k++)
      for (int a = 0; a < 3; a++) y[3 * (int64_t)c[k] + a] += down[3 * k + a];
    v += 9 * (int64_t)n;
  }
}

/*
 * y += A x of n skew matrices of `width` rows each: numbers of rows, those of ghosts behind this rank's, or -1.
 * `room` is scratch for one of them.
 */
void symancf_half_skew(const symancf_half *h, int32_t n, int32_t width, const int32_t *rows, const double *A,
                       const double *x, const double *ghosts, double *room, double *y)
{
  const int32_t own = 3 * h->nodes;
  for (int32_t e = 0; e < n; e++, rows += width)
    for (int32_t r = -1; r < width; r++) {
      double sum = 0.0;
      if (r < 0) {
        for (int32_t c = 0; c < width; c++)
          room[c] = rows[c] < 0 ? 0.0 : rows[c] < own ? x[rows[c]] : ghosts[rows[c] - own];
        continue;
      }
      for (int32_t c = 0; c < width; c++) sum += A[c] * room[c];
      if (rows[r] >= 0 && rows[r] < own) y[rows[r]] += sum;
      A += width;
    }
}

/* y += A x of the columns of ghosts. */
void symancf_half_add(const symancf_half *h, const int32_t *column, const double *x, double *y)
{
  for (int32_t i = 0; i < h->nodes; i++) {
    const int32_t first = h->off_start[i], n = h->off_start[i + 1] - first;
    const float *v = h->off + 9 * (int64_t)first;
    double sum[3] = {0};
    for (int32_t k = 0; k < n; k++)
      for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) sum[a] += v[3 * (n * a + k) + c] * x[3 * (int64_t)column[first + k] + c];
    for (int a = 0; a < 3; a++) y[3 * (int64_t)i + a] += h->scale * sum[a];
  }
}
