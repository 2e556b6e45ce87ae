/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * L D L^T, or L U of a matrix that is not symmetric, without a change of pivots, on a fixed
 * pattern: order and memory are found once (fixed_factor.py), so that factors of the next matrix
 * take their arithmetic and nothing else.
 *
 * Two steps.  First, constraints of one block of coordinates alone (those that keep a rigid body
 * rigid, a pin to the ground) are eliminated with their multipliers.  With Y and N of their
 * gradients G,
 *
 *     G Y = 1,  G N = 0,
 *
 * the correction of the block is q = Y g + N y: the first part is known at once, N^T A N y = ... is
 * left (a rigid body: 6 unknowns in the place of 18), and lambda = Y^T (f - A q) are the multipliers.
 * This is the null-space method; M. Benzi, G. H. Golub, J. Liesen, Acta Numerica 14 (2005) 1-137,
 * section 6.
 *
 * Then multifrontal elimination (I. S. Duff, J. K. Reid, ACM Transactions on Mathematical Software
 * 9 (1983) 302-325): a dense front for the unknowns of some blocks, in which they are eliminated;
 * what is left is added to the front of the next block that it is about.  Multipliers come after
 * their coordinates, with pivots -G A^-1 G^T: for A positive definite there are factors in any such
 * order (R. J. Vanderbei, SIAM Journal on Optimization 5 (1995) 100-113), however A is scaled.
 *
 * Where A is not, a pivot may be small.  So one that is all but cancelled refuses the factors, and
 * they are tried: by the backward error of a solution each one is corrected once, or the factors
 * are refused.  Whoever asks goes on with a solver that changes pivots.
 */
#include "factor.h"

#include <math.h>
#include <string.h>

#define CANCELLED 1e-13 /* of the sum of its terms' sizes: a pivot that is zero */
#define DEPENDENT 1e-10 /* of a gradient: what is left of it beside others */
#define EXACT 1e-12     /* backward error of solutions that are not improved, */
#define SOUND 1e-10     /* and of those that are */
#define LEFT 1e-8       /* of a right-hand side, in the largest entry: a correction is tried */
#define RANK 4          /* pivots whose rows are subtracted at once */

typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));

/* Sums in the same order wherever a and b are. */
static double dot(const double *a, const double *b, int32_t n)
{
  eight sums = {0.0};
  double sum = 0.0;
  int32_t i = 0;
  for (; i + 8 <= n; i += 8) sums += *(const eight *)(a + i) * *(const eight *)(b + i);
  for (; i < n; i++) sum += a[i] * b[i];
  for (int k = 0; k < 8; k++) sum += sums[k];
  return sum;
}

static void add(double *restrict a, double times, const double *restrict b, int32_t n)
{
#pragma omp simd
  for (int32_t i = 0; i < n; i++) a[i] += times * b[i];
}

/* An entry, 0 where there is none. */
static double entry(const symancf_factor *f, int32_t i, int32_t j)
{
  for (int32_t k = f->nonzero_start[i]; k < f->nonzero_start[i + 1]; k++)
    if (f->nonzero_column[k] == j) return f->nonzero[k];
  return 0.0;
}

/* The number of constraints of a block, of its coordinates, and of what these leave free. */
typedef struct {
  int32_t own, coordinates, free;
} sizes;

static sizes sizes_of(const symancf_factor *f, int32_t block)
{
  const int32_t own = f->own_start[block + 1] - f->own_start[block];
  const int32_t n = f->block_start[block + 1] - f->block_start[block];
  return (sizes){own, n, n - own};
}

/* ---- constraints of one block ---------------------------------------------------------------- */

/*
 * Find Y and N (rows are their columns) of gradients at `places`, [m][n], by Gauss-Jordan elimination
 * of [G 1] to [1 S; T^-1] with complete pivoting, in units of the matrix: zeros stay zeros.  Returns
 * whether the gradients are independent.
 */
static int find_basis(const symancf_factor *f, int32_t block, const int32_t *places, double *basis)
{
  const sizes s = sizes_of(f, block);
  const int32_t n = s.coordinates, m = s.own, width = n + m;
  const int32_t *row = f->block_row + f->block_start[block];
  double *G = f->small, *scale = f->local, *size = scale + n, *pivot_of = size + m;
  memset(G, 0, (size_t)(m * width) * sizeof(double));
  for (int32_t i = 0; i < n; i++) {
    const double diagonal = fabs(entry(f, row[i], row[i]));
    scale[i] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
    pivot_of[i] = -1.0;
  }
  for (int32_t c = 0; c < m; c++) {
    double squares = 0.0;
    for (int32_t i = 0; i < n; i++) {
      const double value = places[c * n + i] < 0 ? 0.0 : f->value[places[c * n + i]];
      G[c * width + i] = value;
      squares += value * scale[i] * value * scale[i];
    }
    G[c * width + n + c] = 1.0;
    size[c] = sqrt(squares); /* negative: it has its pivot */
  }
  for (int32_t k = 0; k < m; k++) {
    double largest = DEPENDENT;
    int32_t at = -1, column = -1;
    for (int32_t c = 0; c < m; c++)
      for (int32_t i = 0; i < n && size[c] > 0.0; i++) {
        const double share = fabs(G[c * width + i]) * scale[i] / size[c];
        if (pivot_of[i] < 0.0 && share > largest) largest = share, at = c, column = i;
      }
    if (at < 0) return 0;
    double *pivot_row = G + at * width;
    const double inverse = 1.0 / pivot_row[column];
    for (int32_t i = 0; i < width; i++) pivot_row[i] *= inverse;
    for (int32_t c = 0; c < m; c++) {
      const double times = G[c * width + column];
      if (c != at && times != 0.0) add(G + c * width, -times, pivot_row, width);
    }
    size[at] = -1.0;
    pivot_of[column] = at;
  }
  memset(basis, 0, (size_t)(n * n) * sizeof(double));
  for (int32_t i = 0, free = m; i < n; i++) {
    const int32_t c = (int32_t)pivot_of[i];
    for (int32_t k = 0; k < m && c >= 0; k++) basis[k * n + i] = G[c * width + n + k];
    if (c >= 0) continue;
    basis[free * n + i] = 1.0;
    for (int32_t d = 0; d < n; d++)
      if (pivot_of[d] >= 0.0) basis[free * n + d] = -G[(int32_t)pivot_of[d] * width + i];
    free++;
  }
  return 1;
}

/* Find the bases of all blocks with constraints; return whether there are some. */
static int find_bases(symancf_factor *f)
{
  for (int32_t k = 0; k < f->zeros; k++)
    if (f->value[f->zero[k]] != 0.0) return 0;
  for (int32_t b = 0; b < f->blocks; b++) {
    if (f->own_start[b] == f->own_start[b + 1]) continue;
    const int64_t at = f->gradient_start[b], basis = f->basis_start[b];
    if (!find_basis(f, b, f->gradient + at, f->right + basis)) return 0;
    if (!f->symmetric && !find_basis(f, b, f->force + at, f->left + basis)) return 0;
  }
  return 1;
}

/* ---- fronts ---------------------------------------------------------------------------------- */

/* Add the entries between two blocks to a front with rows of some length. */
static void add_pair(const symancf_factor *f, const symancf_pair *pair, double *dense, int32_t length)
{
  const sizes a = sizes_of(f, pair->row_block), b = sizes_of(f, pair->column_block);
  const int32_t *source = f->source + pair->source;
  const int32_t n = a.coordinates, m = b.coordinates;
  double *entries = f->small, *to = dense + (int64_t)pair->row * length + pair->column;
  int some = 0;
  if (pair->whole && !a.own && !b.own) {
    for (int32_t i = 0; i < n; i++) add(to + i * length, 1.0, f->value + source[i * m], m);
    return;
  }
  for (int32_t k = 0; k < n * m; k++) {
    entries[k] = source[k] < 0 ? 0.0 : f->value[source[k]];
    some |= entries[k] != 0.0;
  }
  if (!some) return;
  if (a.own) { /* N^T A */
    const double *basis = f->left + f->basis_start[pair->row_block] + a.own * n;
    double *product = entries + n * m;
    memset(product, 0, (size_t)(a.free * m) * sizeof(double));
    for (int32_t i = 0; i < a.free; i++)
      for (int32_t k = 0; k < n; k++)
        if (basis[i * n + k] != 0.0) add(product + i * m, basis[i * n + k], entries + k * m, m);
    entries = product;
  }
  const double *basis = f->right + f->basis_start[pair->column_block] + b.own * m;
  for (int32_t i = 0; i < a.free; i++) {
    const double *row = entries + i * m;
    if (b.own)
      for (int32_t j = 0; j < b.free; j++) to[i * length + j] += dot(row, basis + j * m, m);
    else
      for (int32_t j = 0; j < m; j++) to[i * length + j] += row[j];
  }
}

/* Add what is left of another front. */
static void add_front(const symancf_factor *f, const symancf_front *child, const double *left,
                      double *dense, int32_t length)
{
  const int32_t rest = child->size - child->pivots, *place = f->place + child->place;
  for (int32_t i = 0; i < rest; i++) {
    double *row = dense + (int64_t)place[i] * length;
    for (int32_t j = f->symmetric ? i : 0; j < rest; j++) row[place[j]] += left[i * rest + j];
  }
}

/* Subtract from a row, from some column on, multiples of `RANK` others. */
static void subtract(double *restrict row, const double *const others[], const double times[],
                     int32_t from, int32_t end)
{
  const double *restrict a = others[0], *restrict b = others[1];
  const double *restrict c = others[2], *restrict d = others[3];
  const double s = times[0], t = times[1], u = times[2], v = times[3];
#pragma omp simd
  for (int32_t j = from; j < end; j++) row[j] -= (s * a[j] + t * b[j]) + (u * c[j] + v * d[j]);
}

/*
 * Eliminate the pivots of a front of n rows: U stays in their rows, L D below their diagonal (if
 * symmetric that is U^T).  Returns whether no pivot is zero.
 */
static int eliminate(double *dense, int32_t pivots, int32_t n, int symmetric, double *inverse,
                     double *growth)
{
  for (int32_t begin = 0; begin < pivots; begin += RANK) {
    const int32_t end = begin + RANK < pivots ? begin + RANK : pivots;
    const double *others[RANK];
    double times[RANK];
    for (int32_t k = 0; k < RANK; k++) others[k] = dense + (int64_t)begin * n;
    for (int32_t k = begin; k < end; k++) {
      double *row = dense + (int64_t)k * n;
      for (int32_t j = begin; j < k; j++) {
        const double *other = dense + (int64_t)j * n;
        const double value = symmetric ? other[k] : row[j];
        growth[k] += fabs(value * inverse[j] * other[k]);
        add(row + j + 1, -value * inverse[j], other + j + 1, n - j - 1);
      }
      if (!(fabs(row[k]) > CANCELLED * growth[k])) return 0;
      inverse[k] = 1.0 / row[k];
      others[k - begin] = row;
    }
    for (int32_t i = end; i < n; i++) {
      double *row = dense + (int64_t)i * n;
      memset(times, 0, sizeof times);
      for (int32_t k = begin; k < end; k++) {
        const double *other = others[k - begin];
        double value = symmetric ? other[i] : row[k];
        for (int32_t j = begin; j < k && !symmetric; j++) value -= times[j - begin] * others[j - begin][k];
        if (!symmetric) row[k] = value;
        times[k - begin] = value * inverse[k];
        growth[i] += fabs(times[k - begin] * other[i]);
      }
      subtract(row, others, times, symmetric ? i : end, n);
    }
  }
  return 1;
}

/* Write the rows of U, and the columns of L D, of a front's pivots to the factors. */
static void store(symancf_factor *f, const symancf_front *front, const double *dense)
{
  const int32_t n = front->size;
  memcpy(f->upper + front->factors, dense, (size_t)front->pivots * (size_t)n * sizeof(double));
  for (int32_t k = 0; k < front->pivots && !f->symmetric; k++)
    for (int32_t i = k + 1; i < n; i++)
      f->lower[front->factors + (int64_t)k * n + i] = dense[(int64_t)i * n + k];
}

/*
 * Make a front's matrix, of entries and of what is left of its children on top of a stack, and
 * eliminate its pivots; what is left takes the children's place.  Returns the new top, NULL: a pivot
 * is zero.
 */
static double *factor_front(symancf_factor *f, const symancf_front *front, double *top)
{
  const int32_t n = front->size, rest = n - front->pivots, *index = f->index + front->index;
  double *dense = f->dense, *growth = f->local;
  memset(dense, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int32_t k = front->pairs; k < front->last_pair; k++) add_pair(f, f->pair + k, dense, n);
  for (int32_t i = 0; i < n; i++)
    growth[i] = f->growth[index[i]] + fabs(dense[(int64_t)i * n + i]);
  for (int32_t k = front->children; k < front->last_child; k++) {
    const symancf_front *child = f->front + f->child[k];
    const int64_t left = child->size - child->pivots;
    top -= left * left;
    add_front(f, child, top, dense, n);
  }
  if (!eliminate(dense, front->pivots, n, f->symmetric, f->inverse + index[0], growth))
    return NULL;
  for (int32_t i = front->pivots; i < n; i++) f->growth[index[i]] = growth[i];
  store(f, front, dense);
  for (int32_t i = 0; i < rest; i++)
    memcpy(top + (int64_t)i * rest, dense + (int64_t)(front->pivots + i) * n + front->pivots,
           (size_t)rest * sizeof(double));
  return top + (int64_t)rest * rest;
}

/* Take the entries from where some were that were not zero; tell whether these are all there are. */
static int take_nonzero(symancf_factor *f)
{
  int32_t count = 0, taken = 0;
#pragma omp simd reduction(+ : count)
  for (int32_t k = 0; k < f->start[f->unknowns]; k++) count += f->value[k] != 0.0;
#pragma omp simd reduction(+ : taken)
  for (int32_t k = 0; k < f->nonzeros; k++) {
    f->nonzero[k] = f->value[f->nonzero_place[k]];
    taken += f->nonzero[k] != 0.0;
  }
  return taken == count;
}

/* Note the entries that are not zero. */
static void find_nonzero(symancf_factor *f)
{
  int32_t count = 0;
  if (take_nonzero(f)) return;
  for (int32_t i = 0; i < f->unknowns; i++) {
    f->nonzero_start[i] = count;
    for (int32_t k = f->start[i]; k < f->start[i + 1]; k++) { /* a branch would be guessed wrong */
      f->nonzero_column[count] = f->column[k];
      f->nonzero_place[count] = k;
      f->nonzero[count] = f->value[k];
      count += f->value[k] != 0.0;
    }
  }
  f->nonzero_start[f->unknowns] = f->nonzeros = count;
}

/* ---- solutions ------------------------------------------------------------------------------- */

/* Solve with the factors of all fronts, in place. */
static void substitute(const symancf_factor *f, double *y)
{
  double *local = f->local;
  for (int32_t k = 0; k < f->fronts; k++) {
    const symancf_front *front = f->front + k;
    const int32_t n = front->size, *index = f->index + front->index;
    const double *row = f->lower + front->factors, *inverse = f->inverse + index[0];
    for (int32_t i = 0; i < n; i++) local[i] = y[index[i]];
    for (int32_t j = 0; j < front->pivots; j++, row += n)
      add(local + j + 1, -local[j] * inverse[j], row + j + 1, n - j - 1);
    for (int32_t i = 0; i < n; i++) y[index[i]] = local[i];
  }
  for (int32_t k = f->fronts - 1; k >= 0; k--) {
    const symancf_front *front = f->front + k;
    const int32_t n = front->size, *index = f->index + front->index;
    const double *row = f->upper + front->factors + (int64_t)front->pivots * n;
    const double *inverse = f->inverse + index[0];
    for (int32_t i = 0; i < n; i++) local[i] = y[index[i]];
    for (int32_t j = front->pivots - 1; j >= 0; j--) {
      row -= n;
      local[j] = (local[j] - dot(row + j + 1, local + j + 1, n - j - 1)) * inverse[j];
      y[index[j]] = local[j];
    }
  }
}

/* Write b - A x to r. */
static void subtract_product(const symancf_factor *f, const double *b, const double *x, double *r)
{
  if (f->transposed) {
    memcpy(r, b, (size_t)f->unknowns * sizeof(double));
    for (int32_t i = 0; i < f->unknowns; i++)
      for (int32_t k = f->nonzero_start[i]; k < f->nonzero_start[i + 1]; k++)
        r[f->nonzero_column[k]] -= f->nonzero[k] * x[i];
    return;
  }
  for (int32_t i = 0; i < f->unknowns; i++) {
    double sum = b[i];
    for (int32_t k = f->nonzero_start[i]; k < f->nonzero_start[i + 1]; k++)
      sum -= f->nonzero[k] * x[f->nonzero_column[k]];
    r[i] = sum;
  }
}

/* Write to the coordinates of blocks what their own constraints say of them: Y g. */
static void fulfil(const symancf_factor *f, const double *b, double *x)
{
  for (int32_t k = 0; k < f->blocks; k++) {
    const sizes s = sizes_of(f, k);
    const int32_t *row = f->block_row + f->block_start[k];
    const double *basis = f->right + f->basis_start[k];
    memset(f->local, 0, (size_t)s.coordinates * sizeof(double));
    for (int32_t c = 0; c < s.own; c++)
      add(f->local, b[f->own_row[f->own_start[k] + c]], basis + c * s.coordinates, s.coordinates);
    for (int32_t i = 0; i < s.coordinates && s.own; i++) x[row[i]] = f->local[i];
  }
}

/* Write N^T r of all blocks in the order of elimination, r of those without constraints. */
static void project(const symancf_factor *f, const double *r, double *y)
{
  for (int32_t k = 0; k < f->blocks; k++) {
    const sizes s = sizes_of(f, k);
    const int32_t *row = f->block_row + f->block_start[k];
    const double *basis = f->left + f->basis_start[k] + s.own * s.coordinates;
    double *of_block = y + f->first[k];
    if (!s.own) {
      for (int32_t i = 0; i < s.free; i++) of_block[i] = r[row[i]];
      continue;
    }
    for (int32_t i = 0; i < s.coordinates; i++) f->local[i] = r[row[i]];
    for (int32_t i = 0; i < s.free; i++)
      of_block[i] = dot(basis + i * s.coordinates, f->local, s.coordinates);
  }
}

/* Add N y to the unknowns of all blocks. */
static void expand(const symancf_factor *f, const double *y, double *x)
{
  for (int32_t k = 0; k < f->blocks; k++) {
    const sizes s = sizes_of(f, k);
    const int32_t *row = f->block_row + f->block_start[k];
    const double *basis = f->right + f->basis_start[k] + s.own * s.coordinates;
    const double *of_block = y + f->first[k];
    if (!s.own) {
      for (int32_t i = 0; i < s.free; i++) x[row[i]] = of_block[i];
      continue;
    }
    memset(f->local, 0, (size_t)s.coordinates * sizeof(double));
    for (int32_t i = 0; i < s.free; i++)
      add(f->local, of_block[i], basis + i * s.coordinates, s.coordinates);
    for (int32_t i = 0; i < s.coordinates; i++) x[row[i]] += f->local[i];
  }
}

/* Write the multipliers of blocks' own constraints: Y^T r. */
static void multipliers(const symancf_factor *f, const double *r, double *x)
{
  for (int32_t k = 0; k < f->blocks; k++) {
    const sizes s = sizes_of(f, k);
    const int32_t *row = f->block_row + f->block_start[k], *own = f->own_row + f->own_start[k];
    const double *basis = f->left + f->basis_start[k];
    for (int32_t i = 0; i < s.coordinates && s.own; i++) f->local[i] = r[row[i]];
    for (int32_t c = 0; c < s.own; c++)
      x[own[c]] = dot(basis + c * s.coordinates, f->local, s.coordinates);
  }
}

/* Solve once. */
static void solve(const symancf_factor *f, const double *b, double *x)
{
  const int some = f->own_start[f->blocks] > 0;
  const double *r = b;
  if (some) {
    memset(x, 0, (size_t)f->unknowns * sizeof(double));
    fulfil(f, b, x);
    subtract_product(f, b, x, f->residual);
    r = f->residual;
  }
  project(f, r, f->reduced);
  substitute(f, f->reduced);
  expand(f, f->reduced, x);
  if (!some) return;
  subtract_product(f, b, x, f->residual);
  multipliers(f, f->residual, x);
}

/*
 * The backward error |b - A x| / (|b| + |A| |x|), of equations of motion and of constraints each by
 * itself: the larger one.   */
static double backward_error(const symancf_factor *f, const double *b, const double *x)
{
  double left[2] = {0.0, 0.0}, whole[2] = {0.0, 0.0}, worst = 0.0;
  for (int32_t i = 0; i < f->unknowns; i++) {
    double sum = b[i], size = fabs(b[i]);
    for (int32_t k = f->nonzero_start[i]; k < f->nonzero_start[i + 1]; k++) {
      const double term = f->nonzero[k] * x[f->nonzero_column[k]];
      sum -= term;
      size += fabs(term);
    }
    const int c = f->constrains[i];
    if (!(fabs(sum) <= left[c])) left[c] = fabs(sum);
    if (size > whole[c]) whole[c] = size;
  }
  for (int c = 0; c < 2; c++) {
    const double share = whole[c] > 0.0 ? left[c] / whole[c] : left[c];
    if (share > worst || isnan(share)) worst = share;
  }
  return worst;
}

static double largest(const double *x, int32_t n)
{
  double found = 0.0;
  for (int32_t i = 0; i < n; i++)
    if (fabs(x[i]) > found) found = fabs(x[i]);
  return found;
}

/* Solve A x = b with the last factors. */
void symancf_factor_solve(symancf_factor *f, const double *b, double *x)
{
  double *rest = f->change, *correction = rest + f->unknowns;
  solve(f, b, x);
  if (!f->refines) return;
  subtract_product(f, b, x, rest);
  solve(f, rest, correction);
  for (int32_t i = 0; i < f->unknowns; i++) x[i] += correction[i];
}

/* The same with the transpose, of which left and right, lower and upper have changed places. */
void symancf_factor_solve_transposed(symancf_factor *f, const double *b, double *x)
{
  symancf_factor other = *f;
  other.transposed = !f->transposed;
  other.left = f->right;
  other.right = f->left;
  other.upper = f->lower;
  other.lower = f->upper;
  symancf_factor_solve(&other, b, x);
}

/*
 * The same, for a right-hand side of which much may cancel: corrected while more than LEFT of b is
 * left, twice at most.  Returns whether it is a solution.
 */
int symancf_factor_solve_closely(symancf_factor *f, const double *b, double *x)
{
  double *rest = f->change, *correction = rest + f->unknowns;
  const double allowed = LEFT * largest(b, f->unknowns);
  symancf_factor_solve(f, b, x);
  subtract_product(f, b, x, rest);
  if (largest(rest, f->unknowns) <= allowed) return 1;
  for (int k = 0; k < 2 && largest(rest, f->unknowns) > allowed; k++) {
    solve(f, rest, correction);
    for (int32_t i = 0; i < f->unknowns; i++) x[i] += correction[i];
    subtract_product(f, b, x, rest);
  }
  return backward_error(f, b, x) <= SOUND;
}

/*
 * Try the factors with b = |A| d, d = |diag A|^-1/2 or 0; return whether they solve, perhaps with a
 * correction.  No other right-hand side decides that: solutions do not depend on earlier ones.
 */
static int try_factors(symancf_factor *f)
{
  const int32_t n = f->unknowns;
  double *b = f->change + 2 * n, *x = b + n;
  for (int32_t i = 0; i < n; i++) {
    const double size = fabs(entry(f, i, i));
    x[i] = size > 0.0 ? 1.0 / sqrt(size) : 0.0;
  }
  for (int32_t i = 0; i < n; i++) {
    b[i] = 0.0;
    for (int32_t k = f->nonzero_start[i]; k < f->nonzero_start[i + 1]; k++)
      b[i] += fabs(f->nonzero[k]) * x[f->nonzero_column[k]];
  }
  f->refines = 0;
  symancf_factor_solve(f, b, x);
  double error = backward_error(f, b, x);
  if (!(error <= EXACT)) {
    f->refines = 1;
    symancf_factor_solve(f, b, x);
    error = backward_error(f, b, x);
  }
  return error <= SOUND;
}

/*
 * Count the eigenvalues below zero by Sylvester's law: the pivots below zero, and of the constraints
 * of one block alone, in the basis [Y N] and with their multipliers, one for each.  (With A = K + E,
 * E the round-off of the elimination: where that is not negligible, solutions are corrected.)
 */
static int32_t count_negative(const symancf_factor *f)
{
  int32_t number = f->own_start[f->blocks];
  if (!f->symmetric || f->refines) return -1;
  for (int32_t k = 0; k < f->pivots; k++) number += f->inverse[k] < 0.0;
  return number;
}

/* Factor the present matrix; return whether that was possible. */
int symancf_factor_renew(symancf_factor *f)
{
  double *top = f->stack;
  f->negative = -1;
  find_nonzero(f);
  if (!find_bases(f)) return 0;
  memset(f->growth, 0, (size_t)f->pivots * sizeof(double));
  for (int32_t k = 0; k < f->fronts && top; k++) top = factor_front(f, f->front + k, top);
  if (!top || !try_factors(f)) return 0;
  f->negative = count_negative(f);
  return 1;
}
