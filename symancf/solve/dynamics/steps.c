/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of generalized-alpha: prediction, Newton's method, the test of its end, many steps in one
 * call.  What is rare or dear (tangents, doubts about round-off, functions of time) Python does,
 * see native.py.  Newton's method and many steps are those of one rank; all else, the test too, is
 * also what SNES calls.
 */
#include "steps.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define UNDECIDED 100
#define RELATIVE 3 /* reasons of PETSc */
#define NOT_FINITE (-4)
#define TOO_MANY (-5)
#define NO_SOLUTION (-3)
#define NO_MEMORY (-1)

static inline double larger(double a, double b)
{
  return a > b || isnan(a) ? a : b; /* as NumPy: not a number remains */
}

/* ---- the affine map -------------------------------------------------------------------------- */

/* Let rates and accelerations follow the state. */
void symancf_follow(symancf_motion *m)
{
  for (int32_t i = 0; i < m->coordinates; i++) {
    const double change = m->state[i] - m->base[i];
    m->rate[i] = m->rate_factor[i] * change + m->base_rate[i];
    m->acceleration[i] = m->acceleration_factor[i] * change + m->base_acceleration[i];
  }
}

/*
 * Set the affine map of a step of length h, and a state to begin with, from the beginning u with
 * rates v, accelerations a and auxiliary ones A.  `ahead`: with constant accelerations.
 */
void symancf_predict(symancf_motion *m, double h, const double *u, const double *v,
                     const double *a, const double *A, int ahead)
{
  const double rest = 1.0 - m->alpha_f, bend = h * h * (0.5 - m->beta);
  const double slope = h * (1.0 - m->gamma), beyond = ahead ? h * h * m->beta : 0.0;
  for (int32_t i = 0; i < m->coordinates; i++) {
    double base = u[i], rate = 0.0, acceleration = 0.0;
    if (m->order[i] == 2) {
      base += h * v[i] + bend * A[i];
      rate = v[i] + slope * A[i];
      acceleration = (m->alpha_m * A[i] - m->alpha_f * a[i]) / rest;
      m->state[i] = base + beyond * a[i];
    } else if (m->order[i] == 1) {
      base += h * (1.0 - m->theta) * A[i];
      rate = (m->delta * A[i] - m->alpha_f * v[i]) / rest;
      m->state[i] = u[i] + h * v[i];
    }
    m->base[i] = base;
    m->base_rate[i] = rate;
    m->base_acceleration[i] = acceleration;
  }
}

/* Let the affine map give prescribed coordinates the rates that they have. */
void symancf_hold(symancf_motion *m)
{
  for (int32_t k = 0; k < m->fixed_count; k++) {
    const int64_t i = m->fixed[k];
    m->base[i] = m->state[i];
    m->base_rate[i] = m->rate[i];
    m->base_acceleration[i] = m->acceleration[i];
  }
}

/* Set the auxiliary accelerations of a step that was solved. */
void symancf_conclude(symancf_motion *m)
{
  for (int32_t i = 0; i < m->coordinates; i++)
    m->auxiliary[i] = m->auxiliary_factor[i] * (m->state[i] - m->base[i]);
}

/* ---- how long a tangent lasts ---------------------------------------------------------------- */

void symancf_tangent_begin(symancf_motion *m)
{
  symancf_tangent *t = &m->tangent;
  t->fresh = t->made_now = 0;
  t->worn = !t->stale && !t->eager;
  t->renewals_before = t->renewals;
}

/* Whether an iteration is to make a tangent. */
int symancf_tangent_wanted(symancf_motion *m, int iteration)
{
  symancf_tangent *t = &m->tangent;
  const int slow = iteration > 0 && t->share > t->slow * t->share_before;
  const int at_once = iteration == 1 && t->eager > 0 && !t->fresh;
  t->made_now = t->stale || slow || at_once;
  t->fresh = t->fresh || t->made_now;
  return t->made_now;
}

void symancf_tangent_made(symancf_motion *m)
{
  symancf_tangent *t = &m->tangent;
  t->renewals++;
  t->stale = 0;
  t->fewest = t->beyond = 0.0;
}

/* After a solution of some iterations. */
static void tangent_end(symancf_tangent *t, int iterations)
{
  const double used = iterations > 1 ? iterations : 1;
  const int made = t->renewals > t->renewals_before;
  if (t->eager) {
    t->eager--;
  } else {
    t->needy = !(t->worn && made) ? 0 : t->needy < t->proof ? t->needy + 1 : t->proof;
    t->eager = t->needy == t->proof ? t->steps : 0;
  }
  if (made) {
    t->fewest = used;
  } else {
    t->fewest = used < t->fewest ? used : t->fewest;
    t->beyond += used - t->fewest;
    t->stale = t->stale || t->beyond >= t->patience;
  }
}

/* ---- the test, see `Balance` and `Stopping` -------------------------------------------------- */

/* Take forces and round-off as what norms are measured by. */
static void weigh(symancf_balance *b)
{
  for (int32_t c = 0; c < b->classes; c++) {
    const double limit =
        larger(b->rtol * b->forces[c], larger(b->round_off * b->noise[c], b->tiny));
    b->weight[c] = b->constraint[c] ? 0.0 : b->rtol / limit;
  }
}

void symancf_weigh(symancf_motion *m)
{
  weigh(&m->balance);
}

static double *shares(symancf_balance *b, int iteration)
{
  double *worst = b->worst + (int64_t)iteration * b->parts;
  for (int32_t p = 0; p < b->parts; p++) worst[p] = -INFINITY;
  for (int32_t c = 0; c < b->classes; c++) {
    const double share = b->norms[c] * b->weight[c] + b->violations[c];
    worst[b->part[c]] = larger(share, worst[b->part[c]]);
  }
  return worst;
}

/* Close the parts that have converged by the tolerance; tell whether all have. */
static int close_parts(symancf_balance *b, const double *worst)
{
  int all = 1, any = 0;
  for (int32_t p = 0; p < b->parts; p++) any |= b->closed[p];
  for (int32_t p = 0; p < b->parts; p++) {
    const int kept = any && b->closed[p] && worst[p] <= b->again * b->shut[p];
    b->closed[p] = worst[p] <= b->rtol || kept;
    if (!kept) b->shut[p] = b->rtol;
    all &= b->closed[p];
  }
  return all;
}

/* Begin with the first residual; forces are those of the last step's end or of now. */
static int judge_first(symancf_balance *b)
{
  double *most = b->worst; /* the largest work of each part; shares come here after it */
  b->asked = 0;
  for (int32_t p = 0; p < b->parts; p++) most[p] = 0.0;
  for (int32_t c = 0; c < b->classes; c++) {
    b->forces[c] = larger(b->ended[c], b->sizes[c]);
    const double work = b->moves[c] ? b->forces[c] * b->natural[c] : 0.0;
    most[b->part[c]] = larger(work, most[b->part[c]]);
  }
  for (int32_t c = 0; c < b->classes; c++)
    b->forces[c] = larger(b->forces[c], b->least[c] * most[b->part[c]] / b->natural[c]);
  weigh(b);
  for (int32_t p = 0; p < b->parts; p++) b->closed[p] = 0, b->shut[p] = 0.0;
  if (close_parts(b, shares(b, 0))) return RELATIVE;
  if (b->split) {
    for (int32_t c = 0; c < b->classes; c++) b->forces[c] = larger(b->forces[c], b->in_parts[c]);
    weigh(b);
  }
  return 0;
}

/* Return PETSc's reason to stop, 0 to go on, or UNDECIDED: what is left may be round-off. */
static int judge(symancf_balance *b, int iteration, int fresh)
{
  if (iteration == 0) return judge_first(b);
  if (iteration >= b->room) return UNDECIDED;
  const double *worst = shares(b, iteration), *before = worst - b->parts;
  if (close_parts(b, worst)) return RELATIVE;
  const double falling = fresh ? b->falling : b->slow;
  for (int32_t p = 0; p < b->parts; p++)
    if (!(worst[p] <= falling * before[p] || b->closed[p])) return UNDECIDED;
  return 0;
}

/* Whether forces in parts still serve after a step; sizes are those of its end. */
static int parts_wanted(const symancf_balance *b)
{
  for (int32_t c = 0; b->split && c < b->classes; c++) {
    const double limit = larger(b->rtol * b->ended[c], b->round_off * b->noise[c]);
    if (b->norms[c] > limit && !b->constraint[c]) return 1;
  }
  return 0;
}

static void reduce(const symancf_motion *m, double *values, int32_t count, int largest)
{
  if (m->reduce) m->reduce(values, count, largest);
}

/* Norms by class of values of rows, less those of others (NULL: none). */
static void norms_of(const symancf_motion *m, const double *a, const double *less, double *norms)
{
  const int32_t classes = m->balance.classes;
  double most = 0.0, *unit = m->scratch;
  memset(norms, 0, (size_t)classes * sizeof(double));
  for (int32_t r = 0; r < m->rows; r++) {
    const double value = less ? a[r] - less[r] : a[r];
    norms[m->row_class[r]] += value * value;
  }
  reduce(m, norms, classes, 0);
  for (int32_t c = 0; c < classes; c++) most = larger(norms[c], most);
  if (most > m->balance.safe[0] && most < m->balance.safe[1]) {
    for (int32_t c = 0; c < classes; c++) norms[c] = sqrt(norms[c]);
    return;
  }
  memset(norms, 0, (size_t)classes * sizeof(double));
  memset(unit, 0, (size_t)classes * sizeof(double));
  for (int32_t r = 0; r < m->rows; r++) {
    const double value = less ? a[r] - less[r] : a[r];
    unit[m->row_class[r]] = larger(fabs(value), unit[m->row_class[r]]);
  }
  reduce(m, unit, classes, 1);
  for (int32_t c = 0; c < classes; c++)
    if (!(unit[c] > 0.0) || !isfinite(unit[c])) unit[c] = 1.0;
  for (int32_t r = 0; r < m->rows; r++) {
    const double value = (less ? a[r] - less[r] : a[r]) / unit[m->row_class[r]];
    norms[m->row_class[r]] += value * value;
  }
  reduce(m, norms, classes, 0);
  for (int32_t c = 0; c < classes; c++) norms[c] = unit[c] * sqrt(norms[c]);
}

static void to_rows(const symancf_motion *m, const double *local, double *rows)
{
  for (int32_t r = 0; r < m->rows; r++) rows[r] = local[m->coordinate[r]];
  for (int32_t k = 0; k < m->held_count; k++) rows[m->held[k]] = 0.0;
}

/* The larger of |M a| and |R| of each class, 0 of constraints. */
static void sizes(symancf_motion *m, double *found)
{
  const symancf_balance *b = &m->balance;
  double *other = m->scratch + b->classes;
  to_rows(m, m->inertia, m->old);
  norms_of(m, m->old, NULL, found);
  norms_of(m, m->F, m->old, other);
  for (int32_t c = 0; c < b->classes; c++)
    found[c] = b->constraint[c] ? 0.0 : larger(found[c], other[c]);
}

/* The largest violation of each class of constraints, 1 for what counts as none, times rtol. */
static void violations(symancf_motion *m)
{
  symancf_balance *b = &m->balance;
  memset(b->violations, 0, (size_t)b->classes * sizeof(double));
  for (int32_t k = 0; k < m->constraints; k++) {
    const int64_t r = m->constraint[k], c = m->row_class[r];
    const double share = b->rtol * (fabs(m->F[r]) / larger(m->limits[k], b->tiny));
    b->violations[c] = larger(share, b->violations[c]);
  }
  reduce(m, b->violations, b->classes, 1);
}

/* Whether the last step was so small that nothing soft is hidden, see `Leftover`. */
static int small_step(symancf_motion *m)
{
  double *size = m->scratch, worst = 0.0;
  if (!m->exact) return 0;
  for (int32_t p = 0; p < m->balance.parts; p++) size[p] = m->least_motion;
  for (int32_t r = 0; r < m->rows; r++) {
    if (!m->row_moves[r]) continue;
    const double u = fabs(m->x[r]) / m->unit[r];
    size[m->row_part[r]] = larger(u, size[m->row_part[r]]);
  }
  reduce(m, size, m->balance.parts, 1);
  for (int32_t r = 0; r < m->rows; r++) {
    if (!m->row_moves[r]) continue;
    worst = larger(fabs(m->x[r] - m->old[r]) / m->unit[r] / size[m->row_part[r]], worst);
  }
  reduce(m, &worst, 1, 1);
  return worst <= m->small;
}

/* Return PETSc's reason to stop after an iteration, or 0 (collective). */
int symancf_test(symancf_motion *m, int iteration)
{
  symancf_balance *b = &m->balance;
  symancf_tangent *t = &m->tangent;
  int reason = UNDECIDED;
  norms_of(m, m->F, NULL, b->norms);
  if (m->constrained) violations(m);
  if (iteration == 0) sizes(m, b->sizes);
  for (int32_t c = 0; c < b->classes; c++)
    if (!isfinite(b->norms[c])) reason = NOT_FINITE;
  if (reason == UNDECIDED && (!b->asked || iteration == 0)) reason = judge(b, iteration, t->made_now);
  if (reason == UNDECIDED) { /* it tells the shares, too */
    reason = m->ask(JUDGE, iteration);
  } else {
    t->share_before = t->share;
    t->share = 0.0;
    const double *worst = b->worst + (int64_t)iteration * b->parts;
    for (int32_t p = 0; reason != NOT_FINITE && p < b->parts; p++)
      t->share = larger(worst[p], t->share);
    const int soft = reason > 0 && (iteration ? !small_step(m) : !t->stale);
    if (soft && !m->ask(SETTLED, iteration)) reason = 0;
  }
  if (!reason) memcpy(m->old, m->x, (size_t)m->rows * sizeof(double));
  return reason;
}

/* Take a solution of some iterations: what the next one goes on with (collective). */
void symancf_accept(symancf_motion *m, int iterations)
{
  symancf_balance *b = &m->balance;
  sizes(m, b->ended);
  if (b->split) b->split = parts_wanted(b) && !m->ask(PARTS, 0);
  tangent_end(&m->tangent, iterations);
}

/* ---- Newton's method ------------------------------------------------------------------------- */

/* Write the unknowns to the state. */
static void to_state(symancf_motion *m)
{
  const int held = m->held_count > 0;
  int32_t k = 0;
  for (int32_t r = 0; r < m->rows; r++) {
    if (held && k < m->held_count && m->held[k] == r) {
      k++;
      continue;
    }
    m->state[m->coordinate[r]] = m->x[r];
  }
}

/* Write the residual at the unknowns; return the number of bad points, below 0: no memory. */
static int64_t residual(symancf_motion *m)
{
  const size_t bytes = (size_t)m->coordinates * sizeof(double);
  const double *moved = m->acceleration;
  symancf_follow(m);
  memset(m->f, 0, bytes);
  memset(m->inertia, 0, bytes);
  const int64_t bad = m->evaluate(m->plan, m->residual, m->state, NULL, m->f, NULL);
  if (m->damping != 0.0) {
    for (int32_t i = 0; i < m->coordinates; i++)
      m->moved[i] = m->acceleration[i] + m->damping * m->rate[i];
    moved = m->moved;
  }
  if (bad < 0 || m->evaluate(m->mass, m->residual, moved, NULL, m->inertia, NULL) < 0) return -1;
  for (int32_t i = 0; i < m->coordinates; i++) m->f[i] += m->inertia[i];
  to_rows(m, m->f, m->F);
  return bad;
}

/* Solve the equations of a step from the present state; return PETSc's reason. */
int symancf_newton(symancf_motion *m)
{
  int reason = 0;
  m->iterations = m->linear_iterations = m->looked = m->error = 0;
  symancf_tangent_begin(m);
  to_rows(m, m->state, m->x);
  for (int iteration = 0;; iteration++) {
    const int64_t bad = residual(m);
    if (bad) {
      m->error = bad < 0 ? NO_MEMORY : 0;
      return NOT_FINITE;
    }
    m->iterations = iteration;
    reason = symancf_test(m, iteration);
    if (reason) break;
    if (iteration == m->most) return TOO_MANY;
    if (symancf_tangent_wanted(m, iteration) && m->ask(RENEW, iteration))
      return NO_SOLUTION;
    int why = 0;
    union {
      int32_t narrow;
      int64_t wide;
    } number = {.wide = 0};
    double *written = m->F; /* PETSc is to know */
    m->vector_get(m->vector_F, &written);
    m->vector_restore(m->vector_F, &written);
    m->error = m->ksp_solve(m->ksp, m->vector_F, m->vector_step);
    if (m->error) return NO_SOLUTION;
    m->ksp_reason(m->ksp, &why);
    m->ksp_iterations(m->ksp, &number);
    m->linear_iterations += m->wide ? (int32_t)number.wide : number.narrow;
    if (why < 0) return NO_SOLUTION;
    for (int32_t r = 0; r < m->rows; r++) m->x[r] -= m->step[r];
    to_state(m);
  }
  if (reason > 0) symancf_accept(m, m->iterations);
  return reason;
}

/* ---- many steps ------------------------------------------------------------------------------ */

static void keep(symancf_motion *m, int back)
{
  double *own[] = {m->state, m->rate, m->acceleration, m->auxiliary};
  for (int k = 0; k < 4; k++) {
    double *kept = m->kept + (int64_t)k * m->coordinates;
    memcpy(back ? own[k] : kept, back ? kept : own[k], (size_t)m->coordinates * sizeof(double));
  }
}

/* Write the forces of drives (0) or of dampers (1), see `Audit`; return whether there may be any. */
static int forces(symancf_motion *m, int kind, double *f)
{
  const void *plan = m->power_plan[kind];
  const int damped = kind && m->damping != 0.0, supported = !kind && m->supported;
  if (!plan && !damped && !supported) return 0;
  memset(f, 0, (size_t)m->coordinates * sizeof(double));
  if (plan) m->evaluate(plan, m->residual, m->state, NULL, f, NULL);
  if (damped) {
    for (int32_t i = 0; i < m->coordinates; i++) m->moved[i] = m->damping * m->rate[i];
    m->evaluate(m->mass, m->residual, m->moved, NULL, f, NULL);
  }
  for (int32_t i = 0; i < m->coordinates; i++) f[i] *= kind ? m->owned[i] : -m->owned[i];
  for (int32_t j = 0; supported && j < m->fixed_count; j++)
    f[m->fixed[j]] += m->f[m->fixed[j]] * m->supported[m->fixed[j]];
  return 1;
}

/* Add the work of a step of length h from what was kept, see `Instant.work_to`. */
static void add_work(symancf_motion *m, double h)
{
  const int32_t n = m->coordinates;
  const double *state = m->kept, *rate = m->kept + n;
  for (int k = 0; k < 2; k++) {
    double *before = m->pull + (int64_t)k * n, *f = m->pull + (int64_t)(2 + k) * n;
    if (!forces(m, k, f)) continue;
    for (int32_t i = 0; i < n; i++) {
      const double mean = 0.5 * (f[i] + before[i]), change = f[i] - before[i];
      m->work[k] += mean * (m->state[i] - state[i]) + h / 6.0 * change * (m->rate[i] - rate[i]);
    }
    memcpy(before, f, (size_t)n * sizeof(double));
  }
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
 * Make steps of length h from `time`, at most `wanted` and for little more than `seconds`, none that
 * ends within 0.2 h of `end`.  Returns 1, or the reason why the next one could not be made: the
 * motion is where that begins.
 */
int symancf_steps(symancf_motion *m)
{
  const double stop = now() + m->seconds, h = m->h;
  for (m->made = 0; m->made < m->wanted && m->end - m->time >= 1.2 * h; m->made++) {
    const double begun = m->time;
    if (m->made && now() > stop) break;
    keep(m, 0);
    symancf_predict(m, h, m->kept, m->kept + m->coordinates, m->kept + 2 * (int64_t)m->coordinates,
                    m->kept + 3 * (int64_t)m->coordinates, !m->calm);
    m->time = begun + h;
    int reason = m->timed && m->ask(PRESENT, 0) ? NO_SOLUTION : 1;
    if (reason > 0) {
      symancf_hold(m);
      reason = symancf_newton(m);
    }
    if (reason <= 0) {
      m->time = begun;
      keep(m, 1);
      return reason;
    }
    symancf_conclude(m);
    const int stop_here = m->driven && m->ask(DRIVE, 0); /* the step stands */
    if (!m->closed && !stop_here) add_work(m, m->time - begun);
    m->calm = m->calm > 0 ? m->calm - 1 : 0;
    m->times[m->made] = m->time;
    m->step_iterations[m->made] = m->iterations;
    m->step_linear[m->made] = m->linear_iterations;
    if (m->pause || stop_here) { /* something to say, or to raise */
      m->made++;
      return stop_here ? NO_SOLUTION : 1;
    }
  }
  return 1;
}
