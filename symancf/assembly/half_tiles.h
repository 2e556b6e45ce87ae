/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matrices of 8 cells -> a symmetric tangent of nodes whose blocks of 3 x 3 are kept once, in single
 * precision: see half.py. Diagonal blocks are found from sums of rows, in double precision.
 */
#ifndef SYMANCF_HALF_TILES_H
#define SYMANCF_HALF_TILES_H

#include "lanes.h"
#include "assembler.h"

typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));

#if defined(__clang__) || __GNUC__ >= 12
#define PICK_SINGLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int single_indices __attribute__((vector_size(32)));
#define PICK_SINGLE(a, b, ...) __builtin_shuffle(a, b, (single_indices){__VA_ARGS__})
#endif

/* Transpose 8 x 8 numbers. */
INLINE void transpose_single(f8 *x)
{
  f8 a[8], b[8];
  for (int k = 0; k < 8; k += 2) {
    a[k] = PICK_SINGLE(x[k], x[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[k + 1] = PICK_SINGLE(x[k], x[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int k = 0; k < 8; k += 4)
    for (int m = 0; m < 2; m++) {
      b[k + m] = PICK_SINGLE(a[k + m], a[k + m + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[k + m + 2] = PICK_SINGLE(a[k + m], a[k + m + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int m = 0; m < 4; m++) {
    x[m] = PICK_SINGLE(b[m], b[m + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    x[m + 4] = PICK_SINGLE(b[m], b[m + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

enum { BLOCKS_AT_ONCE = 8 };
typedef float lane_blocks[9 * BLOCKS_AT_ONCE];

/* Round rows of 8 lanes, times `factor`: to[l][k] = x[k][l]. */
INLINE void round_lanes(const v8 *restrict x, const int rows, const double factor, lane_blocks *restrict to)
{
  int k = 0;
  for (; k + 8 <= rows; k += 8) {
    f8 square[8];
    for (int m = 0; m < 8; m++) square[m] = __builtin_convertvector(x[k + m] * factor, f8);
    transpose_single(square);
    for (int l = 0; l < LANES; l++) *(f8 *)(to[l] + k) = square[l];
  }
  for (; k < rows; k++)
    for (int l = 0; l < LANES; l++) to[l][k] = (float)(((const double *)(x + k))[l] * factor);
}

/* Where a cell's corner stands in the half. */
typedef struct {
  float *own, *off; /* of its row; NULL where another rank has it, or nobody */
  int32_t width, off_width, node, held;
} half_corner;

INLINE half_corner find_half_corner(const symancf_half *h, const int32_t vertex)
{
  const int32_t node = h->node[vertex], held = h->held[vertex];
  if (node < 0 || node >= h->nodes) return (half_corner){NULL, NULL, 0, 0, node, held};
  const int32_t *s = h->start + node, *o = h->off_start + node;
  return (half_corner){h->values + 9 * (int64_t)s[0], h->off + 9 * (int64_t)o[0], 3 * (s[1] - s[0]),
                       3 * (o[1] - o[0]), node, held};
}

INLINE void add_straight(float *to, const int64_t width, const float *block)
{
  for (int a = 0; a < 3; a++)
    for (int c = 0; c < 3; c++) to[a * width + c] += block[3 * a + c];
}

INLINE void add_turned(float *to, const int64_t width, const float *block)
{
  for (int a = 0; a < 3; a++)
    for (int c = 0; c < 3; c++) to[a * width + c] += block[3 * c + a];
}

/* Add the block of corners i and j: to the row of the node that comes first; to that of a pair with a ghost. */
INLINE void add_half_pair(const half_corner *i, const half_corner *j, const int32_t nodes, const int32_t place,
                     const float *block)
{
  float some[9];
  if (i->node < 0 || j->node < 0 || i->node == j->node) return;
  if (i->held | j->held) {
    for (int k = 0; k < 9; k++) some[k] = (i->held >> k / 3 | j->held >> k % 3) & 1 ? 0.0f : block[k];
    block = some;
  }
  if (i->node < nodes && j->node < nodes) {
    if (i->node < j->node) add_straight(i->own + 3 * place, i->width, block);
    else add_turned(j->own + 3 * place, j->width, block);
  } else if (i->node < nodes) {
    add_straight(i->off + 3 * place, i->off_width, block);
  } else if (j->node < nodes) {
    add_turned(j->off + 3 * place, j->off_width, block);
  }
}

/* sum[i] = the sum of the blocks of row i of 8 cells; K has those of i <= j alone. */
INLINE void sum_rows(const v8 *restrict K, const int n, v8 *restrict sum)
{
  for (int k = 0; k < 9 * n; k++) sum[k] = (v8){0};
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++, K += 9) {
      for (int k = 0; k < 9; k++) sum[9 * i + k] += K[k];
      if (i < j)
        for (int k = 0; k < 9; k++) sum[9 * j + k % 3 * 3 + k / 3] += K[k];
    }
}

/* The same of one lane, without what is fixed, added to the diagonal. */
static __attribute__((noinline)) void add_sums_of_held(const symancf_half *h, const double *K, const int n,
                                                       half_corner (*corners)[LANES], const int l)
{
  const double factor = 1.0 / h->scale;
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++, K += 9 * LANES) {
      const half_corner *p = &corners[i][l], *q = &corners[j][l];
      if (p->node < 0 || q->node < 0) continue;
      for (int k = 0; k < 9; k++) {
        if ((p->held >> k / 3 | q->held >> k % 3) & 1) continue;
        const double value = K[k * LANES + l] * factor;
        if (p->own) h->diagonal[9 * (int64_t)p->node + k] += value;
        if (q->own && i < j) h->diagonal[9 * (int64_t)q->node + k % 3 * 3 + k / 3] += value;
      }
    }
}

INLINE int32_t place_of(const symancf_term *t, const int64_t k)
{
  return t->half_wide ? ((const uint16_t *)t->half_places)[k] : ((const uint8_t *)t->half_places)[k];
}

/*
 * Keep the skew parts (K - K^T) / 2 of the matrices of 8 cells, and leave the symmetric parts in K as kernels
 * of symmetric tangents give them: blocks i <= j by columns.
 */
static __attribute__((noinline)) void split_skew(const symancf_term *t, const int first, const int lanes, double *K)
{
  const int n = t->corners, width = 3 * n;
  double *skew = t->skew + (int64_t)first * width * width;
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++) {
      const v8 *above = (const v8 *)K + 9 * ((int64_t)i * n + j);
      v8 *below = (v8 *)K + 9 * ((int64_t)j * n + i), sum[9];
      for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) {
          const v8 up = above[3 * a + c], down = below[3 * c + a], part = (up - down) * 0.5;
          sum[3 * a + c] = (up + down) * 0.5;
          for (int l = 0; l < lanes; l++) {
            double *of_cell = skew + (int64_t)l * width * width;
            of_cell[(3 * i + a) * width + 3 * j + c] = part[l];
            of_cell[(3 * j + c) * width + 3 * i + a] = -part[l];
          }
        }
      for (int k = 0; k < 9; k++) below[k] = sum[k];
    }
  v8 *to = (v8 *)K;
  for (int j = 0; j < n; j++) /* to places that have been read */
    for (int i = 0; i <= j; i++, to += 9) memmove(to, (const v8 *)K + 9 * ((int64_t)j * n + i), 9 * sizeof *to);
}

INLINE void scatter_corners(const symancf_half *h, const symancf_term *t, const int first, const int lanes,
                            const v8 *restrict K, const int n, half_corner (*corners)[LANES],
                            v8 *restrict sum)
{
  const int blocks = n * (n + 1) / 2, pairs = blocks - n;
  const double factor = 1.0 / h->scale;
  int held[LANES] = {0}, next[2] = {0, 0};
  for (int v = 0; v < n; v++)
    for (int l = 0; l < lanes; l++) {
      corners[v][l] = find_half_corner(h, t->vertices[t->vertex_start[first + l] + v]);
      held[l] |= corners[v][l].held || corners[v][l].node < 0;
    }
  sum_rows(K, n, sum);
  for (int l = 0; l < lanes; l++) {
    if (held[l]) {
      add_sums_of_held(h, (const double *)K, n, corners, l);
      continue;
    }
    for (int v = 0; v < n; v++) {
      double *to = h->diagonal + 9 * (int64_t)corners[v][l].node;
      if (corners[v][l].own)
        for (int k = 0; k < 9; k++) to[k] += ((const double *)(sum + 9 * v + k))[l] * factor;
    }
  }
  for (int q = 0; q < blocks; q += BLOCKS_AT_ONCE) {
    lane_blocks some[LANES] __attribute__((aligned(64)));
    const int count = blocks - q < BLOCKS_AT_ONCE ? blocks - q : BLOCKS_AT_ONCE;
    int i = 0, j = 0;
    round_lanes(K + 9 * q, 9 * count, factor, some);
    for (int l = 0; l < lanes; l++) {
      const int64_t place = (int64_t)(first + l) * pairs + q;
      i = next[0], j = next[1];
      for (int k = 0; k < count; k++) {
        if (i < j)
          add_half_pair(&corners[i][l], &corners[j][l], h->nodes, place_of(t, place + k - j), some[l] + 9 * k);
        if (++i > j) i = 0, j++;
      }
    }
    next[0] = i, next[1] = j;
  }
}

static __attribute__((noinline)) void scatter_any_half(const symancf_half *h, const symancf_term *t,
                                                       const int first, const int lanes, const v8 *K,
                                                       half_corner (*corners)[LANES], v8 *sum)
{
  scatter_corners(h, t, first, lanes, K, t->corners, corners, sum);
}

/* `corners` and `sum`, of 9 rows of lanes for each corner, are scratch. */
static void scatter_half(const symancf_half *h, const symancf_term *t, const int first, const int lanes,
                         const double *K, half_corner (*corners)[LANES], double *sum)
{
  if (t->corners == 8) scatter_corners(h, t, first, lanes, (const v8 *)K, 8, corners, (v8 *)sum);
  else scatter_any_half(h, t, first, lanes, (const v8 *)K, corners, (v8 *)sum);
}

#endif
