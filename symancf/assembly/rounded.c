/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy in single precision of entries as PETSc's AIJ stores them, and products with it.
 *
 * The rows of a vertex follow each other and share one pattern, whose columns are runs of `width`
 * that begin at `column`: the part of x that they meet is gathered once for all of these rows. Three
 * rows are taken at a time, then single ones. In the copy such rows lie together, 8 entries of each
 * in turn, filled up with zeros: one stream of memory, read once. Sums are in double precision.
 */
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define AHEAD 4096 /* bytes */
#define UP(m) (((m) + 7) / 8 * 8)

typedef double v8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));

typedef struct { /* the columns of this rank's rows, or all others */
  int32_t width, vertices;
  const int32_t *first, *start, *column; /* row of each vertex, place of each row, begins of runs */
} Part;

/* Rows from `row` on that are taken at a time, of a vertex whose rows end at `end`. */
INLINE int at_a_time(const int32_t row, const int32_t end) { return row + 3 <= end ? 3 : 1; }

/*
 * Copy the entries a, divided by `scale`, unless `to` is NULL.  Returns how many floats that takes.
 */
int64_t symancf_round(const Part *p, const double *a, double scale, float *to)
{
  int64_t place = 0;
  for (int32_t v = 0; v < p->vertices; v++) {
    const int32_t end = p->first[v + 1];
    for (int32_t row = p->first[v], n; row < end; row += n) {
      n = at_a_time(row, end);
      const int64_t m = p->start[row + 1] - (int64_t)p->start[row], size = n * UP(m);
      if (to) {
        memset(to + place, 0, (size_t)size * sizeof *to);
        for (int32_t r = 0; r < n; r++)
          for (int64_t k = 0; k < m; k++)
            to[place + k / 8 * 8 * n + 8 * r + k % 8] = (float)(a[p->start[row + r] + k] / scale);
      }
      place += size;
    }
  }
  return place;
}

/* y[0..n-1] = or += scale times n rows of m entries times x. */
INLINE void rows(const int n, const int64_t m, const float *a, const double *x, const double scale,
                 const int add, double *y)
{
  v8 sum[3] = {{0}};
  for (int64_t k = 0; k < m; k += 8, a += 8 * n)
    for (int r = 0; r < n; r++)
      sum[r] += __builtin_convertvector(*(const f8 *)(a + 8 * r), v8) * *(const v8 *)(x + k);
  for (int r = 0; r < n; r++) {
    double total = 0.0;
    for (int l = 0; l < 8; l++) total += sum[r][l];
    y[r] = scale * total + (add ? y[r] : 0.0);
  }
}

INLINE void multiply(const int width, const Part *p, const float *a, const double *x,
                     const double scale, const int add, double *gathered, double *y)
{
  const int32_t *column = p->column;
  for (int32_t v = 0; v < p->vertices; v++) {
    int32_t row = p->first[v];
    const int32_t end = p->first[v + 1];
    const int64_t m = p->start[row + 1] - (int64_t)p->start[row], up = UP(m);
    if (add && !m) continue;
    for (int64_t q = 0; q < 4 * (end - row) * up; q += 64)
      __builtin_prefetch((const char *)a + AHEAD + q);
    for (int64_t k = 0; k < m; k += width, column++)
      for (int c = 0; c < width; c++) gathered[k + c] = x[*column + c];
    for (int64_t k = m; k < up; k++) gathered[k] = 0.0;
    for (; at_a_time(row, end) == 3; row += 3, a += 3 * up)
      rows(3, up, a, gathered, scale, add, y + row);
    for (; row < end; row++, a += up) rows(1, up, a, gathered, scale, add, y + row);
  }
}

/* y = or += scale a x of a part; `gathered` has room for a row, filled up. */
void symancf_multiply(const Part *p, const float *a, const double *x, double scale, int32_t add,
                      double *gathered, double *y)
{
  if (p->width == 3) multiply(3, p, a, x, scale, add, gathered, y);
  else multiply(p->width, p, a, x, scale, add, gathered, y);
}
