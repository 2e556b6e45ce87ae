/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of rows of blocks, three rows at a time, and steps of a polynomial with them. */

/* D^-1 f of a node. */
INLINE void solve_block(const float *D, const float f[3], float to[3])
{
  for (int a = 0; a < 3; a++) to[a] = D[3 * a] * f[0] + D[3 * a + 1] * f[1] + D[3 * a + 2] * f[2];
}

/* d = factor D^-1 (b - A x) + keep d and x += d at a node; of the `first` step both are the first term. */
INLINE void step_of_node(const Level *A, const int32_t i, const int first, const float factor, const float keep)
{
  const int64_t k = 3 * (int64_t)i;
  float f[3], z[3];
  for (int c = 0; c < 3; c++) f[c] = first ? A->b[k + c] : A->b[k + c] - A->r[k + c];
  solve_block(A->inverse + 3 * k, f, z);
  for (int c = 0; c < 3; c++) {
    A->d[k + c] = factor * z[c] + (keep != 0.0f ? keep * A->d[k + c] : 0.0f);
    A->x[k + c] = first ? A->d[k + c] : A->x[k + c] + A->d[k + c];
  }
}

#define ROWS(NAME, REAL, V, W)                                                                     \
  INLINE REAL NAME##_sum(const V v)                                                                \
  {                                                                                                \
    REAL s[4];                                                                                     \
    for (int l = 0; l < 4; l++) s[l] = v[l];                                                       \
    for (int l = 4; l < W; l++) s[l % 4] += v[l]; /* chains that do not wait for each other */     \
    return (s[0] + s[1]) + (s[2] + s[3]);                                                          \
  }                                                                                                \
  /* Gather the values of n nodes and fill up with zeros. */                                       \
  INLINE void NAME##_gather(const int32_t n, const int32_t *column, const REAL *x, REAL *to)       \
  {                                                                                                \
    for (int32_t k = 0; k < n; k++)                                                                \
      for (int c = 0; c < 3; c++) to[3 * k + c] = x[3 * (int64_t)column[k] + c];                   \
    for (int32_t k = 3 * n; k % W; k++) to[k] = 0;                                                 \
  }                                                                                                \
  /* y[0..2] of three rows of m entries: what is behind m meets zeros. */                          \
  INLINE void NAME##_dot(const int32_t m, const REAL *v, const REAL *x, REAL *y)                   \
  {                                                                                                \
    V s0 = {0}, s1 = {0}, s2 = {0};                                                                \
    for (int32_t k = 0; k < m; k += W) {                                                           \
      const V b = *(const V *)(x + k);                                                             \
      s0 += *(const V *)(v + k) * b;                                                               \
      s1 += *(const V *)(v + m + k) * b;                                                           \
      s2 += *(const V *)(v + 2 * m + k) * b;                                                       \
    }                                                                                              \
    y[0] = NAME##_sum(s0), y[1] = NAME##_sum(s1), y[2] = NAME##_sum(s2);                           \
  }                                                                                                \
  /* y = or += A x of a part. */                                                                   \
  static void NAME##_multiply(const int32_t nodes, const Part *p, const REAL *v, const REAL *x,    \
                              const int add, REAL *row, REAL *y)                                   \
  {                                                                                                \
    for (int32_t i = 0; i < nodes; i++) {                                                          \
      const int32_t n = p->start[i + 1] - p->start[i];                                             \
      REAL sum[3];                                                                                 \
      if (add && !n) continue;                                                                     \
      ahead(v, 9 * (int64_t)n * (int64_t)sizeof *v);                                               \
      NAME##_gather(n, p->column + p->start[i], x, row);                                           \
      NAME##_dot(3 * n, v, row, sum);                                                              \
      for (int c = 0; c < 3; c++) y[3 * (int64_t)i + c] = sum[c] + (add ? y[3 * (int64_t)i + c] : 0); \
      v += 9 * (int64_t)n;                                                                         \
    }                                                                                              \
  }

ROWS(real, double, doubles, DOUBLES)
ROWS(single, float, singles, SINGLES)

/*
 * y = A x of a symmetric part, from its blocks on and behind the diagonal; or, if `steps`, a step of the
 * polynomial with it, see `advance`: what stands before a row is complete, and no later one needs its x.
 */
INLINE void rows_of_half(const Level *A, const int steps, const float factor, const float keep, float *x, float *y)
{
  const float *v = A->values;
  float *row = A->row, *later = row + A->longest, *down = later + A->longest;
  const int32_t *column = A->own.column;
  memset(y, 0, 3 * (size_t)A->nodes * sizeof *y);
  if (A->rest) single_multiply(A->nodes, &A->rest->own, A->rest->values, x, 1, A->row, y); /* before x changes */
  if (A->nodes) single_gather(A->own.start[1] - A->diagonal[0], column + A->diagonal[0], x, later);
  for (int32_t i = 0; i < A->nodes; i++) {
    const int32_t *c = column + A->diagonal[i], n = A->own.start[i + 1] - A->diagonal[i], m = 3 * n;
    float *const now = later;
    later = row, row = now; /* of the next row: it meets no x that a step changes */
    if (i + 1 < A->nodes)
      single_gather(A->own.start[i + 2] - A->diagonal[i + 1], column + A->diagonal[i + 1], x, later);
    const float x0 = x[3 * (int64_t)i], x1 = x[3 * (int64_t)i + 1], x2 = x[3 * (int64_t)i + 2];
    float *yi = y + 3 * (int64_t)i;
    singles s0 = {0}, s1 = {0}, s2 = {0};
    ahead(v, 9 * (int64_t)n * (int64_t)sizeof *v);
    for (int32_t k = 0; k < m; k += SINGLES) {
      const singles b = *(const singles *)(row + k), v0 = *(const singles *)(v + k);
      const singles v1 = *(const singles *)(v + m + k), v2 = *(const singles *)(v + 2 * m + k);
      s0 += v0 * b;
      s1 += v1 * b;
      s2 += v2 * b;
      *(singles *)(down + k) = v0 * x0 + v1 * x1 + v2 * x2;
    }
    yi[0] += single_sum(s0), yi[1] += single_sum(s1), yi[2] += single_sum(s2);
    for (int32_t k = 1; k < n; k++)
      for (int a = 0; a < 3; a++) y[3 * (int64_t)c[k] + a] += down[3 * k + a];
    v += 9 * (int64_t)n;
    if (steps) step_of_node(A, i, 0, factor, keep);
  }
}

static void multiply_half(const Level *A, float *x, float *y)
{
  rows_of_half(A, 0, 0.0f, 0.0f, x, y);
}

/* y = or += a x of a part in double precision; `row` has room for the longest one, filled up. */
void symancf_multiply_blocks(int32_t nodes, const Part *p, const double *a, const double *x, int32_t add,
                             double *row, double *y)
{
  if (add) real_multiply(nodes, p, a, x, 1, row, y);
  else real_multiply(nodes, p, a, x, 0, row, y);
}
