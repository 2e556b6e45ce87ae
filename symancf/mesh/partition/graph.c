/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs of vertices in compressed rows: united from those of several ranks, and an order for locality.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHORT 48 /* numbers up to which insertion takes less time than qsort */

/* Sort numbers in place, by an order of two of them. */
#define SORT(NAME, NUMBER, ORDER)                                                                  \
  static void NAME(NUMBER *at, const int64_t count)                                                \
  {                                                                                                \
    if (count > SHORT) {                                                                           \
      qsort(at, (size_t)count, sizeof *at, ORDER);                                                 \
      return;                                                                                      \
    }                                                                                              \
    for (int64_t k = 1; k < count; k++) {                                                          \
      const NUMBER v = at[k];                                                                      \
      int64_t p = k;                                                                               \
      for (; p > 0 && ORDER(at + p - 1, &v) > 0; p--) at[p] = at[p - 1];                           \
      at[p] = v;                                                                                   \
    }                                                                                              \
  }

static int compare_long(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

SORT(sort_long, int64_t, compare_long)

/*
 * Unite rows of which some come in several pieces: piece k is of row[k], count[k] columns that follow
 * those of piece k - 1 and ascend.  Each of the n rows of `to` ascends without repetition, from
 * start[n + 1] on.  Returns the number of entries, or -1 when memory is short.
 */
int64_t symancf_unite(int32_t n, int64_t pieces, const int32_t *row, const int64_t *count, const int64_t *column,
                      int64_t *start, int64_t *to)
{
  int64_t *end = calloc((size_t)n + 1, sizeof *end), place = 0;
  char *several = calloc((size_t)n + 1, 1);
  if (end && several) {
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    for (int64_t k = 0; k < pieces; k++) start[row[k] + 1] += count[k];
    for (int32_t v = 0; v < n; v++) start[v + 1] += start[v];
    memcpy(end, start, ((size_t)n + 1) * sizeof *end);
    for (int64_t k = 0; k < pieces; column += count[k++]) {
      several[row[k]] |= end[row[k]] > start[row[k]];
      memcpy(to + end[row[k]], column, (size_t)count[k] * sizeof *to);
      end[row[k]] += count[k];
    }
    for (int32_t v = 0; v < n; v++) {
      const int64_t first = start[v];
      if (several[v]) sort_long(to + first, end[v] - first);
      start[v] = place;
      for (int64_t k = first; k < end[v]; k++)
        if (k == first || to[k] != to[k - 1]) to[place++] = to[k];
    }
    start[n] = place;
  } else {
    place = -1;
  }
  free(end);
  free(several);
  return place;
}

static const int64_t *degree_start; /* for by_degree */
static int by_degree(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  const int64_t p = degree_start[x + 1] - degree_start[x], q = degree_start[y + 1] - degree_start[y];
  return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

SORT(sort_by_degree, int32_t, by_degree)

/*
 * Breadth-first search from a root: `order` receives the vertices that it reaches, neighbours by
 * degree if `sorted`.  Vertices with mark[v] == stamp count as reached.  Returns their number; *last is the
 * place in `order` where the last level begins, *depth the number of levels.
 */
static int32_t search(const int64_t *start, const int32_t *neighbours, int sorted, int32_t root, int32_t stamp,
                      int32_t *mark, int32_t *order, int32_t *last, int32_t *depth)
{
  int32_t count = 1, level_end = 1;
  order[0] = root;
  mark[root] = stamp;
  *last = 0;
  *depth = 1;
  for (int32_t k = 0; k < count; k++) {
    if (k == level_end) {
      *last = k;
      level_end = count;
      ++*depth;
    }
    const int32_t v = order[k], first = count;
    for (int64_t p = start[v]; p < start[v + 1]; p++)
      if (mark[neighbours[p]] != stamp) {
        mark[neighbours[p]] = stamp;
        order[count++] = neighbours[p];
      }
    if (sorted) sort_by_degree(order + first, count - first);
  }
  return count;
}

/* List the vertices in the order of `by_degree`: those of each degree ascend.  Returns 1 without memory. */
static int list_by_degree(int32_t n, const int64_t *start, int32_t *by)
{
  int64_t most = 0;
  for (int32_t v = 0; v < n; v++) most = start[v + 1] - start[v] > most ? start[v + 1] - start[v] : most;
  int32_t *place = calloc((size_t)most + 2, sizeof *place);
  if (!place) return 1;
  for (int32_t v = 0; v < n; v++) place[start[v + 1] - start[v] + 1]++;
  for (int64_t d = 0; d <= most; d++) place[d + 1] += place[d];
  for (int32_t v = 0; v < n; v++) by[place[start[v + 1] - start[v]]++] = v;
  free(place);
  return 0;
}

/*
 * Reverse Cuthill-McKee order (Cuthill, McKee 1969; roots by George, Liu 1979): order[n], new
 * place -> vertex.  Returns 0, or 1 when memory is short.
 */
int symancf_order(int32_t n, const int64_t *start, const int32_t *neighbours, int32_t *order)
{
  int32_t *mark = malloc(((size_t)n + 1) * sizeof *mark), *by = malloc(((size_t)n + 1) * sizeof *by);
  int32_t *found = malloc(((size_t)n + 1) * sizeof *found);
  if (!mark || !by || !found) return 1;
  degree_start = start;
  memset(mark, 0xff, ((size_t)n + 1) * sizeof *mark);
  if (list_by_degree(n, start, by)) return 1;
  int32_t done = 0, stamp = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t root = by[k], last, depth, deeper, count;
    if (mark[root] >= 0) continue; /* reached before */
    count = search(start, neighbours, 0, root, stamp++, mark, found, &last, &depth);
    for (int tries = 0; tries < 8; tries++) { /* a vertex far from the others */
      int32_t far = found[last];
      for (int32_t p = last; p < count; p++)
        if (by_degree(found + p, &far) < 0) far = found[p];
      search(start, neighbours, 0, far, stamp++, mark, found, &last, &deeper);
      if (deeper <= depth) break;
      depth = deeper;
      root = far;
    }
    search(start, neighbours, 1, root, stamp++, mark, order + done, &last, &depth);
    done += count;
  }
  for (int32_t k = 0; k < n / 2; k++) {
    const int32_t swap = order[k];
    order[k] = order[n - 1 - k];
    order[n - 1 - k] = swap;
  }
  free(mark);
  free(by);
  free(found);
  return 0;
}

/* Put two vertices under the least one of both. */
static inline void join(int32_t *least, int32_t a, int32_t b)
{
  while (least[a] != a) a = least[a] = least[least[a]];
  while (least[b] != b) b = least[b] = least[least[b]];
  if (a < b) least[b] = a;
  else least[a] = b;
}

/*
 * Join the vertices of each of n lists, vertices[start[k]] to vertices[start[k + 1]], that are `among` those
 * that join; `least` of a vertex is itself at first, and is complete after symancf_least.
 */
void symancf_join_lists(int32_t n, const int32_t *start, const int32_t *vertices, const uint8_t *among, int32_t *least)
{
  for (int32_t k = 0; k < n; k++) {
    int32_t last = -1;
    for (int32_t q = start[k]; q < start[k + 1]; q++) {
      const int32_t v = vertices[q];
      if (!among[v]) continue;
      if (last >= 0) join(least, last, v);
      last = v;
    }
  }
}

/* The least vertex that each of n is joined with. */
void symancf_least(int32_t n, int32_t *least)
{
  for (int32_t v = 0; v < n; v++) least[v] = least[least[v]]; /* ascending: roots come first */
}

/*
 * The least of the vertices that pairs (2 count) connect each one of n with: least[n].  Trees whose
 * roots are their least vertices are joined, paths halved.
 */
void symancf_connected(int32_t n, int64_t count, const int32_t *pairs, int32_t *least)
{
  for (int32_t v = 0; v < n; v++) least[v] = v;
  for (int64_t k = 0; k < count; k++) join(least, pairs[2 * k], pairs[2 * k + 1]);
  symancf_least(n, least);
}
