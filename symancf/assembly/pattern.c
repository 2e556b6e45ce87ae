/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pattern of the tangent: adjacency of vertices, places of vertex pairs, rows and columns.
 *
 * All rows of a vertex share one column pattern: all free coordinates of all adjacent vertices.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/*
 * Adjacency of owned vertices: start[owned + 1] and, unless columns is NULL, the adjacent local
 * vertices ordered by their global number.  Returns the number of pairs, or -1.
 */
int64_t symancf_adjacency(int32_t owned, int32_t local, int32_t n, const int32_t *entity_start,
                          const int32_t *entity_vertices, const int64_t *global, int64_t *start,
                          int32_t *columns)
{
  int32_t *count = calloc((size_t)owned + 1, sizeof *count), *marker = malloc(((size_t)local + 1) * sizeof *marker);
  if (!count || !marker) return -1;
  const int32_t total = n ? entity_start[n] : 0;
  for (int32_t p = 0; p < total; p++)
    if (entity_vertices[p] < owned) count[entity_vertices[p] + 1]++;
  for (int32_t v = 0; v < owned; v++) count[v + 1] += count[v];
  int32_t *touching = malloc(((size_t)count[owned] + 1) * sizeof *touching);
  int32_t *cursor = malloc(((size_t)owned + 1) * sizeof *cursor);
  if (!touching || !cursor) return -1;
  memcpy(cursor, count, ((size_t)owned + 1) * sizeof *cursor);
  for (int32_t e = 0; e < n; e++)
    for (int32_t p = entity_start[e]; p < entity_start[e + 1]; p++)
      if (entity_vertices[p] < owned) touching[cursor[entity_vertices[p]]++] = e;
  memset(marker, 0xff, ((size_t)local + 1) * sizeof *marker);
  int64_t pairs = 0, capacity = 64;
  int64_t *keys = malloc((size_t)capacity * 2 * sizeof *keys);
  if (!keys) return -1;
  start[0] = 0;
  for (int32_t v = 0; v < owned; v++) {
    int64_t found = 0;
    marker[v] = v; /* the diagonal always exists */
    keys[0] = global[v];
    keys[1] = v;
    found = 1;
    for (int32_t k = count[v]; k < count[v + 1]; k++) {
      const int32_t e = touching[k];
      for (int32_t p = entity_start[e]; p < entity_start[e + 1]; p++) {
        const int32_t w = entity_vertices[p];
        if (marker[w] == v) continue;
        marker[w] = v;
        if (found == capacity) {
          capacity *= 2;
          int64_t *more = realloc(keys, (size_t)capacity * 2 * sizeof *keys);
          if (!more) return -1;
          keys = more;
        }
        keys[2 * found] = global[w];
        keys[2 * found + 1] = w;
        found++;
      }
    }
    if (columns) {
      qsort(keys, (size_t)found, 2 * sizeof *keys, compare);
      for (int64_t k = 0; k < found; k++) columns[pairs + k] = (int32_t)keys[2 * k + 1];
    }
    pairs += found;
    start[v + 1] = pairs;
  }
  free(count);
  free(marker);
  free(touching);
  free(cursor);
  free(keys);
  return pairs;
}

/*
 * Row pointers of the diagonal and off-diagonal parts, and for each adjacent pair the place of the
 * column vertex's first row in any row of the row vertex: within the diagonal part (>= 0) or the
 * off-diagonal part (~).  Returns the number of entries of the larger part; where that is no number of
 * 32 bits the pointers are not to be used.
 */
int64_t symancf_rows(int32_t owned, const int64_t *start, const int32_t *columns, const int32_t *row_count,
                 int32_t *offsets, int32_t *diagonal_start, int32_t *off_start)
{
  int32_t row = 0;
  int64_t total = 0, off_total = 0;
  for (int32_t v = 0; v < owned; v++) {
    int32_t diagonal = 0, off = 0;
    for (int64_t k = start[v]; k < start[v + 1]; k++) {
      const int32_t w = columns[k];
      if (w < owned) {
        offsets[k] = diagonal;
        diagonal += row_count[w];
      } else {
        offsets[k] = ~off;
        off += row_count[w];
      }
    }
    for (int32_t a = 0; a < row_count[v]; a++) {
      total += diagonal;
      off_total += off;
      row++;
      diagonal_start[row] = (int32_t)total;
      off_start[row] = (int32_t)off_total;
    }
  }
  return total > off_total ? total : off_total;
}

/*
 * Positions of all vertex pairs of entities (0 where the row is not owned).
 * Returns the number, from 1 on, of an entity with a pair that is none of the pattern, or 0.
 */
int symancf_positions(int32_t owned, const int64_t *start, const int32_t *columns, const int32_t *offsets,
                      const int64_t *global, int32_t n, const int32_t *vertex_start,
                      const int32_t *vertices, const int64_t *pair_start, int32_t *positions)
{
  for (int32_t e = 0; e < n; e++) {
    const int32_t *vertex = vertices + vertex_start[e];
    const int corners = vertex_start[e + 1] - vertex_start[e];
    for (int i = 0; i < corners; i++)
      for (int j = 0; j < corners; j++) {
        int32_t *position = positions + pair_start[e] + (int64_t)i * corners + j;
        *position = 0;
        if (vertex[i] >= owned) continue;
        int64_t low = start[vertex[i]], high = start[vertex[i] + 1] - 1;
        const int64_t wanted = global[vertex[j]];
        while (low < high) {
          const int64_t middle = (low + high) / 2;
          if (global[columns[middle]] < wanted) low = middle + 1;
          else high = middle;
        }
        if (columns[low] != vertex[j]) return e + 1;
        *position = offsets[low];
      }
  }
  return 0;
}

/* Columns of all rows: those of the diagonal part count from first_row, the others are global. */
void symancf_columns(int32_t owned, const int64_t *start, const int32_t *columns, const int32_t *row_count,
                     int64_t first_row, const int64_t *first_column, int32_t *diagonal, int32_t *off)
{
  for (int32_t v = 0; v < owned; v++)
    for (int32_t a = 0; a < row_count[v]; a++)
      for (int64_t k = start[v]; k < start[v + 1]; k++) {
        const int32_t w = columns[k];
        for (int32_t b = 0; b < row_count[w]; b++) {
          if (w < owned) *diagonal++ = (int32_t)(first_column[w] - first_row + b);
          else *off++ = (int32_t)(first_column[w] + b);
        }
      }
}

/* Place of a column in an ascending list of some, or -1. */
static int32_t find(const int32_t *columns, int32_t count, int64_t wanted)
{
  int32_t low = 0, high = count;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (columns[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low < count && columns[low] == wanted ? low : -1;
}

/*
 * Positions as of symancf_positions, from the columns of a pattern: of entities that came later.
 * A pair of a vertex without rows stands anywhere.
 */
int symancf_find(int32_t owned, const int32_t *vertex_row, const int32_t *row_count,
                 const int64_t *first_column, int64_t first_row, const int32_t *diagonal_start,
                 const int32_t *diagonal, const int32_t *off_start, const int32_t *off, int32_t n,
                 const int32_t *vertex_start, const int32_t *vertices, const int64_t *pair_start,
                 int32_t *positions)
{
  for (int32_t e = 0; e < n; e++) {
    const int32_t *vertex = vertices + vertex_start[e];
    const int corners = vertex_start[e + 1] - vertex_start[e];
    for (int i = 0; i < corners; i++)
      for (int j = 0; j < corners; j++) {
        int32_t *position = positions + pair_start[e] + (int64_t)i * corners + j;
        const int32_t v = vertex[i], w = vertex[j];
        *position = 0;
        if (v >= owned || !row_count[v] || !row_count[w]) continue;
        const int32_t row = vertex_row[v], d = diagonal_start[row], o = off_start[row];
        const int32_t place = w < owned
                                  ? find(diagonal + d, diagonal_start[row + 1] - d, first_column[w] - first_row)
                                  : find(off + o, off_start[row + 1] - o, first_column[w]);
        if (place < 0) return e + 1;
        *position = w < owned ? place : ~place;
      }
  }
  return 0;
}
