/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coefficients of a cell that depend on all of its nodes: sparse maps of whole cells.
 *
 * The coefficient vectors of the kernel are c_i = sum_j T_ij q_j of the vectors q_j that the nodes of
 * the cell carry, each a corner of its own when gathered; the matrix is added node by node. All cells
 * of a term have the same zeros in T, which is stored by columns; the forces are T^t f, the matrix is
 * T^t K T.
 */
#ifndef SYMANCF_CELL_MAPS_H
#define SYMANCF_CELL_MAPS_H

#include "lanes.h"
#include "assembler.h"
#include "tiles.h"

#define MOST_OF_NODE 3 /* vectors of a node of such cells: a position and two slopes */

/* The most coefficient vectors of a cell, of its nodes or of the kernel. */
static inline int widest(const symancf_term *t)
{
  const int n = coefficients(t), m = kernel_coefficients(t);
  return n > m ? n : m;
}

/* Doubles of a matrix in nodal vectors and of a column of blocks. */
static inline int64_t whole_size(const symancf_term *t)
{
  const int64_t n = coefficients(t), blocks = t->symmetric ? n * (n + 1) / 2 : n * n;
  return t->functions ? 9 * (blocks + t->functions) * LANES : 0;
}

static inline const v8 *whole_map(const symancf_term *t, int batch)
{
  return (const v8 *)t->cell_map + (int64_t)batch * t->column_first[coefficients(t)];
}

/* c = T q */
static void map_whole(const symancf_term *t, int batch, const double *restrict q, double *restrict c)
{
  const v8 *map = whole_map(t, batch), *from = (const v8 *)q;
  v8 *to = (v8 *)c;
  memset(c, 0, (size_t)(3 * t->functions) * sizeof(v8));
  for (int j = 0; j < coefficients(t); j++)
    for (int k = t->column_first[j]; k < t->column_first[j + 1]; k++)
      for (int a = 0; a < 3; a++) to[3 * t->map_row[k] + a] += map[k] * from[3 * j + a];
}

/* q = T^t c */
static void map_back(const symancf_term *t, int batch, const double *restrict c, double *restrict q)
{
  const v8 *map = whole_map(t, batch), *from = (const v8 *)c;
  v8 *to = (v8 *)q;
  for (int j = 0; j < coefficients(t); j++) {
    for (int a = 0; a < 3; a++) to[3 * j + a] = (v8){0};
    for (int k = t->column_first[j]; k < t->column_first[j + 1]; k++)
      for (int a = 0; a < 3; a++) to[3 * j + a] += map[k] * from[3 * t->map_row[k] + a];
  }
}

/* Return T^t K T, packed as K is; it stands behind K, in scratch that is made for it. */
static const double *nodal_matrix(const symancf_term *t, int batch, const double *K)
{
  const int n = coefficients(t), m = t->functions;
  const v8 *map = whole_map(t, batch);
  const int64_t behind = t->symmetric ? (int64_t)m * (m + 1) / 2 : (int64_t)m * m;
  v8 *column = (v8 *)K + 9 * behind, *out = column + 9 * m;
  for (int J = 0; J < n; J++) {
    for (int i = 0; i < m; i++) { /* column = K T_J */
      v8 sum[9] = {{0}};
      for (int k = t->column_first[J]; k < t->column_first[J + 1]; k++) {
        int turned;
        const v8 *block = find_block((const v8 *)K, t->symmetric, m, i, t->map_row[k], &turned);
        if (turned)
          for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) sum[3 * a + b] += map[k] * block[3 * b + a];
        else
          for (int a = 0; a < 9; a++) sum[a] += map[k] * block[a];
      }
      for (int a = 0; a < 9; a++) column[9 * i + a] = sum[a];
    }
    for (int I = 0; I < (t->symmetric ? J + 1 : n); I++) {
      v8 sum[9] = {{0}};
      for (int k = t->column_first[I]; k < t->column_first[I + 1]; k++)
        for (int a = 0; a < 9; a++) sum[a] += map[k] * column[9 * t->map_row[k] + a];
      v8 *to = out + 9 * (t->symmetric ? (int64_t)J * (J + 1) / 2 + I : (int64_t)I * n + J);
      for (int a = 0; a < 9; a++) to[a] = sum[a];
    }
  }
  return (const double *)out;
}

/* Add the tile of nodes I and J of 8 cells, with ni and nj vectors. */
INLINE void add_pair(const symancf_assembler *assembler, const symancf_term *t, int first, int lanes,
                     const v8 *restrict K, corner (*corners)[LANES], int I, int J, const int ni,
                     const int nj)
{
  int16_t row[9 * MOST_OF_NODE * MOST_OF_NODE];
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      int turned;
      const v8 *block = find_block(K, t->symmetric, coefficients(t), t->node_first[I] + i,
                                   t->node_first[J] + j, &turned);
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
          row[(3 * i + a) * 3 * nj + 3 * j + b] = (int16_t)(block - K + (turned ? 3 * b + a : 3 * a + b));
    }
  add_lanes(assembler, t, first, lanes, corners, I, J, K, row, 3 * ni, 3 * nj);
}

/* Add the nodal matrices of 8 cells; `corners` is scratch. */
static void scatter_whole(const symancf_assembler *assembler, const symancf_term *t, int first, int lanes,
                          const double *nodal, corner (*corners)[LANES])
{
  const v8 *K = (const v8 *)nodal;
  const int32_t *at = t->node_first;
  for (int v = 0; v < t->nodes; v++)
    for (int l = 0; l < lanes; l++) {
      const int32_t *block = t->blocks + (int64_t)(first + l) * t->corners + at[v];
      corners[v][l] = find_corner(assembler, t, first + l, v, block, at[v + 1] - at[v]);
    }
  for (int I = 0; I < t->nodes; I++)
    for (int J = 0; J < t->nodes; J++) {
      const int ni = at[I + 1] - at[I], nj = at[J + 1] - at[J];
      if (ni == 3 && nj == 3) add_pair(assembler, t, first, lanes, K, corners, I, J, 3, 3);
      else if (ni == 3 && nj == 1) add_pair(assembler, t, first, lanes, K, corners, I, J, 3, 1);
      else if (ni == 1 && nj == 3) add_pair(assembler, t, first, lanes, K, corners, I, J, 1, 3);
      else add_pair(assembler, t, first, lanes, K, corners, I, J, 1, 1);
    }
}

#endif
