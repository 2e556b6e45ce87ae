/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of 8 lanes, handled in parts that fit a register (`vec`, symancf_kernel.h): mapped by
 * small matrices, and turned into 8 runs of doubles, one for each lane.
 */
#ifndef SYMANCF_LANES_H
#define SYMANCF_LANES_H

#include "symancf_kernel.h"

#include <stdint.h>

#define LANES 8
#define MAX_VECTORS 6 /* coefficient vectors of a node */
#define INLINE static inline __attribute__((always_inline)) /* sizes become constants */

typedef double v8_anywhere __attribute__((vector_size(64), aligned(8), may_alias));
typedef double v4_anywhere __attribute__((vector_size(32), aligned(8), may_alias));
typedef double v2_anywhere __attribute__((vector_size(16), aligned(8), may_alias));
typedef double vec_anywhere __attribute__((vector_size(8 * SYMANCF_WIDTH), aligned(8), may_alias));

/* s[k] = sum_c map[k][c] s[c], or with the transposed map, for n 3-vectors; one part of each */
INLINE void map_part(const v8 *restrict map, const int n, const int transposed, const int part,
                     vec *restrict s)
{
  vec old[3 * MAX_VECTORS];
  for (int k = 0; k < 3 * n; k++) old[k] = s[k];
  for (int k = 0; k < n; k++)
    for (int a = 0; a < 3; a++) {
      vec sum = {0};
      for (int c = 0; c < n; c++)
        sum += PART(map[transposed ? c * n + k : k * n + c]) * old[3 * c + a];
      s[3 * k + a] = sum;
    }
}

#if defined(__clang__) || __GNUC__ >= 12
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef long long indices __attribute__((vector_size(8 * SYMANCF_WIDTH)));
#define PICK(a, b, ...) __builtin_shuffle(a, b, (indices){__VA_ARGS__})
#endif

/* Transpose a square of doubles, a register for each row: swap parts of it, smallest first. */
INLINE void transpose(vec *x)
{
#if SYMANCF_WIDTH == 8
  vec a[8], b[8];
  for (int k = 0; k < 8; k += 2) {
    a[k] = PICK(x[k], x[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[k + 1] = PICK(x[k], x[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int k = 0; k < 8; k += 4)
    for (int m = 0; m < 2; m++) {
      b[k + m] = PICK(a[k + m], a[k + m + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[k + m + 2] = PICK(a[k + m], a[k + m + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int m = 0; m < 4; m++) {
    x[m] = PICK(b[m], b[m + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    x[m + 4] = PICK(b[m], b[m + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#elif SYMANCF_WIDTH == 4
  vec a[4];
  for (int k = 0; k < 4; k += 2) {
    a[k] = PICK(x[k], x[k + 1], 0, 4, 2, 6);
    a[k + 1] = PICK(x[k], x[k + 1], 1, 5, 3, 7);
  }
  for (int m = 0; m < 2; m++) {
    x[m] = PICK(a[m], a[m + 2], 0, 1, 4, 5);
    x[m + 2] = PICK(a[m], a[m + 2], 2, 3, 6, 7);
  }
#else
  const vec a = x[0];
  x[0] = PICK(a, x[1], 0, 2);
  x[1] = PICK(a, x[1], 1, 3);
#endif
}

/* out[l*stride + k] = x[row[k]][l]: `n` rows of 8 lanes -> n doubles for each lane. */
INLINE void split(const v8 *restrict x, const int16_t *restrict row, const int n, const int stride,
                  double *restrict out)
{
  int k = 0;
  for (; k + SYMANCF_WIDTH <= n; k += SYMANCF_WIDTH)
    FOR_PARTS {
      vec square[SYMANCF_WIDTH];
      for (int m = 0; m < SYMANCF_WIDTH; m++) square[m] = PART(x[row[k + m]]);
      transpose(square);
      for (int m = 0; m < SYMANCF_WIDTH; m++)
        *(vec_anywhere *)(out + (part * SYMANCF_WIDTH + m) * stride + k) = square[m];
    }
  for (; k < n; k++)
    for (int l = 0; l < LANES; l++) out[l * stride + k] = ((const double *)(x + row[k]))[l];
}

/* to[0 .. n) += from[0 .. n) in as few operations as possible */
INLINE void add(double *to, const double *from, const int n)
{
  int k = 0;
  if (SYMANCF_WIDTH >= 8)
    for (; k + 8 <= n; k += 8) *(v8_anywhere *)(to + k) += *(const v8_anywhere *)(from + k);
  if (SYMANCF_WIDTH >= 4)
    for (; k + 4 <= n; k += 4) *(v4_anywhere *)(to + k) += *(const v4_anywhere *)(from + k);
  for (; k + 2 <= n; k += 2) *(v2_anywhere *)(to + k) += *(const v2_anywhere *)(from + k);
  for (; k < n; k++) to[k] += from[k];
}

#endif
