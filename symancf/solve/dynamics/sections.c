/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far sections of rods turn in a step, and stand from each other; their rates as those of a
 * rotation.  Part of steps.c.  The formulas: directors.py, ../folds.py.
 */

/* Set the largest change of a director since a state `before`. */
void symancf_section_turn(const symancf_problem *p, symancf_state *s, const double *before)
{
  symancf_sections *q = p->work->sections;
  double most = 0.0;
  for (int64_t k = 0; k < 3 * (int64_t)q->nodes; k++) {
    double squares = 0.0;
    for (const int64_t *row = q->row + 3 * k; row < q->row + 3 * k + 3; row++)
      squares += (s->state[*row] - before[*row]) * (s->state[*row] - before[*row]);
    if (!(squares <= most)) most = squares; /* also where there is no number */
  }
  q->turn = sqrt(most);
}

/* Write a b of matrices, or a^T b or a b^T. */
static void multiply(const double a[3][3], int of_a, const double b[3][3], int of_b, double to[3][3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      to[i][j] = 0.0;
      for (int k = 0; k < 3; k++)
        to[i][j] += (of_a ? a[k][i] : a[i][k]) * (of_b ? b[j][k] : b[k][j]);
    }
}

/* Write the inverse. */
static void invert(const double a[3][3], double to[3][3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int k = (j + 1) % 3, l = (j + 2) % 3, m = (i + 1) % 3, n = (i + 2) % 3;
      to[i][j] = a[k][m] * a[l][n] - a[k][n] * a[l][m];
    }
  const double det = a[0][0] * to[0][0] + a[0][1] * to[1][0] + a[0][2] * to[2][0];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) to[i][j] /= det;
}

/* Take W to what is nearest to it, as the inertia measures it, with the symmetric part V^2. */
static void turn_only(const double axes[3][3], const double *part, const double V[3][3],
                      double W[3][3])
{
  double wrong[3][3], half[3][3], square[3][3];
  multiply(V, 0, V, 0, square);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) wrong[i][j] = 0.5 * (W[i][j] + W[j][i]) - square[i][j];
  multiply(axes, 1, wrong, 0, half);
  multiply(half, 0, axes, 0, wrong);
  for (int i = 0; i < 9; i++) wrong[i / 3][i % 3] *= part[i];
  multiply(axes, 0, wrong, 0, half);
  multiply(half, 0, axes, 1, wrong);
  for (int i = 0; i < 9; i++) W[i / 3][i % 3] -= wrong[i / 3][i % 3];
}

/* Take rates and auxiliary accelerations of directors to those of a rotation. */
void symancf_settle_sections(const symancf_problem *p, symancf_state *s)
{
  const symancf_sections *q = p->work->sections;
  double *const vectors[2] = {s->rate, s->auxiliary};
  for (int32_t k = 0; k < q->nodes; k++) {
    const int64_t *row = q->row + 9 * (int64_t)k;
    const double(*axes)[3] = (const double(*)[3])(q->axes + 9 * (int64_t)k);
    double F[3][3], inverse[3][3], given[3][3], W[3][3], V[3][3] = {{0.0}};
    for (int i = 0; i < 9; i++) F[i % 3][i / 3] = s->state[row[i]] + (i % 3 == i / 3);
    invert(F, inverse);
    for (int of = 0; of < 2; of++) {
      for (int i = 0; i < 9; i++) given[i % 3][i / 3] = vectors[of][row[i]];
      multiply(inverse, 0, given, 0, W);
      turn_only(axes, q->part + 9 * (int64_t)k, V, W);
      multiply(F, 0, W, 0, given);
      for (int i = 0; i < 9; i++)
        if (q->free[9 * (int64_t)k + i]) vectors[of][row[i]] = given[i % 3][i / 3];
      memcpy(V, W, sizeof V);
    }
  }
}

/* Tell whether Python is to look at folds: the largest is too large, of a body it knows none of. */
static int folds(const symancf_problem *p, const symancf_state *s)
{
  const symancf_sections *q = p->work->sections;
  double least = q->least_cosine;
  int32_t worst = -1;
  for (int32_t k = 0; k < q->links; k++) {
    const int64_t *row = q->link + 18 * (int64_t)k;
    double a = 0.0, b = 0.0, both = 0.0;
    for (int i = 0; i < 9; i++) {
      const double x = q->reference[row[i]] + s->state[row[i]];
      const double y = q->reference[row[9 + i]] + s->state[row[9 + i]];
      a += x * x;
      b += y * y;
      both += x * y;
    }
    const double cosine = 1.5 * both / sqrt(a * b) - 0.5;
    if (cosine < least) least = cosine, worst = k;
  }
  if (worst < 0 || q->told[q->body[worst]]) return 0;
  return q->told[q->body[worst]] = 1;
}

/* Tell whether a step from a state `before` turns sections too far: it is none, then. */
static int turns_sections_far(const symancf_problem *p, symancf_state *s, const double *before)
{
  symancf_sections *q = p->work->sections;
  const double last = q->turn;
  if (!q->nodes) return 0;
  symancf_section_turn(p, s, before);
  const int far = !(q->turn <= q->most_turn);
  if (far) q->turn = last;
  return far;
}

/* End a step; tell whether the next one, or what is to be said of this one, is Python's. */
static int end_sections(const symancf_problem *p, symancf_state *s)
{
  if (!p->work->sections->nodes) return 0;
  symancf_settle_sections(p, s);
  s->folded = folds(p, s);
  return s->folded || p->work->sections->turn > p->work->sections->easy_turn;
}
