/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symmetric graph of n vertices along links of cells, in compressed rows.  Each link goes to the
 * row of its lower end first, where equal ones meet; pairs outside 0 <= v < n and loops are left out.
 *
 * sizes = {n, cells, vertices of a cell, links of a cell}; vertices[cells][nv]; links[nl][2].
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHORT 48 /* numbers up to which insertion takes less time than qsort */

#define EACH_LINK                                                                                  \
  for (int64_t c = 0; c < sizes[1]; c++)                                                           \
    for (int64_t k = 0; k < sizes[3]; k++) {                                                       \
      const int32_t a = vertices[c * sizes[2] + links[2 * k]];                                     \
      const int32_t b = vertices[c * sizes[2] + links[2 * k + 1]];                                 \
      const int32_t low = a < b ? a : b, high = a < b ? b : a;                                     \
      if (low < 0 || high >= sizes[0] || low == high) continue;

/* Add the number of links whose lower end is v to start[v + 1]. */
void symancf_count_links(const int64_t *sizes, const int32_t *vertices, const int32_t *links, int64_t *start)
{
  EACH_LINK start[low + 1]++;
  }
}

/* Put the higher ends of the links of v at upper[end[v]++]. */
void symancf_place_links(const int64_t *sizes, const int32_t *vertices, const int32_t *links, int64_t *end,
                         int32_t *upper)
{
  EACH_LINK upper[end[low]++] = high;
  }
}

static int compare(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Sort the rows upper[start[v]] ... [end[v]] and leave equal links out: rows and start move together. */
void symancf_unite_links(int32_t n, int64_t *start, int32_t *upper, const int64_t *end)
{
  int64_t place = 0;
  for (int32_t v = 0; v < n; v++) {
    int32_t *row = upper + start[v];
    const int64_t length = end[v] - start[v];
    int64_t count = 0; /* different ones so far, ascending */
    if (length > SHORT) qsort(row, (size_t)length, sizeof *row, compare);
    for (int64_t k = 0; k < length; k++) {
      const int32_t w = row[k];
      int64_t p = count;
      while (p > 0 && row[p - 1] > w) p--;
      if (p > 0 && row[p - 1] == w) continue;
      memmove(row + p + 1, row + p, (size_t)(count++ - p) * sizeof *row);
      row[p] = w;
    }
    memmove(upper + place, row, (size_t)count * sizeof *row);
    start[v] = place;
    place += count;
  }
  start[n] = place;
}

/* Rows of both ends, ascending: neighbours[2 start[n]] from every[n + 1] on; `end` is for work. */
void symancf_symmetric(int32_t n, const int64_t *start, const int32_t *upper, int64_t *end, int64_t *every,
                       int32_t *neighbours)
{
  memset(every, 0, ((size_t)n + 1) * sizeof *every);
  for (int32_t v = 0; v < n; v++) {
    every[v + 1] += start[v + 1] - start[v];
    for (int64_t k = start[v]; k < start[v + 1]; k++) every[upper[k] + 1]++;
  }
  for (int32_t v = 0; v < n; v++) every[v + 1] += every[v];
  memcpy(end, every, ((size_t)n + 1) * sizeof *end);
  for (int32_t v = 0; v < n; v++) /* lower neighbours of v are there before its higher ones */
    for (int64_t k = start[v]; k < start[v + 1]; k++) {
      neighbours[end[v]++] = upper[k];
      neighbours[end[upper[k]]++] = v;
    }
}
