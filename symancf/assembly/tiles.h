/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matrices of 8 cells -> rows of the tangent, a pair of corners (a tile) at a time.
 */
#ifndef SYMANCF_TILES_H
#define SYMANCF_TILES_H

#include "lanes.h"
#include "assembler.h"

#define MAX_TILE (9 * MAX_VECTORS * MAX_VECTORS)

/* Where the block of coefficients i, j begins in K: row 3 a + b, or 3 b + a where `turned`. */
static inline const v8 *find_block(const v8 *K, int symmetric, int n, int i, int j, int *turned)
{
  *turned = symmetric && i > j;
  if (!symmetric) return K + 9 * ((int64_t)i * n + j);
  return *turned ? K + 9 * ((int64_t)i * (i + 1) / 2 + j) : K + 9 * ((int64_t)j * (j + 1) / 2 + i);
}

/*
 * The tile of corners (I, J) of 8 cells in nodal coordinates, T_I^t K T_J: [nb][nb] rows. A node
 * has nf vectors; T maps the last ns of them and leaves the others alone.
 */
INLINE void map_tile(const symancf_term *t, const v8 *restrict K, const v8 *restrict maps, int I,
                     int J, const int nf, const int ns, v8 *restrict tile)
{
  const int nb = 3 * nf, s = 3 * (nf - ns), n = coefficients(t);
  const v8 *mi = maps + I * ns * ns, *mj = maps + J * ns * ns;
  for (int i = 0; i < nf; i++) {
    const v8 *block[MAX_VECTORS];
    int turned[MAX_VECTORS];
    for (int j = 0; j < nf; j++)
      block[j] = find_block(K, t->symmetric, n, I * nf + i, J * nf + j, turned + j);
    for (int a = 0; a < 3; a++)
      FOR_PARTS {
        vec row[3 * MAX_VECTORS];
        for (int j = 0; j < nf; j++)
          for (int b = 0; b < 3; b++)
            row[3 * j + b] = PART(block[j][turned[j] ? 3 * b + a : 3 * a + b]);
        map_part(mj, ns, 1, part, row + s);
        for (int c = 0; c < nb; c++) PART(tile[(3 * i + a) * nb + c]) = row[c];
      }
  }
  for (int c = 0; c < nb; c++)
    FOR_PARTS {
      vec column[3 * MAX_VECTORS];
      for (int r = 0; r < 3 * ns; r++) column[r] = PART(tile[(s + r) * nb + c]);
      map_part(mi, ns, 1, part, column);
      for (int r = 0; r < 3 * ns; r++) PART(tile[(s + r) * nb + c]) = column[r];
    }
}

/* local offset of the r-th coordinate of a cell at a corner */
static inline int32_t coordinate(const symancf_term *t, const int32_t *block, int r)
{
  int part = 0;
  while (r >= 3 * t->width[part]) r -= 3 * t->width[part++];
  return t->stride * block[part] + r;
}

/* Where a cell's corner stands in the matrix. */
typedef struct {
  const int32_t *block; /* local offsets of its parts, by the term's stride */
  double *diagonal, *off; /* first row of its vertex; NULL if the row is on another rank */
  int64_t width, off_width; /* from row to row, of a plain corner */
  int plain; /* whether the rows are its coordinates in their order, none fixed */
} corner;

/* The corner that is vertex v of a cell, with the places of its runs in local vectors. */
INLINE corner find_corner(const symancf_assembler *assembler, const symancf_term *t, int cell, int v,
                          const int32_t *block, const int parts)
{
  const int32_t vertex = t->vertices[t->vertex_start[cell] + v], row = assembler->vertex_row[vertex];
  int plain = assembler->vertex_plain[vertex] && assembler->rank_in_vertex[t->stride * block[0]] == 0;
  for (int p = 1; p < parts; p++) plain &= t->stride * (block[p] - block[p - 1]) == 3 * t->width[p - 1];
  if (row < 0) return (corner){block, NULL, NULL, 0, 0, plain};
  const int32_t *d = assembler->diagonal_start + row, *o = assembler->off_start + row;
  /* a vertex whose coordinates are all fixed has no row, and the last of them no row behind it */
  const int64_t width = plain ? d[1] - d[0] : 0, off_width = plain ? o[1] - o[0] : 0;
  return (corner){block, assembler->diagonal + d[0], assembler->off + o[0], width, off_width, plain};
}

/* Add a tile [rows][columns] to the rows of corner i and the columns of corner j of a cell. */
INLINE void add_tile(const symancf_assembler *assembler, const symancf_term *t, const corner *i,
                     const corner *j, int32_t position, const double *tile, const int rows,
                     const int columns)
{
  if (i->plain && j->plain) {
    double *values = position >= 0 ? i->diagonal + position : i->off + ~position;
    const int64_t width = position >= 0 ? i->width : i->off_width;
    for (int r = 0; r < rows; r++) add(values + r * width, tile + r * columns, columns);
    return;
  }
  for (int r = 0; r < rows; r++) { /* some coordinates are fixed */
    const int32_t row = assembler->row[coordinate(t, i->block, r)];
    if (row < 0) continue;
    double *values = row_values(assembler, row, position);
    for (int c = 0; c < columns; c++) {
      const int32_t column = assembler->rank_in_vertex[coordinate(t, j->block, c)];
      if (column >= 0) values[column] += tile[r * columns + c];
    }
  }
}

/* Split a tile of 8 lanes, its entries taken in the order `row`, and add it for each cell. */
INLINE void add_lanes(const symancf_assembler *assembler, const symancf_term *t, int first, int lanes,
                      corner (*corners)[LANES], int I, int J, const v8 *restrict tile,
                      const int16_t *restrict row, const int rows, const int columns)
{
  double values[LANES * MAX_TILE] __attribute__((aligned(64)));
  const int size = rows * columns;
  split(tile, row, size, size, values);
  for (int l = 0; l < lanes; l++) {
    const corner *i = &corners[I][l], *j = &corners[J][l];
    if (!i->diagonal) continue;
    const int64_t pair = t->pair_start[first + l] + I * vertices_of(t, first + l) + J;
    add_tile(assembler, t, i, j, t->positions[pair], values + l * size, rows, columns);
  }
}

INLINE void scatter_tiles(const symancf_assembler *assembler, const symancf_term *t, int first, int lanes,
                          const v8 *restrict K, corner (*corners)[LANES], const int nf,
                          const int ns)
{
  const int nb = 3 * nf, n = t->corners, parts = nf == 1 ? 1 : t->parts;
  const v8 *maps = (const v8 *)t->maps + (int64_t)(first / LANES) * n * ns * ns;
  int16_t straight[MAX_TILE], flipped[MAX_TILE];
  for (int k = 0; k < nb * nb; k++) {
    straight[k] = k;
    flipped[k] = k % nb * nb + k / nb;
  }
  for (int v = 0; v < n; v++)
    for (int l = 0; l < lanes; l++) {
      const int32_t *block = t->blocks + ((int64_t)(first + l) * n + v) * parts;
      corners[v][l] = find_corner(assembler, t, first + l, v, block, parts);
    }
  v8 mapped[MAX_TILE];
  for (int I = 0; I < n; I++)
    for (int J = 0; J < n; J++) {
      const int below = t->symmetric && I > J;
      if (nf == 1) { /* the packed blocks are the tiles */
        int turned;
        const v8 *tile = find_block(K, t->symmetric, coefficients(t), I, J, &turned);
        add_lanes(assembler, t, first, lanes, corners, I, J, tile, turned ? flipped : straight, nb, nb);
      } else if (!below) {
        map_tile(t, K, maps, I, J, nf, ns, mapped);
        add_lanes(assembler, t, first, lanes, corners, I, J, mapped, straight, nb, nb);
        if (t->symmetric && I < J) /* the tile below is its transpose */
          add_lanes(assembler, t, first, lanes, corners, J, I, mapped, flipped, nb, nb);
      }
    }
}

/* Doubles that the corners of 8 cells take. */
static inline int64_t corner_size(const symancf_term *t)
{
  return (int64_t)(sizeof(corner) * LANES / sizeof(double)) * t->corners;
}

/* Nodes with any vectors. */
static __attribute__((noinline)) void scatter_any(const symancf_assembler *assembler, const symancf_term *t,
                                                  int first, int lanes, const v8 *restrict K,
                                                  corner (*corners)[LANES])
{
  scatter_tiles(assembler, t, first, lanes, K, corners, t->vectors, t->mapped);
}

/* `corners` is scratch. */
static void scatter_matrix(const symancf_assembler *assembler, const symancf_term *t, int first, int lanes,
                           const double *K, corner (*corners)[LANES])
{
  const v8 *k = (const v8 *)K;
  const int nf = t->vectors, ns = t->mapped;
  if (nf == 1) scatter_tiles(assembler, t, first, lanes, k, corners, 1, 0);
  else if (nf == 2 && ns == 1) scatter_tiles(assembler, t, first, lanes, k, corners, 2, 1);
  else if (nf == 3 && ns == 2) scatter_tiles(assembler, t, first, lanes, k, corners, 3, 2);
  else if (nf == 4 && ns == 3) scatter_tiles(assembler, t, first, lanes, k, corners, 4, 3);
  else scatter_any(assembler, t, first, lanes, k, corners);
}

#endif
