/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of levels: in single precision, inverses of diagonal blocks, Galerkin products. */

#define FLOOR 1e-2 /* of the eigenvalues of diagonal blocks that are scaled to a diagonal of 1 */

/* Inverse of a symmetric 3 x 3 matrix with its eigenvalues at least FLOOR, by Jacobi's rotations. */
static void invert_safely(double A[9], double to[9])
{
  double Q[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int sweep = 0; sweep < 8; sweep++)
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        if (fabs(A[3 * p + q]) < 1e-14) continue;
        const double t = (A[4 * q] - A[4 * p]) / (2.0 * A[3 * p + q]);
        const double tangent = (t >= 0.0 ? 1.0 : -1.0) / (fabs(t) + sqrt(t * t + 1.0));
        const double c = 1.0 / sqrt(tangent * tangent + 1.0), s = tangent * c;
        for (int k = 0; k < 3; k++) {
          const double x = A[3 * k + p], y = A[3 * k + q];
          A[3 * k + p] = c * x - s * y, A[3 * k + q] = s * x + c * y;
        }
        for (int k = 0; k < 3; k++) {
          const double x = A[3 * p + k], y = A[3 * q + k], u = Q[3 * k + p], v = Q[3 * k + q];
          A[3 * p + k] = c * x - s * y, A[3 * q + k] = s * x + c * y;
          Q[3 * k + p] = c * u - s * v, Q[3 * k + q] = s * u + c * v;
        }
      }
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      double sum = 0.0;
      for (int k = 0; k < 3; k++) sum += Q[3 * a + k] * Q[3 * b + k] / fmax(fabs(A[4 * k]), FLOOR);
      to[3 * a + b] = sum;
    }
}

/* Inverse of a diagonal block; components without entries get zeros. */
static void invert(const double block[9], float *to)
{
  double s[3], A[9], B[9];
  for (int a = 0; a < 3; a++) s[a] = block[4 * a] != 0.0 ? 1.0 / sqrt(fabs(block[4 * a])) : 0.0;
  for (int k = 0; k < 9; k++) A[k] = block[k] * s[k / 3] * s[k % 3];
  const double c0 = A[4] * A[8] - A[5] * A[7], c1 = A[5] * A[6] - A[3] * A[8], c2 = A[3] * A[7] - A[4] * A[6];
  const double det = A[0] * c0 + A[1] * c1 + A[2] * c2, minor = A[0] * A[4] - A[1] * A[3];
  if (det > 3.0 * FLOOR && A[0] > 0.0 && minor > 3.0 * FLOOR) { /* no eigenvalue is below FLOOR */
    B[0] = c0, B[3] = c1, B[6] = c2;
    B[1] = A[2] * A[7] - A[1] * A[8], B[4] = A[0] * A[8] - A[2] * A[6], B[7] = A[1] * A[6] - A[0] * A[7];
    B[2] = A[1] * A[5] - A[2] * A[4], B[5] = A[2] * A[3] - A[0] * A[5], B[8] = minor;
    for (int k = 0; k < 9; k++) B[k] /= det;
  } else {
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < a; b++) A[3 * a + b] = A[3 * b + a] = (A[3 * a + b] + A[3 * b + a]) / 2.0;
    invert_safely(A, B);
  }
  for (int k = 0; k < 9; k++) to[k] = (float)(B[k] * s[k / 3] * s[k % 3]);
}

/* Round the entries of a level, divided by `scale`, and invert its diagonal blocks. */
void symancf_round_level(const Level *A, const double *a, const double *off, double scale)
{
  float *to = A->values;
  for (int32_t i = 0; i < A->nodes; i++) {
    const int32_t first = A->own.start[i], n = A->own.start[i + 1] - first, d = A->diagonal[i] - first;
    const int32_t begin = A->symmetric ? d : 0, m = 3 * (n - begin);
    const double *v = a + 9 * (int64_t)first;
    double block[9];
    for (int r = 0; r < 3; r++) {
      for (int32_t k = 0; k < m; k++) to[k] = (float)(v[3 * (n * r + begin) + k] / scale);
      for (int c = 0; c < 3; c++) block[3 * r + c] = v[3 * (n * r + d) + c] / scale;
      to += m;
    }
    invert(block, A->inverse + 9 * (int64_t)i);
  }
  if (A->ghosts)
    for (int64_t k = 0; k < 9 * (int64_t)A->off.start[A->nodes]; k++) A->off_values[k] = (float)(off[k] / scale);
}

/* Invert the diagonal blocks, which are given in double precision. */
void symancf_invert_blocks(const Level *A, const double *diagonal)
{
  for (int32_t i = 0; i < A->nodes; i++) invert(diagonal + 9 * (int64_t)i, A->inverse + 9 * (int64_t)i);
}

typedef struct { /* blocks by their coarse columns */
  int32_t *mark, *list, count;
  double *block;
} Sums;

typedef double d4 __attribute__((vector_size(32), aligned(8), may_alias));

/* z = or += w B, blocks of nine. */
INLINE void add_nine(double *z, const double w, const double *B, const int add)
{
  d4 *const to = (d4 *)z;
  const d4 *const of = (const d4 *)B;
  to[0] = (add ? to[0] : (d4){0}) + w * of[0];
  to[1] = (add ? to[1] : (d4){0}) + w * of[1];
  z[8] = (add ? z[8] : 0.0) + w * B[8];
}

/* Add a block, times the row of interpolation of its column j. */
INLINE void add_block(const Level *A, const int32_t j, const double *B, Sums *sums)
{
  for (int32_t q = A->coarse.start[j]; q < A->coarse.start[j + 1]; q++) {
    const int32_t K = A->coarse.column[q];
    const double w = A->weight[q];
    if (sums->mark[K] < 0) {
      sums->list[sums->count] = K;
      double *const z = sums->block + 9 * (int64_t)(sums->mark[K] = sums->count++);
      add_nine(z, w, B, 0);
    } else {
      add_nine(sums->block + 9 * (int64_t)sums->mark[K], w, B, 1);
    }
  }
}

/* The block on the diagonal without what is fixed, which interpolation leaves out. */
INLINE void free_block(const Level *A, const int32_t i, double *B)
{
  for (int c = 0; A->prescribed && c < 3; c++)
    if (A->prescribed[i] >> c & 1) B[4 * c] = 0.0;
}

/* One of n blocks of a row, in single precision or in double. */
INLINE void take_block(const float *v, const double *a, const int32_t n, const int32_t k, double *B)
{
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) B[3 * r + c] = a ? a[3 * (n * r + k) + c] : v[3 * (n * r + k) + c];
}

/*
 * Add the blocks of one row of a part, times the rows of interpolation of their columns; `D` are the
 * blocks on the diagonal, or NULL where they are entries.
 */
INLINE void add_row(const Level *A, const Part *part, const float *v, const double *a, const double *D,
                    const int32_t i, const int32_t behind, Sums *sums)
{
  const int32_t first = part->start[i], n = part->start[i + 1] - first;
  const int64_t at = 9 * (int64_t)first;
  for (int32_t k = 0; k < n; k++) {
    const int32_t j = part->column[first + k] + behind;
    double B[9];
    take_block(a ? NULL : v + at, a ? a + at : NULL, n, k, B);
    if (j == i && D) memcpy(B, D + 9 * (int64_t)i, sizeof B);
    if (j == i) free_block(A, i, B);
    add_block(A, j, B, sums);
  }
}

/* Add w times the sums to one row of a coarse part, in single precision or in double; columns count from `behind`. */
INLINE void spread(const Part *part, const int32_t J, const int32_t behind, const Sums *sums, const double w,
                   float *single, double *real)
{
  const int32_t first = part->start[J], n = part->start[J + 1] - first;
  const int64_t at = 9 * (int64_t)first;
  for (int32_t k = 0; k < n; k++) {
    const int32_t s = sums->mark[part->column[first + k] + behind];
    if (s < 0) continue;
    const double *z = sums->block + 9 * (int64_t)s;
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        const int64_t to = at + 3 * (n * r + k) + c;
        if (real) real[to] += w * z[3 * r + c];
        else single[to] = (float)(single[to] + w * z[3 * r + c]);
      }
  }
}

/* Add w times a block, or its transpose, to the sum of row J of C, unless that is another rank's. */
INLINE void add_sum(const Coarse *C, const int32_t J, const double w, const double *z, const int turned)
{
  double *to = C->diagonal + 9 * (int64_t)J;
  if (J >= C->nodes) return;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) to[3 * r + c] += w * (turned ? z[3 * c + r] : z[3 * r + c]);
}

/* The sum of all sums. */
INLINE void total_of(const Sums *sums, double *total)
{
  for (int k = 0; k < 9; k++) total[k] = 0.0;
  for (int32_t s = 0; s < sums->count; s++)
    for (int k = 0; k < 9; k++) total[k] += sums->block[9 * (int64_t)s + k];
}

/* Room for the sums of any row of A; whether there is no memory for it. */
static int make_sums(const Level *A, const int32_t total, Sums *sums)
{
  int32_t most = 1, longest = 0;
  for (int32_t i = 0; i < A->nodes + A->ghosts; i++) {
    const int32_t n = A->coarse.start[i + 1] - A->coarse.start[i];
    most = n > most ? n : most;
  }
  for (int32_t i = 0; i < A->nodes; i++) {
    const int32_t n = A->own.start[i + 1] - A->own.start[i] + (A->ghosts ? A->off.start[i + 1] - A->off.start[i] : 0);
    longest = n > longest ? n : longest;
  }
  const int64_t room = (int64_t)most * longest < total ? (int64_t)most * longest : total;
  *sums = (Sums){malloc(((size_t)total + 1) * 4), malloc(((size_t)room + 1) * 4), 0,
                 malloc(((size_t)room + 1) * 9 * sizeof(double))};
  if (!sums->mark || !sums->list || !sums->block) return 1;
  memset(sums->mark, 0xff, (size_t)total * 4);
  return 0;
}

static void forget(Sums *sums)
{
  free(sums->mark);
  free(sums->list);
  free(sums->block);
}

/* Begin the sums of another row. */
INLINE void empty(Sums *sums)
{
  for (int32_t k = 0; k < sums->count; k++) sums->mark[sums->list[k]] = -1;
  sums->count = 0;
}

/* Add the sums of row i of A to the rows of C where it has weights. */
static void spread_rows(const Level *A, const int32_t i, const Sums *sums, const Coarse *C)
{
  double total[9];
  total_of(sums, total);
  for (int32_t q = A->coarse.start[i]; q < A->coarse.start[i + 1]; q++) {
    const int32_t J = A->coarse.column[q];
    const double w = A->weight[q] / C->unit;
    add_sum(C, J, w, total, 0);
    if (J < C->nodes) {
      spread(&C->own, J, 0, sums, w, C->values, NULL);
      if (C->ghosts) spread(&C->off, J, C->nodes, sums, w, C->off_values, NULL);
    } else {
      spread(&C->ghost, J - C->nodes, 0, sums, w, NULL, C->ghost_values);
    }
  }
}

/*
 * P^T A P of this rank's rows, added to zeros; A P is never stored.  The entries are given in double precision, or
 * they are those of the level, and `D` are the blocks on the diagonal.  Returns 1 without memory.
 */
int symancf_galerkin(const Level *A, const double *a, const double *off, const double *D, const Coarse *C)
{
  Sums sums;
  const int bad = make_sums(A, C->nodes + C->ghosts, &sums);
  for (int32_t i = 0; i < A->nodes && !bad; i++) {
    add_row(A, &A->own, A->values, a, D, i, 0, &sums);
    if (A->ghosts) add_row(A, &A->off, A->off_values, off, NULL, i, A->nodes, &sums);
    spread_rows(A, i, &sums, C);
    empty(&sums);
  }
  forget(&sums);
  return bad;
}

/* Place of a column among n ascending ones. */
INLINE int32_t place_of(const int32_t *column, int32_t n, const int32_t wanted)
{
  int32_t low = 0;
  while (n > 1) {
    const int32_t middle = n / 2;
    if (column[low + middle] <= wanted) low += middle;
    n -= middle;
  }
  return low;
}

/* Add w times a block, or its transpose, to block (J, K) of C. */
INLINE void add_coarse(const Coarse *C, const int32_t J, const int32_t K, const double w, const double *z,
                       const int turned)
{
  const int away = J >= C->nodes, other = !away && K >= C->nodes;
  const Part *part = away ? &C->ghost : other ? &C->off : &C->own;
  const int32_t row = away ? J - C->nodes : J, column = other ? K - C->nodes : K, first = part->start[row];
  const int32_t n = part->start[row + 1] - first;
  const int64_t at = 9 * (int64_t)first + 3 * place_of(part->column + first, n, column);
  float *single = other ? C->off_values : C->values;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      const int64_t to = at + 3 * n * r + c;
      const double more = w * (turned ? z[3 * c + r] : z[3 * r + c]);
      if (away) C->ghost_values[to] += more;
      else single[to] = (float)(single[to] + more);
    }
}

/* Add w times a block at (J, K) and its transpose at (K, J); of an upper half where J <= K alone. */
INLINE void add_both(const Coarse *C, const int32_t J, const int32_t K, const double w, const double *z)
{
  const int own = C->upper && J < C->nodes && K < C->nodes;
  if (!own || J <= K) add_coarse(C, J, K, w, z, 0);
  if (!own || J >= K) add_coarse(C, K, J, w, z, 1);
}

/*
 * The same of a half: with A = U + U^T + (blocks of ghosts), where U has half of the blocks on the
 * diagonal, `D`, P^T U P and its transpose.
 */
int symancf_galerkin_half(const Level *A, const double *D, const Coarse *C)
{
  Sums sums;
  const int bad = make_sums(A, C->nodes + C->ghosts, &sums);
  for (int32_t i = 0; i < A->nodes && !bad; i++) {
    const int32_t first = A->own.start[i], n = A->own.start[i + 1] - first;
    const int32_t *column = A->own.column + first;
    double B[9], total[9], weights = 0.0;
    for (int t = 0; t < 9; t++) B[t] = D[9 * (int64_t)i + t] / 2.0;
    free_block(A, i, B);
    add_block(A, i, B, &sums);
    for (int32_t k = 1; k < n; k++) {
      take_block(A->values + 9 * (int64_t)first, NULL, n, k, B);
      add_block(A, column[k], B, &sums);
    }
    total_of(&sums, total);
    for (int32_t q = A->coarse.start[i]; q < A->coarse.start[i + 1]; q++) {
      const double w = A->weight[q] / C->unit;
      weights += w;
      add_sum(C, A->coarse.column[q], w, total, 0);
      for (int32_t s = 0; s < sums.count; s++)
        add_both(C, A->coarse.column[q], sums.list[s], w, sums.block + 9 * (int64_t)s);
    }
    for (int32_t s = 0; s < sums.count; s++) add_sum(C, sums.list[s], weights, sums.block + 9 * (int64_t)s, 1);
    empty(&sums);
  }
  for (int32_t i = 0; i < A->nodes && A->ghosts && !bad; i++) {
    add_row(A, &A->off, A->off_values, NULL, NULL, i, A->nodes, &sums);
    spread_rows(A, i, &sums, C);
    empty(&sums);
  }
  forget(&sums);
  return bad;
}

/* Add rows of blocks that came from other ranks: `place` of each block, ~place in the other part. */
void symancf_add_rows(int32_t rows, const int32_t *start, const int32_t *row, const int32_t *place,
                      const double *from, const Coarse *C)
{
  for (int32_t q = 0; q < rows; q++) {
    const int32_t n = start[q + 1] - start[q], J = row[q];
    const double *blocks = from + 9 * (int64_t)start[q];
    for (int32_t k = 0; k < n; k++) {
      const int32_t at = place[start[q] + k];
      const Part *part = at < 0 ? &C->off : &C->own;
      float *values = at < 0 ? C->off_values : C->values;
      const int32_t first = part->start[J], m = part->start[J + 1] - first, j = (at < 0 ? ~at : at) - first;
      double B[9];
      take_block(NULL, blocks, n, k, B);
      add_sum(C, J, 1.0, B, 0);
      if (at == INT32_MIN) continue; /* before the diagonal of a half */
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
          float *to = values + 9 * (int64_t)first + 3 * (m * r + j) + c;
          *to = (float)(*to + B[3 * r + c]);
        }
    }
  }
}

/*
 * Blocks on the diagonal from the sums of rows, without the other blocks as they are rounded, so that
 * translations are answered as in double precision; and their inverses.
 */
void symancf_finish_coarse(const Level *A, double *D)
{
  for (int32_t i = 0; i < A->nodes; i++) {
    const int32_t first = A->own.start[i], n = A->own.start[i + 1] - first, d = A->diagonal[i] - first;
    float *v = A->values + 9 * (int64_t)first;
    double *own = D + 9 * (int64_t)i, B[9];
    for (int32_t k = 0; k < n; k++) {
      if (k == d) continue;
      take_block(v, NULL, n, k, B);
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
          own[3 * r + c] -= B[3 * r + c];
          if (A->symmetric) D[9 * (int64_t)A->own.column[first + k] + 3 * c + r] -= B[3 * r + c];
        }
    }
    const int32_t behind = A->ghosts ? A->off.start[i] : 0, m = A->ghosts ? A->off.start[i + 1] - behind : 0;
    for (int32_t k = 0; k < m; k++) {
      take_block(A->off_values + 9 * (int64_t)behind, NULL, m, k, B);
      for (int t = 0; t < 9; t++) own[t] -= B[t];
    }
    for (int r = 0; A->symmetric && r < 3; r++)
      for (int c = 0; c < r; c++) own[3 * r + c] = own[3 * c + r] = (own[3 * r + c] + own[3 * c + r]) / 2.0;
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) v[3 * (n * r + d) + c] = (float)own[3 * r + c];
    invert(own, A->inverse + 9 * (int64_t)i);
  }
}
