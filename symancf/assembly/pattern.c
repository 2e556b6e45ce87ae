/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pattern of the tangent: adjacency of vertices, places of vertex pairs, rows and columns.
 *
 * All rows of a vertex share one column pattern: all free coordinates of all adjacent vertices.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { /* the entities that touch each owned vertex: twice if they have it twice */
  int32_t *start, *entity;
} Touching;

static int list_touching(int32_t owned, int32_t n, const int32_t *entity_start, const int32_t *vertices, Touching *to)
{
  to->start = calloc((size_t)owned + 2, sizeof *to->start), to->entity = NULL;
  if (!to->start) return 1;
  const int32_t total = n ? entity_start[n] : 0;
  int32_t *place = to->start + 1; /* where the next one goes; in the end where the next vertex begins */
  for (int32_t p = 0; p < total; p++)
    if (vertices[p] < owned) place[vertices[p] + 1]++;
  for (int32_t v = 0; v < owned; v++) place[v + 1] += place[v];
  to->entity = malloc(((size_t)place[owned] + 1) * sizeof *to->entity);
  if (!to->entity) return 1;
  for (int32_t e = 0; e < n; e++)
    for (int32_t p = entity_start[e]; p < entity_start[e + 1]; p++)
      if (vertices[p] < owned) to->entity[place[vertices[p]]++] = e;
  return 0;
}

static void forget(Touching *these)
{
  free(these->start);
  free(these->entity);
}

typedef struct {
  int64_t global;
  int32_t local;
} Vertex;

static int compare(const void *a, const void *b)
{
  const int64_t x = ((const Vertex *)a)->global, y = ((const Vertex *)b)->global;
  return (x > y) - (x < y);
}

#define SHORT 64 /* vertices up to which insertion takes less time than qsort */

static void sort(Vertex *at, int64_t count)
{
  if (count > SHORT) {
    qsort(at, (size_t)count, sizeof *at, compare);
    return;
  }
  for (int64_t k = 1; k < count; k++) {
    const Vertex v = at[k];
    int64_t p = k;
    for (; p > 0 && at[p - 1].global > v.global; p--) at[p] = at[p - 1];
    at[p] = v;
  }
}

/*
 * Adjacency of owned vertices: start[owned + 1] and, unless columns is NULL, the adjacent local
 * vertices ordered by their global number; of vertices without entities themselves if `every`.
 * Returns the number of pairs, or -1.
 */
int64_t symancf_adjacency(int32_t owned, int32_t local, int32_t n, const int32_t *entity_start,
                          const int32_t *entity_vertices, const int64_t *global, int32_t every,
                          int64_t *start, int32_t *columns)
{
  int32_t *marker = malloc(((size_t)local + 1) * sizeof *marker);
  int64_t pairs = 0, capacity = 64;
  Vertex *near = malloc((size_t)capacity * sizeof *near);
  Touching touching = {NULL, NULL};
  if (!marker || !near || list_touching(owned, n, entity_start, entity_vertices, &touching)) pairs = -1;
  if (!pairs) memset(marker, 0xff, ((size_t)local + 1) * sizeof *marker);
  start[0] = 0;
  for (int32_t v = 0; v < owned && pairs >= 0; v++) {
    int64_t found = 1;
    if (!every && touching.start[v] == touching.start[v + 1]) {
      start[v + 1] = pairs;
      continue;
    }
    marker[v] = v; /* the diagonal exists */
    near[0].global = global[v], near[0].local = v;
    for (int32_t k = touching.start[v]; k < touching.start[v + 1] && found; k++) {
      const int32_t e = touching.entity[k];
      for (int32_t p = entity_start[e]; p < entity_start[e + 1]; p++) {
        const int32_t w = entity_vertices[p];
        if (marker[w] == v) continue;
        marker[w] = v;
        if (found == capacity) {
          Vertex *more = realloc(near, 2 * (size_t)capacity * sizeof *near);
          if (!more) {
            found = 0;
            break;
          }
          near = more, capacity *= 2;
        }
        near[found].global = global[w], near[found++].local = w;
      }
    }
    if (columns && found) {
      sort(near, found);
      for (int64_t k = 0; k < found; k++) columns[pairs + k] = near[k].local;
    }
    start[v + 1] = pairs = found ? pairs + found : -1;
  }
  forget(&touching);
  free(marker);
  free(near);
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
 * Returns the number, from 1 on, of an entity with a pair that is none of the pattern, 0, or -1 without memory.
 */
int32_t symancf_positions(int32_t owned, int32_t local, const int64_t *start, const int32_t *columns,
                          const int32_t *offsets, int32_t n, const int32_t *vertex_start, const int32_t *vertices,
                          const int64_t *pair_start, int32_t *positions)
{
  int64_t *place = calloc((size_t)local + 1, sizeof *place); /* of each vertex in the last row that has it */
  Touching touching = {NULL, NULL};
  int32_t wrong = !place || list_touching(owned, n, vertex_start, vertices, &touching) ? -1 : 0;
  if (!wrong) memset(positions, 0, (size_t)pair_start[n] * sizeof *positions);
  for (int32_t v = 0; v < owned && !wrong; v++) {
    for (int64_t k = start[v]; k < start[v + 1]; k++) place[columns[k]] = k;
    for (int32_t t = touching.start[v]; t < touching.start[v + 1]; t++) {
      const int32_t e = touching.entity[t], corners = vertex_start[e + 1] - vertex_start[e];
      const int32_t *vertex = vertices + vertex_start[e];
      for (int32_t i = 0; i < corners; i++) {
        if (vertex[i] != v) continue;
        int32_t *position = positions + pair_start[e] + (int64_t)i * corners;
        for (int32_t j = 0; j < corners; j++) {
          const int64_t k = place[vertex[j]];
          if (k < start[v] || columns[k] != vertex[j]) wrong = e + 1;
          else position[j] = offsets[k];
        }
      }
    }
  }
  forget(&touching);
  free(place);
  return wrong;
}

/* Columns of all rows: those of the diagonal part count from first_row, the others are global. */
void symancf_columns(int32_t owned, const int64_t *start, const int32_t *columns, const int32_t *row_count,
                     int64_t first_row, const int64_t *first_column, int32_t *diagonal, int32_t *off)
{
  for (int32_t v = 0; v < owned; v++) {
    if (!row_count[v]) continue;
    const int32_t *here = diagonal, *there = off;
    for (int64_t k = start[v]; k < start[v + 1]; k++) {
      const int32_t w = columns[k];
      for (int32_t b = 0; b < row_count[w]; b++) {
        if (w < owned) *diagonal++ = (int32_t)(first_column[w] - first_row + b);
        else *off++ = (int32_t)(first_column[w] + b);
      }
    }
    const int64_t m = diagonal - here, q = off - there;
    for (int32_t a = 1; a < row_count[v]; a++) { /* the other rows have the same */
      memcpy(diagonal, here, (size_t)m * sizeof *diagonal), diagonal += m;
      memcpy(off, there, (size_t)q * sizeof *off), off += q;
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
