/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a cycle: Chebyshev polynomials with block Jacobi on each level, inverses on the last. */

/* Bring the ghosts of x up to date: between the two calls there is time for other work. */
INLINE void begin(const Messages *m, const Level *A)
{
  const Exchange *e = A->exchange;
  if (!e) return;
  for (int32_t k = 0; k < e->packed; k++)
    memcpy(e->buffer + 3 * (int64_t)k, A->x + 3 * (int64_t)e->list[k], 3 * sizeof *A->x);
  start(m, e, 0);
}

INLINE void end(const Messages *m, const Level *A)
{
  if (A->exchange) await(m, A, 0);
}

/* Add what ranks have found for others' rows of b to these. */
static void collect(const Messages *m, const Level *A)
{
  const Exchange *e = A->exchange;
  if (!e) return;
  start(m, e, 1);
  await(m, A, 1);
  for (int32_t k = 0; k < e->packed; k++)
    for (int c = 0; c < 3; c++) A->b[3 * (int64_t)e->list[k] + c] += e->buffer[3 * (int64_t)k + c];
}

/* r += N x of this rank's rows. */
static void add_skew(const Level *A, const Skew *N)
{
  const int32_t own = 3 * A->nodes, width = N->width;
  const float factor = (float)(1.0 / A->skew_scale);
  const double *v = N->values;
  for (int32_t e = 0; e < N->n; e++) {
    const int32_t *rows = N->rows + (int64_t)e * width;
    for (int32_t r = 0; r < width; r++, v += width) {
      float sum = 0.0f;
      if (rows[r] < 0 || rows[r] >= own) continue;
      for (int32_t c = 0; c < width; c++)
        if (rows[c] >= 0) sum += (float)v[c] * A->x[rows[c]];
      A->r[rows[r]] += factor * sum;
    }
  }
}

/* r = A x. */
static void multiply(const Messages *m, const Level *A)
{
  begin(m, A);
  if (A->symmetric) multiply_half(A, A->x, A->r);
  else single_multiply(A->nodes, &A->own, A->values, A->x, 0, A->row, A->r);
  end(m, A);
  if (A->ghosts)
    single_multiply(A->nodes, &A->off, A->off_values, A->x + 3 * (int64_t)A->nodes, 1, A->row, A->r);
  if (A->ghosts && A->rest)
    single_multiply(A->nodes, &A->rest->off, A->rest->off_values, A->x + 3 * (int64_t)A->nodes, 1, A->row, A->r);
  for (int32_t k = 0; k < A->skews; k++) add_skew(A, A->skew + k);
}

/* to = D^-1 from. */
static void jacobi(const Level *A, const float *from, float *to)
{
  for (int32_t i = 0; i < A->nodes; i++)
    solve_block(A->inverse + 9 * (int64_t)i, from + 3 * (int64_t)i, to + 3 * (int64_t)i);
}

/* A step of the polynomial; from x = 0 if `first`. */
static void advance(const Messages *m, const Level *A, const int first, const float factor, const float keep)
{
  if (!first && A->symmetric && !A->ghosts && !A->skews) {
    rows_of_half(A, 1, factor, keep, A->x, A->r);
    return;
  }
  if (!first) multiply(m, A);
  for (int32_t i = 0; i < A->nodes; i++) step_of_node(A, i, first, factor, keep);
}

/* Reduce the part of the error between the two eigenvalues; from x = 0 if `zero`. */
static void smooth(const Messages *m, const Level *A, const int zero)
{
  const double middle = (A->largest + A->lowest) / 2.0, half = (A->largest - A->lowest) / 2.0;
  const double sigma = middle / half;
  double rho = 1.0 / sigma;
  advance(m, A, zero, (float)(1.0 / middle), 0.0f);
  for (int32_t k = 1; k < A->degree; k++) {
    const double next = 1.0 / (2.0 * sigma - rho);
    advance(m, A, 0, (float)(2.0 * next / half), (float)(next * rho));
    rho = next;
  }
}

/* b of the coarse level = P^T r, r in double precision times `factor`, or NULL: that of the level. */
static void restricted(const Messages *m, const Level *A, const Level *C, const double *r, const double factor)
{
  const size_t size = 3 * ((size_t)C->nodes + (size_t)C->ghosts);
  float *sum = A->coarse_shared ? C->r : C->b;
  memset(sum, 0, size * sizeof *sum);
  for (int32_t i = 0; i < A->nodes; i++) {
    float own[3];
    for (int c = 0; c < 3; c++) own[c] = r ? (float)(r[3 * (int64_t)i + c] * factor) : A->r[3 * (int64_t)i + c];
    for (int32_t k = A->coarse.start[i]; k < A->coarse.start[i + 1]; k++)
      for (int c = 0; c < 3; c++) sum[3 * (int64_t)A->coarse.column[k] + c] += A->weight[k] * own[c];
  }
  if (A->coarse_shared) reduce(m, A, sum, C->b, (int)size, m->single, 4, m->sum);
  else collect(m, C);
}

/* to = from + unit P x of the coarse level, in double precision; from may be NULL, for zeros.  Without `to`: x += P x. */
static void prolong(const Messages *m, const Level *A, const Level *C, const double *from, const double unit,
                    double *to)
{
  begin(m, C);
  end(m, C);
  for (int32_t i = 0; i < A->nodes; i++) {
    float s[3] = {0, 0, 0};
    for (int32_t k = A->coarse.start[i]; k < A->coarse.start[i + 1]; k++)
      for (int c = 0; c < 3; c++) s[c] += A->weight[k] * C->x[3 * (int64_t)A->coarse.column[k] + c];
    for (int c = 0; c < 3; c++) {
      const int64_t k = 3 * (int64_t)i + c;
      const double more = !A->prescribed || !(A->prescribed[i] >> c & 1) ? s[c] : 0.0;
      if (to) to[k] = (from ? from[k] : 0.0) + unit * more;
      else A->x[k] = (float)(A->x[k] + more);
    }
  }
}

static void solve(const Coarsest *last, const Level *A)
{
  const float *row = last->inverse;
  for (int32_t p = 0; p < last->parts; p++) {
    const int32_t first = last->first[p], end = last->first[p + 1];
    for (int32_t i = first; i < end; i++, row += end - first) {
      float s = 0.0f;
      for (int32_t k = first; k < end; k++) s += row[k - first] * A->b[k];
      A->x[i] = s;
    }
  }
}

INLINE double dot(const Messages *m, const Level *A, const float *a, const float *b)
{
  double own = 0.0, sum = 0.0;
  for (int64_t k = 0; k < 3 * (int64_t)A->nodes; k++) own += (double)a[k] * b[k];
  if (!m || A->shared) return own;
  reduce(m, A, &own, &sum, 1, m->real, 8, m->sum);
  return sum;
}

/*
 * Coefficients of Lanczos' method for D^-1 A from b, by conjugate gradients; returns how many steps
 * were made.  With `powers`, of an unsymmetric A, alpha are the factors by which those of D^-1 A grow.
 */
int32_t symancf_lanczos(const Hierarchy *h, int32_t l, int32_t powers, int32_t steps, double *alpha, double *beta)
{
  const Level *A = h->level + l;
  const Messages *m = h->messages;
  const int64_t n = 3 * (int64_t)A->nodes;
  double before = 0.0;
  if (powers) memcpy(A->x, A->b, (size_t)n * sizeof *A->x);
  for (int32_t k = 0; k < steps; k++) {
    if (powers) {
      const float size = (float)sqrt(dot(m, A, A->x, A->x));
      if (!(size > 0.0f)) return k;
      for (int64_t q = 0; q < n; q++) A->x[q] /= size;
      multiply(m, A);
      jacobi(A, A->r, A->d);
      memcpy(A->x, A->d, (size_t)n * sizeof *A->x);
      alpha[k] = sqrt(dot(m, A, A->x, A->x));
      continue;
    }
    jacobi(A, A->b, A->d);
    const double now = dot(m, A, A->b, A->d);
    const float keep = k ? (float)(now / before) : 0.0f;
    for (int64_t q = 0; q < n; q++) A->x[q] = A->d[q] + (k ? keep * A->x[q] : 0.0f);
    multiply(m, A);
    const double along = dot(m, A, A->x, A->r);
    if (!(now > 0.0) || !(along > 0.0)) return k;
    alpha[k] = now / along, beta[k] = k ? now / before : 0.0, before = now;
    for (int64_t q = 0; q < n; q++) A->b[q] -= (float)alpha[k] * A->r[q];
  }
  return steps;
}
