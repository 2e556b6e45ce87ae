/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of generalized-alpha: prediction, Newton's method, norms for the test of its end, many steps
 * in one call.  What is rare or dear (tangents, estimates of round-off, functions of time) Python
 * does, see native.py.  `symancf_newton` and `symancf_advance` are for the one rank that has all
 * unknowns; Python's iterations call all else.
 */
#include "steps.h"

#include <float.h>
#include <time.h>

enum { NO_SOLUTION = -3, NOT_FINITE = -4, TOO_MANY = -5 }; /* reasons of PETSc */
#define NO_MEMORY (-1)

/* ---- the affine map -------------------------------------------------------------------------- */

/* Let rates and accelerations follow the state. */
void symancf_follow(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  for (int32_t i = 0; i < p->coordinates; i++) {
    const double change = s->state[i] - w->base[i];
    s->rate[i] = p->rate_factor[i] * change + w->base_rate[i];
    s->acceleration[i] = p->acceleration_factor[i] * change + w->base_acceleration[i];
  }
}

/*
 * Set the affine map of a step of length h, and a state to begin with, from the beginning u with
 * rates v, accelerations a and auxiliary ones A.  `ahead`: with constant accelerations.
 */
void symancf_predict(const symancf_problem *p, symancf_state *s, double h, const double *u,
                     const double *v, const double *a, const double *A, int ahead)
{
  const symancf_work *w = p->work;
  const double rest = 1.0 - p->alpha_f, bend = h * h * (0.5 - p->beta);
  const double slope = h * (1.0 - p->gamma), beyond = ahead ? h * h * p->beta : 0.0;
  for (int32_t i = 0; i < p->coordinates; i++) {
    double base = u[i], rate = 0.0, acceleration = 0.0;
    if (p->order[i] == 2) {
      base += h * v[i] + bend * A[i];
      rate = v[i] + slope * A[i];
      acceleration = (p->alpha_m * A[i] - p->alpha_f * a[i]) / rest;
      s->state[i] = base + beyond * a[i];
    } else if (p->order[i] == 1) {
      base += h * (1.0 - p->theta) * A[i];
      rate = (p->delta * A[i] - p->alpha_f * v[i]) / rest;
      s->state[i] = u[i] + h * v[i];
    }
    w->base[i] = base;
    w->base_rate[i] = rate;
    w->base_acceleration[i] = acceleration;
  }
}

/* Let the affine map give prescribed coordinates the rates that they have. */
void symancf_prescribe(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  for (int32_t k = 0; k < p->fixed_count; k++) {
    const int64_t i = p->fixed[k];
    w->base[i] = s->state[i];
    w->base_rate[i] = s->rate[i];
    w->base_acceleration[i] = s->acceleration[i];
  }
}

/* Set the auxiliary accelerations of a step that was solved. */
void symancf_conclude(const symancf_problem *p, symancf_state *s)
{
  for (int32_t i = 0; i < p->coordinates; i++)
    s->auxiliary[i] = p->auxiliary_factor[i] * (s->state[i] - p->work->base[i]);
}

/* ---- how long a tangent lasts ---------------------------------------------------------------- */

void symancf_tangent_begin(const symancf_problem *p, symancf_state *s)
{
  symancf_tangent *t = &s->tangent;
  t->fresh = t->made_now = 0;
  t->worn = !t->stale && !t->eager;
  t->renewals_before = t->renewals;
}

/* Whether an iteration is to make a tangent. */
int symancf_tangent_wanted(const symancf_problem *p, symancf_state *s, int iteration)
{
  symancf_tangent *t = &s->tangent;
  const int slow = iteration > 0 && t->share > p->slow * t->share_before;
  const int at_once = iteration == 1 && t->eager > 0 && !t->fresh;
  t->made_now = t->stale || slow || at_once;
  t->fresh = t->fresh || t->made_now;
  return t->made_now;
}

void symancf_tangent_made(const symancf_problem *p, symancf_state *s)
{
  symancf_tangent *t = &s->tangent;
  t->renewals++;
  t->stale = 0;
  t->fewest = t->beyond = 0.0;
}

/* After a solution of some iterations. */
static void tangent_end(const symancf_problem *p, symancf_tangent *t, int iterations)
{
  const double used = iterations > 1 ? iterations : 1;
  const int renewed = t->renewals > t->renewals_before;
  if (t->eager) {
    t->eager--;
  } else {
    t->needy = !(t->worn && renewed) ? 0 : t->needy < p->proof ? t->needy + 1 : p->proof;
    t->eager = t->needy == p->proof ? p->steps : 0;
  }
  if (renewed) {
    t->fewest = used;
  } else {
    t->fewest = used < t->fewest ? used : t->fewest;
    t->beyond += used - t->fewest;
    t->stale = t->stale || t->beyond >= p->patience;
  }
}

/* ---- what the test knows, see `Balance` ------------------------------------------------------ */

/* Find the shares that norms and violations are of what they are measured by. */
void symancf_shares(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  const symancf_stopping *b = w->stopping;
  for (int32_t c = 0; c < b->classes; c++)
    b->shares[c] = b->norms[c] * w->weight[c] + w->violations[c];
}

/* Take forces and round-off as what norms are measured by; find the shares. */
void symancf_weigh(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  const symancf_stopping *b = w->stopping;
  for (int32_t c = 0; c < b->classes; c++) {
    const double limit =
        larger(b->rtol * w->forces[c], larger(p->round_off * b->noise[c], p->tiny));
    w->weight[c] = p->constrains[c] ? 0.0 : b->rtol / limit;
  }
  symancf_shares(p, s);
}

/* Begin with the first residual; forces are those of the last step's end or of now. */
static int first_reason(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  symancf_stopping *b = w->stopping;
  double *most = w->scratch; /* the largest work of each part */
  symancf_stop_begin(b);
  for (int32_t j = 0; j < b->parts; j++) most[j] = 0.0;
  for (int32_t c = 0; c < b->classes; c++) {
    w->forces[c] = larger(s->ended[c], w->sizes[c]);
    const double work = p->moves[c] ? w->forces[c] * p->natural[c] : 0.0;
    most[b->part[c]] = larger(work, most[b->part[c]]);
  }
  for (int32_t c = 0; c < b->classes; c++)
    w->forces[c] = larger(w->forces[c], p->least[c] * most[b->part[c]] / p->natural[c]);
  symancf_weigh(p, s);
  const int all = symancf_stop_within(b);
  memcpy(b->first, b->worst, (size_t)b->parts * sizeof(double));
  if (all) return BY_RESIDUAL;
  for (int32_t c = 0; s->split && c < b->classes; c++)
    w->forces[c] = larger(w->forces[c], s->in_parts[c]);
  if (s->split) symancf_weigh(p, s);
  return GO_ON;
}

/* Whether forces in parts still serve after a step; sizes are those of its end. */
static int parts_wanted(const symancf_problem *p, const symancf_state *s)
{
  const symancf_stopping *b = p->work->stopping;
  for (int32_t c = 0; s->split && c < b->classes; c++) {
    const double limit = larger(b->rtol * s->ended[c], p->round_off * b->noise[c]);
    if (b->norms[c] > limit && !p->constrains[c]) return 1;
  }
  return 0;
}

static void reduce(const symancf_problem *p, double *values, int32_t count, int largest)
{
  if (p->reduce) p->reduce(values, count, largest);
}

/* Norms by class of values of rows, less those of others (NULL: none). */
static void norms_of(const symancf_problem *p, const double *a, const double *less, double *norms)
{
  const int32_t classes = p->work->stopping->classes;
  double most = 0.0, *unit = p->work->scratch;
  memset(norms, 0, (size_t)classes * sizeof(double));
  for (int32_t r = 0; r < p->rows; r++) {
    const double value = less ? a[r] - less[r] : a[r];
    norms[p->row_class[r]] += value * value;
  }
  reduce(p, norms, classes, 0);
  for (int32_t c = 0; c < classes; c++) most = larger(norms[c], most);
  if (most > p->safe[0] && most < p->safe[1]) {
    for (int32_t c = 0; c < classes; c++) norms[c] = sqrt(norms[c]);
    return;
  }
  memset(norms, 0, (size_t)classes * sizeof(double));
  memset(unit, 0, (size_t)classes * sizeof(double));
  for (int32_t r = 0; r < p->rows; r++) {
    const double value = less ? a[r] - less[r] : a[r];
    unit[p->row_class[r]] = larger(fabs(value), unit[p->row_class[r]]);
  }
  reduce(p, unit, classes, 1);
  for (int32_t c = 0; c < classes; c++)
    if (!(unit[c] > 0.0) || !isfinite(unit[c])) unit[c] = 1.0;
  for (int32_t r = 0; r < p->rows; r++) {
    const double value = (less ? a[r] - less[r] : a[r]) / unit[p->row_class[r]];
    norms[p->row_class[r]] += value * value;
  }
  reduce(p, norms, classes, 0);
  for (int32_t c = 0; c < classes; c++) norms[c] = unit[c] * sqrt(norms[c]);
}

static void to_rows(const symancf_problem *p, const double *local, double *rows)
{
  for (int32_t r = 0; r < p->rows; r++) rows[r] = local[p->coordinate[r]];
  for (int32_t k = 0; k < p->prescribed_count; k++) rows[p->prescribed[k]] = 0.0;
}

/* The larger of |M a| and |R| of each class, 0 of constraints. */
static void sizes(const symancf_problem *p, double *found)
{
  const symancf_work *w = p->work;
  const int32_t classes = w->stopping->classes;
  double *other = w->scratch + classes;
  to_rows(p, w->inertia, w->old);
  norms_of(p, w->old, NULL, found);
  norms_of(p, w->F, w->old, other);
  for (int32_t c = 0; c < classes; c++)
    found[c] = p->constrains[c] ? 0.0 : larger(found[c], other[c]);
}

/* The largest violation of each class of constraints, 1 for what counts as none, times rtol. */
static void violations(const symancf_problem *p)
{
  const symancf_work *w = p->work;
  const symancf_stopping *b = w->stopping;
  memset(w->violations, 0, (size_t)b->classes * sizeof(double));
  for (int32_t k = 0; k < p->constraints; k++) {
    const int64_t r = p->constraint[k], c = p->row_class[r];
    const double share = b->rtol * (fabs(w->F[r]) / larger(p->limits[k], p->tiny));
    w->violations[c] = larger(share, w->violations[c]);
  }
  reduce(p, w->violations, b->classes, 1);
}

/* The largest share that a change of the unknowns, less another one, is of these, see `Leftover`. */
static double relative_size(const symancf_problem *p, const double *change, const double *less)
{
  const symancf_work *w = p->work;
  const int32_t parts = w->stopping->parts;
  double *size = w->scratch, worst = 0.0;
  for (int32_t j = 0; j < parts; j++) size[j] = p->least_motion;
  for (int32_t r = 0; r < p->rows; r++) {
    if (!p->row_moves[r]) continue;
    const double u = fabs(w->x[r]) / p->unit[r];
    size[p->row_part[r]] = larger(u, size[p->row_part[r]]);
  }
  reduce(p, size, parts, 1);
  for (int32_t r = 0; r < p->rows; r++) {
    if (!p->row_moves[r]) continue;
    const double moved = fabs(less ? change[r] - less[r] : change[r]);
    worst = larger(moved / p->unit[r] / size[p->row_part[r]], worst);
  }
  reduce(p, &worst, 1, 1);
  return worst;
}

/* Whether the last step was so small that nothing soft is hidden. */
static int small_step(const symancf_problem *p)
{
  return p->exact && relative_size(p, p->work->x, p->work->old) <= p->small;
}

/* Set the lengths of the last step, by parts, over those of the unknowns. */
static void measure_step(const symancf_problem *p)
{
  const symancf_work *w = p->work;
  const symancf_stopping *b = w->stopping;
  double *norms = w->scratch + b->classes, *size = w->lengths;
  memset(b->moved, 0, (size_t)b->parts * sizeof(double));
  memset(size, 0, (size_t)b->parts * sizeof(double));
  norms_of(p, w->x, w->old, norms);
  for (int32_t c = 0; c < b->classes; c++) b->moved[b->part[c]] += norms[c] * norms[c];
  norms_of(p, w->x, NULL, norms);
  for (int32_t c = 0; c < b->classes; c++) size[b->part[c]] += norms[c] * norms[c];
  for (int32_t j = 0; j < b->parts; j++) {
    size[j] = larger(sqrt(size[j]), p->smallest[j]);
    b->moved[j] = size[j] > 0.0 ? sqrt(b->moved[j]) / size[j] : INFINITY;
  }
}

#include "estimates.c"

/* Judge an iteration as `Stopping.decide` does. */
static int decide(const symancf_problem *p, symancf_state *s, int iteration)
{
  symancf_stopping *b = p->work->stopping;
  measure_step(p);
  int reason = symancf_stop_far(b, s->tangent.made_now);
  if (reason != UNDECIDED) return reason;
  if (!p->work->prediction || !s->estimated || !symancf_stop_reuses_noise(b)) {
    if (!p->work->estimates->ready) return p->ask(JUDGE, iteration);
    estimate_round_off(p, s);
  }
  reason = symancf_stop_at_round_off(b);
  return reason > 0 && !small_step(p) && !is_settled(p, s, iteration) ? GO_ON : reason;
}

/* Return PETSc's reason to stop after an iteration, or 0 (collective). */
int symancf_test(const symancf_problem *p, symancf_state *s, int iteration)
{
  const symancf_work *w = p->work;
  symancf_stopping *b = w->stopping;
  symancf_tangent *t = &s->tangent;
  norms_of(p, w->F, NULL, b->norms);
  if (p->constrained) violations(p);
  if (iteration == 0) sizes(p, w->sizes);
  for (int32_t c = 0; c < b->classes; c++)
    if (!isfinite(b->norms[c])) return NOT_FINITE;
  int reason;
  if (iteration == 0) {
    reason = first_reason(p, s);
  } else {
    symancf_shares(p, s);
    reason = symancf_stop_by_shares(b, t->made_now);
  }
  if (reason == UNDECIDED) {
    reason = decide(p, s, iteration);
  } else if (reason > 0) {
    const int soft = iteration ? !small_step(p) : !t->stale;
    if (soft && !is_settled(p, s, iteration)) reason = GO_ON;
  }
  t->share_before = t->share;
  t->share = 0.0;
  for (int32_t j = 0; j < b->parts; j++) t->share = larger(b->worst[j], t->share);
  if (!reason) memcpy(w->old, w->x, (size_t)p->rows * sizeof(double));
  return reason;
}

/* Take the forces at the end of a step in parts; return 0 where that is done. */
static int split_forces(const symancf_problem *p, symancf_state *s)
{
  if (!p->work->estimates->ready) return p->ask(PARTS, 0);
  symancf_forces_in_parts(p, s, s->in_parts);
  return 0;
}

/* Take a solution of some iterations: what the next one goes on with (collective). */
void symancf_accept(const symancf_problem *p, symancf_state *s, int iterations)
{
  sizes(p, s->ended);
  if (s->split) s->split = parts_wanted(p, s) && !split_forces(p, s);
  tangent_end(p, &s->tangent, iterations);
}

/* ---- Newton's method ------------------------------------------------------------------------- */

/* Write the unknowns to the state. */
static void to_state(const symancf_problem *p, symancf_state *s)
{
  const int some = p->prescribed_count > 0;
  int32_t k = 0;
  for (int32_t r = 0; r < p->rows; r++) {
    if (some && k < p->prescribed_count && p->prescribed[k] == r) {
      k++;
      continue;
    }
    s->state[p->coordinate[r]] = p->work->x[r];
  }
}

/* Write the residual at the unknowns; return the number of bad points, below 0: no memory. */
static int64_t residual(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  const size_t bytes = (size_t)p->coordinates * sizeof(double);
  const double *moved = s->acceleration;
  symancf_follow(p, s);
  memset(w->f, 0, bytes);
  memset(w->inertia, 0, bytes);
  const int64_t bad = p->evaluate(p->assembler, p->residual, s->state, NULL, w->f, NULL);
  if (p->damping != 0.0) {
    for (int32_t i = 0; i < p->coordinates; i++)
      w->moved[i] = s->acceleration[i] + p->damping * s->rate[i];
    moved = w->moved;
  }
  if (bad < 0 || p->evaluate(p->mass, p->residual, moved, NULL, w->inertia, NULL) < 0) return -1;
  for (int32_t i = 0; i < p->coordinates; i++) w->f[i] += w->inertia[i];
  to_rows(p, w->f, w->F);
  return bad;
}

/* Find the step of Newton's method; tell whether there is one. */
static int solve_linear(const symancf_problem *p, symancf_state *s)
{
  int why = 0;
  union {
    int32_t narrow;
    int64_t wide;
  } number = {.wide = 0};
  if (s->factored && p->factor_solve(p->factor, p->work->F, p->work->step)) {
    s->linear_iterations++;
    return 1;
  }
  double *written = p->work->F; /* PETSc is to know */
  p->vector_get(p->vector_F, &written);
  p->vector_restore(p->vector_F, &written);
  s->error = p->ksp_solve ? p->ksp_solve(p->ksp, p->vector_F, p->vector_step) : p->ask(SOLVE, 0);
  if (s->error) return 0;
  p->ksp_reason(p->ksp, &why);
  p->ksp_iterations(p->ksp, &number);
  s->linear_iterations += p->wide ? (int32_t)number.wide : number.narrow;
  return why >= 0;
}

#include "tangent.c"

#include "contact.c"

#include "sections.c"

/* Make iterations; return PETSc's reason. */
static int iterate(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  for (int iteration = 0;; iteration++) {
    const int known = recall(p, s, iteration);
    const int64_t bad = known ? 0 : residual(p, s);
    if (bad) {
      s->error = bad < 0 ? NO_MEMORY : 0;
      return NOT_FINITE;
    }
    s->iterations = iteration;
    const int reason = symancf_test(p, s, iteration);
    if (reason) return reason;
    if (iteration == p->most) return TOO_MANY;
    const int wanted = symancf_tangent_wanted(p, s, iteration) || w->prediction;
    if (wanted && renew(p, s, iteration)) return NO_SOLUTION;
    const int solved = known && s->tangent.renewals == w->kinks->renewals;
    if (!solved && !solve_linear(p, s)) return NO_SOLUTION;
    s->linear_iterations += solved;
    if (w->kinks->cuts && s->tangent.made_now && !cut_step(p, s)) return NO_SOLUTION;
    for (int32_t r = 0; r < p->rows; r++) w->x[r] -= w->step[r];
    to_state(p, s);
  }
}

/* Solve the equations of a step from the present state; return PETSc's reason. */
int symancf_newton(const symancf_problem *p, symancf_state *s)
{
  s->iterations = s->linear_iterations = s->looked = s->measured = s->error = 0;
  keep_estimates(p, s, 0);
  p->work->kinks->trailing = 0;
  symancf_tangent_begin(p, s);
  symancf_begin_prediction(p->work->prediction);
  to_rows(p, s->state, p->work->x);
  const int reason = iterate(p, s);
  p->work->kinks->chosen = -1;
  if (reason <= 0) return reason;
  symancf_accept(p, s, s->iterations);
  symancf_accept_prediction(p->work->prediction, s->state);
  return reason;
}

/* ---- many steps ------------------------------------------------------------------------------ */

/* Copy the motion to [4][coordinates], or back from there. */
static void copy_motion(const symancf_problem *p, symancf_state *s, double *to, int back)
{
  double *own[] = {s->state, s->rate, s->acceleration, s->auxiliary};
  for (int k = 0; k < 4; k++) {
    double *begin_state = to + (int64_t)k * p->coordinates;
    memcpy(back ? own[k] : begin_state, back ? begin_state : own[k], (size_t)p->coordinates * sizeof(double));
  }
}

/* Keep the motion at the end of a step after which it is wanted. */
static void keep_wanted(const symancf_problem *p, symancf_state *s, int32_t number)
{
  const int64_t k = s->kept_now;
  if (k >= p->kept_count || p->kept_after[k] != number) return;
  double *begin_state = p->kept_states + 5 * k * p->coordinates;
  copy_motion(p, s, begin_state, 0);
  memcpy(begin_state + 4 * (int64_t)p->coordinates, p->work->f, (size_t)p->coordinates * sizeof(double));
  memcpy(p->kept_work + 2 * k, s->work, sizeof s->work);
  s->kept_now++;
}

/* Write the forces of drives (0) or of dampers (1), see `Audit`; return whether there may be any. */
static int forces(const symancf_problem *p, symancf_state *s, int kind, double *f)
{
  const symancf_work *w = p->work;
  const void *assembler = p->power_assembler[kind];
  const int damped = kind && p->damping != 0.0, supported = !kind && p->supported;
  if (!assembler && !damped && !supported) return 0;
  memset(f, 0, (size_t)p->coordinates * sizeof(double));
  if (assembler) p->evaluate(assembler, p->residual, s->state, NULL, f, NULL);
  if (damped) {
    for (int32_t i = 0; i < p->coordinates; i++) w->moved[i] = p->damping * s->rate[i];
    p->evaluate(p->mass, p->residual, w->moved, NULL, f, NULL);
  }
  for (int32_t i = 0; i < p->coordinates; i++) f[i] *= kind ? p->owned[i] : -p->owned[i];
  for (int32_t j = 0; supported && j < p->fixed_count; j++)
    f[p->fixed[j]] += w->f[p->fixed[j]] * p->supported[p->fixed[j]];
  return 1;
}

/* Add the work of a step of length h from what was kept, see `Instant.work_to`. */
static void add_work(const symancf_problem *p, symancf_state *s, double h)
{
  const int32_t n = p->coordinates;
  const double *state = p->work->begin_state, *rate = state + n;
  for (int k = 0; k < 2; k++) {
    double *before = s->pull + (int64_t)k * n, *f = s->pull + (int64_t)(2 + k) * n;
    if (!forces(p, s, k, f)) continue;
    for (int32_t i = 0; i < n; i++) {
      const double mean = 0.5 * (f[i] + before[i]), change = f[i] - before[i];
      s->work[k] += mean * (s->state[i] - state[i]) + h / 6.0 * change * (s->rate[i] - rate[i]);
    }
    memcpy(before, f, (size_t)n * sizeof(double));
  }
}

/* Return whether a rigid body turns by more than `turn_limit` in a step, see spin.py. */
static int turns_far(const symancf_problem *p, const symancf_state *s)
{
  double largest = 0.0;
  for (int32_t b = 0; b < p->bodies; b++) {
    const int64_t *at = p->body_rows + 12 * (int64_t)b;
    double squares = 0.0; /* of the rates of the three axes: 2 |omega|^2 */
    for (int i = 0; i < 3; i++) {
      const double e = (s->rate[at[3 + i]] - s->rate[at[i]]) / p->body_length[b];
      squares += e * e;
    }
    for (int i = 6; i < 12; i++) squares += s->rate[at[i]] * s->rate[at[i]];
    if (squares > largest) largest = squares;
  }
  return p->h * sqrt(0.5 * largest) > p->turn_limit;
}

/* Write what functions of time are in the next step, of at most n; return whether they are known. */
static int take_row(const symancf_problem *p, symancf_state *s, int n)
{
  if (s->timetable_row >= p->timetable_rows && p->ask(PRESENT, n)) return 0;
  const double *row = p->timetable + (int64_t)s->timetable_row++ * p->timetable_columns;
  for (int32_t k = 0; k < p->timetable_targets; k++) *p->target[k] = row[p->target_column[k]];
  return 1;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether the rest until `end` is one step. */
static int is_last(const symancf_problem *p, const symancf_state *s)
{
  return fabs(p->end - s->time - p->h) <= p->remainder * p->h;
}

/* Predict the next step, from where the motion is: rates of the first one may have another bias. */
static void begin_step(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  const int64_t n = p->coordinates;
  const double *u = w->begin_state, *v = u + n, *a = v + n, *A = a + n;
  const int other = !s->steps_done && w->first_rate;
  copy_motion(p, s, w->begin_state, 0);
  symancf_predict(p, s, p->h, u, other ? w->first_rate : v, a, other ? w->first_auxiliary : A,
                  !s->calm || p->chooses);
}

/*
 * Make at most n steps of length h, for little more than `seconds`: the last one ends at `end`, or
 * leaves more than 0.2 h to that.  Returns 1, or the reason why the next one could not be made: the
 * state is where that begins.
 */
int symancf_advance(const symancf_problem *p, symancf_state *s, int n)
{
  const double stop = now() + p->seconds, h = p->h, *begin_state = p->work->begin_state;
  for (s->steps_done = 0; s->steps_done < n; s->steps_done++) {
    const int is_end = is_last(p, s);
    if (!is_end && p->end - s->time < 1.2 * h) break;
    if (s->steps_done && now() > stop) break;
    const double last = s->begun, begun = s->begun = s->time;
    s->declined = s->cut = s->folded = 0;
    begin_step(p, s);
    s->time = is_end ? p->end : begun + h; /* where functions of time may jump */
    int reason = p->timed && !take_row(p, s, n - s->steps_done) ? NO_SOLUTION : 1;
    if (reason > 0) {
      symancf_prescribe(p, s);
      begin_memory(p, s);
      if (p->chooses && !symancf_choose_start(p, s, begin_state, 0)) reason = NO_SOLUTION;
      if (reason > 0) reason = solve_with_reviews(p, s);
      if (reason > 0 && turns_sections_far(p, s, begin_state)) s->cut = 1;
      if (reason <= 0 || s->declined || s->cut) drop_memory(p, s);
    }
    if (reason <= 0 || s->declined || s->cut) {
      s->time = begun;
      s->begun = last;
      copy_motion(p, s, p->work->begin_state, 1);
      if ((s->measured || s->looked) && (reason <= 0 || s->declined)) keep_estimates(p, s, 1);
      if (s->declined) symancf_accept_prediction(p->work->prediction, s->state);
      return s->declined || s->cut ? 1 : reason;
    }
    symancf_conclude(p, s);
    const int sections = end_sections(p, s);
    const int stop_here = p->driven && p->ask(DRIVE, 0); /* the step stands */
    if (p->driven) write_memory(p, s);
    if (!p->closed && !stop_here) add_work(p, s, s->time - begun);
    keep_wanted(p, s, s->steps_done + 1);
    if (p->traced) copy_motion(p, s, p->traced + 4 * (int64_t)s->steps_done * p->coordinates, 0);
    s->calm = s->calm > 0 ? s->calm - 1 : 0;
    p->times[s->steps_done] = s->time;
    p->step_iterations[s->steps_done] = s->iterations;
    p->step_linear[s->steps_done] = s->linear_iterations;
    s->turned = turns_far(p, s);
    if (s->pause || stop_here || s->turned || sections) { /* something to say, to raise, or for Python */
      s->steps_done++;
      return stop_here ? NO_SOLUTION : 1;
    }
  }
  return 1;
}

#include "sweep.c"
