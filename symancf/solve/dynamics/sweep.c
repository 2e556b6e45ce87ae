/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backwards over steps of one length: from derivatives of a number by the motion at the end of the
 * last step to those by the motion at the beginning of the first one.  Part of steps.c; for one
 * rank.  The formulas, and what is not done here: backward.py.
 */

static double square(double x)
{
  return x * x;
}

/* Let the motion be that of the affine map at the end of a step; tell whether the trace has it. */
static int is_affine(const symancf_problem *p, symancf_state *s, const symancf_sweep *q,
                     const double *before, const double *after)
{
  const int64_t n = p->coordinates;
  double off[3] = {0.0}, size[3] = {0.0};
  symancf_predict(p, s, p->h, before, before + n, before + 2 * n, before + 3 * n, 0);
  memcpy(s->state, after, (size_t)n * sizeof(double));
  for (int32_t k = 0; k < p->fixed_count; k++) {
    s->rate[p->fixed[k]] = after[n + p->fixed[k]];
    s->acceleration[p->fixed[k]] = after[2 * n + p->fixed[k]];
  }
  symancf_prescribe(p, s);
  symancf_follow(p, s);
  symancf_conclude(p, s);
  const double *const made[] = {s->rate, s->acceleration, s->auxiliary};
  for (int32_t i = 0; i < n; i++)
    for (int k = 0; k < 3 && q->free[i]; k++) {
      if (p->order[i] < (k == 1 ? 2 : 1)) continue;
      off[k] += square(made[k][i] - after[(k + 1) * n + i]);
      size[k] += square(after[(k + 1) * n + i]);
    }
  for (int k = 0; k < 3; k++) {
    const double nothing = q->round_off / (k ? p->h * p->h : p->h) / q->same;
    if (!(sqrt(off[k]) <= q->same * sqrt(size[k] + nothing * nothing))) return 0;
  }
  return 1;
}

/* Solve S^T x = b, local vectors; zero at prescribed coordinates. */
static void solve_transposed(const symancf_problem *p, const symancf_sweep *q, const double *b, double *x)
{
  const symancf_work *w = p->work;
  to_rows(p, b, w->F);
  q->solve(q->factor, w->F, w->step);
  memset(x, 0, (size_t)p->coordinates * sizeof(double));
  for (int32_t r = 0; r < p->rows; r++)
    if (q->free[p->coordinate[r]]) x[p->coordinate[r]] = w->step[r];
}

/* Write derivatives of w . G by coordinates, and by parameters to the tables; return bad points. */
static int64_t pull(const symancf_problem *p, const symancf_state *s, const symancf_sweep *q)
{
  const int32_t n = p->coordinates;
  double *mass = q->mass_pulled, *moved = p->work->moved;
  for (int32_t k = 0; k < q->tables; k++)
    memset(q->table[k], 0, (size_t)q->table_size[k] * sizeof(double));
  memset(q->pulled, 0, (size_t)n * sizeof(double));
  memset(mass, 0, (size_t)n * sizeof(double));
  int64_t bad = p->evaluate(q->assembler, p->pull, s->state, q->w, q->pulled, NULL);
  double *of_mass = p->work->inertia; /* w of what moves */
  for (int32_t i = 0; i < n; i++) {
    const int moves = p->order[i] == 2;
    of_mass[i] = moves ? q->w[i] : 0.0;
    moved[i] = moves ? s->acceleration[i] + p->damping * s->rate[i] : 0.0;
  }
  bad += q->mass_changes ? p->evaluate(q->mass, p->pull, moved, of_mass, mass, NULL)
                         : p->evaluate(q->mass, p->residual, of_mass, NULL, mass, NULL);
  for (int32_t i = 0; i < n; i++)
    if (p->order[i] != 2) mass[i] = 0.0;
  return bad;
}

/* Solve S^T w = -direct at the end of a step; tell whether that is done, see `Backward._solve`. */
static int solve_weights(const symancf_problem *p, symancf_state *s, const symancf_sweep *q)
{
  const int32_t n = p->coordinates;
  double *rest = p->work->f, *change = q->held_pulled, last = INFINITY;
  if (!make_tangent(p, s) || !q->renew(q->factor)) return 0;
  for (int32_t i = 0; i < n; i++) rest[i] = q->free[i] ? -q->direct[i] : 0.0;
  solve_transposed(p, q, rest, q->w);
  for (int k = 0; k < 3; k++) {
    double size = 0.0, left = 0.0;
    if (pull(p, s, q)) return 0;
    for (int32_t i = 0; i < n; i++) {
      const double inertia = p->acceleration_factor[i] + p->damping * p->rate_factor[i];
      rest[i] = -(q->direct[i] + q->pulled[i] + inertia * q->mass_pulled[i]);
      if (!q->free[i]) rest[i] = 0.0;
    }
    solve_transposed(p, q, rest, change);
    for (int32_t i = 0; i < n; i++) {
      if (!q->free[i] || !p->order[i]) continue;
      size += square(q->w[i]);
      left += square(change[i]);
    }
    const double share = size > 0.0 ? sqrt(left / size) : 0.0;
    if (share <= q->accuracy || (share < q->least && share > 0.3 * last)) return 1;
    if (!(share < q->near && share < 0.1 * last)) return 0;
    for (int32_t i = 0; i < n; i++) q->w[i] += change[i];
    last = share;
  }
  return 0;
}

/* Take the derivatives by parameters that a step contributes. */
static void add_tables(const symancf_sweep *q, int step)
{
  for (int32_t k = 0; k < q->tables; k++) {
    const int64_t size = q->table_size[k];
    for (int64_t i = 0; i < size; i++) q->sum[k][i] += q->table[k][i];
    if (q->of_step[k])
      memcpy(q->of_step[k] + size * (step - 1), q->table[k], (size_t)size * sizeof(double));
  }
}

/* Turn derivatives by the end of a step into those by its beginning; tell whether that is done. */
static int back(const symancf_problem *p, symancf_state *s, const symancf_sweep *q, int step)
{
  const int64_t n = p->coordinates;
  const double h = p->h, rest = 1.0 - p->alpha_f, *before = q->motions + 4 * n * (step - 1);
  double *u = q->bars, *v = u + n, *a = v + n, *A = a + n, *held = q->pulled, squares = 0.0;
  if (!is_affine(p, s, q, before, before + 4 * n) || turns_far(p, s)) return 0;
  if (p->timetable_targets) {
    const double *row = p->timetable + (int64_t)(step - 1) * p->timetable_columns;
    for (int32_t k = 0; k < p->timetable_targets; k++) *p->target[k] = row[p->target_column[k]];
  }
  for (int32_t i = 0; i < n; i++)
    q->direct[i] = u[i] + p->rate_factor[i] * v[i] + p->acceleration_factor[i] * a[i] +
                   p->auxiliary_factor[i] * A[i];
  if (!solve_weights(p, s, q)) return 0;
  add_tables(q, step);
  if (q->held) { /* tables are others afterwards */
    held = q->held_pulled;
    memset(held, 0, (size_t)n * sizeof(double));
    if (p->evaluate(q->held, p->pull, s->state, q->w, held, NULL)) return 0;
  }
  for (int32_t i = 0; i < n; i++) {
    const double R = p->rate_factor[i], mass = q->mass_pulled[i];
    u[i] += held[i];
    v[i] += (R != 0.0 ? (q->pulled[i] - held[i]) / R : 0.0) + p->damping * mass;
    a[i] += mass;
    squares += q->w[i] * mass;
  }
  for (int32_t k = 0; k < p->fixed_count; k++) {
    const int64_t i = p->fixed[k];
    q->fixed[k] += u[i];
    q->fixed[p->fixed_count + k] += v[i];
    q->fixed[2 * p->fixed_count + k] += a[i];
    u[i] = v[i] = a[i] = A[i] = 0.0;
  }
  q->squares[step - 1] = squares / (h * h * h * h);
  for (int32_t i = 0; i < n; i++) {
    const int order = q->free[i] ? p->order[i] : 0;
    const double r = v[i], b = a[i];
    const double base =
        -(p->rate_factor[i] * r + p->acceleration_factor[i] * b + p->auxiliary_factor[i] * A[i]);
    u[i] = order ? base : 0.0;
    v[i] = order == 2 ? h * base + r : order ? -p->alpha_f / rest * r : 0.0;
    a[i] = order == 2 ? -p->alpha_f / rest * b : 0.0;
    A[i] = order == 2 ? h * h * (0.5 - p->beta) * base + h * (1.0 - p->gamma) * r + p->alpha_m / rest * b
           : order    ? h * (1.0 - p->theta) * base + p->delta / rest * r
                      : 0.0;
  }
  return 1;
}

/*
 * Go back over steps, the last one first; return how many were made.  Derivatives of goals by the
 * states that are reached are added, but for the first one.
 */
int symancf_sweep_back(const symancf_problem *p, symancf_state *s, const symancf_sweep *q, int steps)
{
  const int64_t n = p->coordinates;
  int step = steps;
  while (step > 0 && back(p, s, q, step)) {
    step--;
    if (step && q->counts[step])
      for (int64_t i = 0; i < 2 * n; i++) q->bars[i] += q->slopes[2 * n * step + i];
  }
  return steps - step;
}
