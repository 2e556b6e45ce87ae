/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Newton's method where forces have kinks, as those of contact and friction have: steps that are
 * cut until the next correction is smaller, and the start of a time step; what laws remember from
 * one step to the next, as anchors of friction.  Part of steps.c; for one rank.  The same in Python:
 * newton/backtracking.py, `Newton.nearest`, assembly/memory.py.
 */
enum { STARTS = 3 };
enum { STEP_STANDS, STEP_LONG, STEP_AGAIN, STEP_CUT }; /* as `Verdict` */

int symancf_newton(const symancf_problem *p, symancf_state *s);

/* The sizes by part of a change of the unknowns: of u_i / L_i, see `Leftover`. */
static void lengths(const symancf_problem *p, const double *change, double *size)
{
  const symancf_stopping *b = p->work->stopping;
  const symancf_kinks *k = p->work->kinks;
  for (int32_t r = 0; r < p->rows; r++)
    k->relative[r] = p->row_moves[r] ? change[r] / p->unit[r] : 0.0;
  norms_of(p, k->relative, NULL, k->norms);
  for (int32_t j = 0; j < b->parts; j++) size[j] = 0.0;
  for (int32_t c = 0; c < b->classes; c++) size[b->part[c]] += k->norms[c] * k->norms[c];
  for (int32_t j = 0; j < b->parts; j++) size[j] = sqrt(size[j]);
}

/* Write the sizes by part of the correction K^-1 F, which `step` is then; NAN: there is none. */
static int correct(const symancf_problem *p, symancf_state *s, double *size)
{
  const int32_t counted = s->linear_iterations; /* of steps, not of looking ahead */
  const int found = solve_linear(p, s);
  double sum = 0.0;
  s->linear_iterations = counted;
  if (s->error) return 0;
  for (int32_t r = 0; r < p->rows; r++) sum += p->work->step[r] * p->work->step[r];
  if (found && isfinite(sum)) {
    lengths(p, p->work->step, size);
  } else {
    for (int32_t j = 0; j < p->work->stopping->parts; j++) size[j] = NAN;
  }
  return 1;
}

/* Go to x = start - share direction, and evaluate; return which parts are not finite there. */
static void try_shares(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  const symancf_stopping *b = w->stopping;
  const symancf_kinks *k = w->kinks;
  int some = 0;
  for (int32_t r = 0; r < p->rows; r++)
    w->x[r] = k->start[r] - k->share[p->row_part[r]] * k->direction[r];
  to_state(p, s);
  const int64_t bad = residual(p, s);
  norms_of(p, w->F, NULL, k->norms);
  memset(k->wrong, 0, (size_t)b->parts);
  for (int32_t c = 0; c < b->classes; c++)
    if (!isfinite(k->norms[c])) some = k->wrong[b->part[c]] = 1;
  if (bad && !some) memset(k->wrong, 1, (size_t)b->parts);
}

/* Begin with the first share of each part; note which ones move, and how far. */
static void begin_shares(const symancf_problem *p)
{
  const symancf_work *w = p->work;
  const int32_t parts = w->stopping->parts;
  symancf_kinks *k = w->kinks;
  const size_t bytes = (size_t)p->rows * sizeof(double);
  memcpy(k->start, w->x, bytes);
  memcpy(k->direction, w->step, bytes);
  lengths(p, w->step, k->length);
  lengths(p, w->x, k->left);
  for (int32_t j = 0; j < parts; j++) {
    double smallest = INFINITY;
    for (int i = 0; i < k->recent; i++) smallest = fmin(k->trail[i * parts + j], smallest);
    const int stalls = k->trailing >= k->recent && k->length[j] > k->smaller * smallest;
    k->share[j] = stalls ? 0.5 : 1.0;
    k->best[j] = 1.0;
    k->least[j] = INFINITY;
    k->moving[j] = k->length[j] > k->standstill * k->left[j] && !w->stopping->closed[j];
    k->trail[(k->trailing % k->recent) * parts + j] = k->length[j];
  }
  k->trailing++;
}

/* Look at the shares of this trial; halve those that lead astray, and tell whether there are some. */
static int halve_shares(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  symancf_kinks *k = w->kinks;
  int some = 0;
  for (int32_t r = 0; r < p->rows; r++)
    if (k->wrong[p->row_part[r]]) w->F[r] = 0.0;
  if (!correct(p, s, k->left)) return 0;
  for (int32_t j = 0; j < w->stopping->parts; j++) {
    if (k->wrong[j]) k->left[j] = INFINITY;
    if (k->left[j] < k->least[j]) k->best[j] = k->share[j];
    if (!(k->left[j] >= k->least[j])) k->least[j] = k->left[j];
    if (k->moving[j] && k->left[j] >= k->length[j]) k->wrong[j] = 1;
    if (k->wrong[j]) k->share[j] *= 0.5;
    some |= k->wrong[j];
  }
  return some;
}

/*
 * Cut the step of each part, found with a new tangent K, to the largest share a = 1, 1/2, ... with
 * |K^-1 F(x - a step)| < |step|, else to that with the smallest; tell whether K could be used.
 */
static int cut_step(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  const symancf_kinks *k = w->kinks;
  int wrong = 1;
  begin_shares(p);
  for (int i = 0; i <= k->halvings && wrong && !s->error; i++) {
    try_shares(p, s);
    wrong = halve_shares(p, s);
  }
  if (s->error) return 0;
  for (int32_t j = 0; wrong && j < w->stopping->parts; j++)
    if (k->wrong[j] && k->least[j] < INFINITY) k->share[j] = k->best[j];
  for (int32_t r = 0; r < p->rows; r++) {
    w->step[r] = k->share[p->row_part[r]] * k->direction[r];
    w->x[r] = k->start[r];
  }
  return 1;
}

/* ---- where a step begins --------------------------------------------------------------------- */

/* Take one of the starts of a step: as predicted, without accelerations, the old state. */
static void take_start(const symancf_problem *p, symancf_state *s, int number)
{
  const symancf_work *w = p->work;
  const symancf_kinks *k = w->kinks;
  for (int32_t r = 0; r < p->rows; r++) {
    const int64_t i = p->coordinate[r];
    w->x[r] = k->start[r];
    if (p->order[i] == 2 && number) w->x[r] = number == 1 ? w->base[i] : k->before[r];
  }
  to_state(p, s);
}

/* What was found of a start, at the beginning (0) and after one step of Newton's method (1). */
static double *seen(const symancf_problem *p, int start, int after)
{
  const int64_t size = 3 * (int64_t)p->rows + 2 * (int64_t)p->coordinates;
  return p->work->kinks->seen + (2 * start + after) * size;
}

/* Copy residual and step, and their parts, to what was seen at the present unknowns, or back. */
static void copy_seen(const symancf_problem *p, double *at, int back)
{
  const symancf_work *w = p->work;
  double *own[] = {w->x, w->F, w->step, w->f, w->inertia};
  for (int i = 0; i < 5; i++) {
    const size_t n = i < 3 ? p->rows : p->coordinates;
    memcpy(back ? own[i] : at, back ? at : own[i], n * sizeof(double));
    at += n;
  }
}

/*
 * Take the residual at the unknowns from what was seen of the start of this solution; tell whether
 * it was.  `step` is K^-1 F then, with the tangent of `renewals`.
 */
static int recall(const symancf_problem *p, symancf_state *s, int iteration)
{
  const symancf_kinks *k = p->work->kinks;
  if (k->chosen < 0 || iteration > 1) return 0;
  double *at = seen(p, k->chosen, iteration);
  if (memcmp(at, p->work->x, (size_t)p->rows * sizeof(double))) return 0;
  copy_seen(p, at, 1);
  symancf_follow(p, s);
  return 1;
}

/* The length of a step of Newton's method, of all parts. */
static double length_of(const symancf_problem *p)
{
  double sum = 0.0;
  for (int32_t j = 0; j < p->work->stopping->parts; j++)
    sum += p->work->kinks->left[j] * p->work->kinks->left[j];
  return sqrt(sum);
}

/*
 * The length of the second of two steps of Newton's method with one tangent; INFINITY: none, or the
 * first.  `length`: of that.
 */
static double next_length(const symancf_problem *p, symancf_state *s, int start, double *length)
{
  const symancf_work *w = p->work;
  take_start(p, s, start);
  *seen(p, start, 0) = *seen(p, start, 1) = NAN;
  *length = 0.0;
  for (int last = 0; last < 2; last++) {
    if (residual(p, s)) return INFINITY;
    if (s->tangent.stale && renew(p, s, 0)) return NAN;
    if (!correct(p, s, w->kinks->left) || isnan(w->kinks->left[0])) return INFINITY;
    copy_seen(p, seen(p, start, last), 0);
    if (last) break;
    *length = length_of(p);
    for (int32_t r = 0; r < p->rows; r++) w->x[r] -= w->step[r];
    to_state(p, s);
  }
  return length_of(p);
}

/* Begin with a start, of which Newton's method knows what was seen. */
static int choose(const symancf_problem *p, symancf_state *s, int start)
{
  p->work->kinks->chosen = start;
  p->work->kinks->renewals = s->tangent.renewals;
  take_start(p, s, start);
  return 1;
}

/*
 * Begin a step where Newton's method gets nearest, or, `again`, second nearest; the state is as
 * predicted with constant accelerations, u (local vector) that before the step.  From there it
 * begins at once where steps fall as with a tangent that serves.  Tells whether tangents could be
 * made.
 */
int symancf_choose_start(const symancf_problem *p, symancf_state *s, const double *u, int again)
{
  symancf_kinks *k = p->work->kinks;
  double found[STARTS], length;
  int order[STARTS] = {0, 1, 2};
  to_rows(p, s->state, k->start);
  to_rows(p, u, k->before);
  s->error = 0;
  const int serves = !again && !s->tangent.stale;
  if (serves) found[0] = next_length(p, s, 0, &length);
  if (serves && !s->error && found[0] <= p->slow * length) return choose(p, s, 0);
  for (int i = STARTS - 1; i >= serves && !s->error; i--) { /* the old state first, for the tangent */
    found[i] = next_length(p, s, i, &length);
    if (isnan(found[i])) return 0;
  }
  if (s->error) { /* no factors: as they are given */
    s->error = 0;
    s->tangent.stale = 1;
  } else {
    for (int i = 1; i < STARTS; i++)
      for (int j = i; j > 0 && found[order[j]] < found[order[j - 1]]; j--) {
        const int other = order[j];
        order[j] = order[j - 1];
        order[j - 1] = other;
      }
  }
  return choose(p, s, order[again]);
}

/* ---- what laws remember ---------------------------------------------------------------------- */

/* Let kernels read the length of the step, and what entities, also idle lanes, remember. */
static void write_memory(const symancf_problem *p, const symancf_state *s)
{
  for (int32_t k = 0; k < p->lengths; k++) *p->length[k] = s->time - s->begun;
  for (const symancf_memory *m = p->memory; m < p->memory + p->memories; m++)
    for (int k = 0; k < 3; k++)
      for (int32_t lane = m->first[k]; m->cell[k] && lane < m->end[k]; lane++) {
        const int32_t entity = lane - m->first[k] < m->n ? lane - m->first[k] : m->n - 1;
        const double *from = m->old + (int64_t)entity * m->rows;
        double *to = m->cell[k] + (int64_t)(lane / 8) * m->cell_rows * 8 + lane % 8;
        for (int32_t r = 0; r < m->rows; r++) to[(m->cell_rows - m->rows + r) * 8] = from[r];
      }
}

/* Take the end of the last step as the beginning of this one. */
static void begin_memory(const symancf_problem *p, const symancf_state *s)
{
  for (const symancf_memory *m = p->memory; m < p->memory + p->memories; m++) {
    const size_t bytes = (size_t)m->n * m->rows * sizeof(double);
    memcpy(m->before, m->old, bytes);
    memcpy(m->old, m->next, bytes);
  }
  write_memory(p, s);
}

/* Forget the step that was begun. */
static void drop_memory(const symancf_problem *p, const symancf_state *s)
{
  for (const symancf_memory *m = p->memory; m < p->memory + p->memories; m++) {
    const size_t bytes = (size_t)m->n * m->rows * sizeof(double);
    memcpy(m->next, m->old, bytes);
    memcpy(m->old, m->before, bytes);
  }
  write_memory(p, s);
}

/* Let all entities remember the sum of a row. */
static void sum_row(const symancf_memory *m, int32_t row)
{
  double sum = 0.0;
  for (int32_t i = 0; i < m->n; i++) sum += m->next[(int64_t)i * m->rows + row];
  for (int32_t i = 0; i < m->n; i++) m->next[(int64_t)i * m->rows + row] = sum;
}

/* Find what is remembered at the end of the step; tell whether it is finite. */
static int find_memory(const symancf_problem *p, const symancf_state *s)
{
  if (p->memories && p->evaluate(p->memory_plan, p->update, s->state, NULL, NULL, NULL)) return 0;
  for (const symancf_memory *m = p->memory; m < p->memory + p->memories; m++)
    for (int32_t i = 0; i < m->n; i++) {
      const int32_t lane = m->first[0] + i;
      const double *from = m->table + (int64_t)(lane / 8) * m->rows * 8 + lane % 8;
      for (int32_t r = 0; r < m->rows; r++) {
        m->next[(int64_t)i * m->rows + r] = from[r * 8];
        if (!isfinite(from[r * 8])) return 0;
      }
    }
  for (const symancf_memory *m = p->memory; m < p->memory + p->memories; m++)
    if (m->summed >= 0) sum_row(m, m->summed);
  return 1;
}

/* The length of the difference of three numbers from three others. */
static double distance(const double *a, const double *b)
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

/* Whether an entity, by what it remembers of both ends of the step, lets the solution stand. */
static int stands(const symancf_memory *m, int32_t entity)
{
  static const double none[3] = {0.0, 0.0, 0.0};
  const double *old = m->old + (int64_t)entity * m->rows;
  const double *next = m->next + (int64_t)entity * m->rows;
  double way = distance(next + m->place, old + m->place);
  if (m->stretch >= 0)
    way += 2.0 * (distance(old + m->stretch, none) + distance(next + m->stretch, none));
  return next[m->variable] >= m->least[entity] && way <= m->far[entity];
}

/* Whether all entities do, and all coordinates. */
static int all_stand(const symancf_problem *p, const symancf_state *s)
{
  for (int32_t k = 0; k < p->bounded; k++)
    if (!(s->state[p->bounded_coordinate[k]] >= p->bound[k])) return 0;
  for (const symancf_memory *m = p->memory; m < p->memory + p->memories; m++)
    for (int32_t i = 0; m->variable >= 0 && i < m->n; i++)
      if (!stands(m, i)) return 0;
  return 1;
}

/* Remember the end of the step; return what terms think of it, see `Verdict`. */
static int judge_solution(const symancf_problem *p, symancf_state *s)
{
  if (!find_memory(p, s)) return STEP_CUT;
  const int reviewed = p->reviewed || (p->starts && !s->steps_done);
  if (!reviewed && all_stand(p, s)) return STEP_STANDS;
  const int verdict = p->ask(REVIEW, 0);
  write_memory(p, s);
  return verdict;
}

/*
 * Solve the equations of a step until all terms let the solution stand; return PETSc's reason, or
 * `declined`: Python is to make the step.
 */
static int solve_with_reviews(const symancf_problem *p, symancf_state *s)
{
  int reason = 1, verdict = STEP_AGAIN;
  int32_t iterations = 0, linear = 0;
  for (int k = 0; k < p->reviews && verdict == STEP_AGAIN && reason > 0; k++) {
    reason = symancf_newton(p, s);
    iterations += s->iterations;
    linear += s->linear_iterations;
    if (reason > 0) verdict = judge_solution(p, s);
  }
  s->iterations = iterations;
  s->linear_iterations = linear;
  s->declined = reason > 0 && verdict != STEP_STANDS;
  return reason;
}
