/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Newton's method of small equilibria, on one rank, with whole steps and factors on a fixed pattern:
 * the iterations of newton.py, of `Convergence` and of `PredictedStresses` without the time that
 * Python takes.  What is unusual it leaves to these, which begin from the start.
 */
#include "iterations.h"

enum { UNABLE = -100 };
#define LONGEST 1e8    /* step, and */
#define STEEPEST 2e10  /* growth of the residual's square, that PETSc's line search leaves whole */

static double sum_of_squares(const double *a, int32_t n)
{
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * a[i];
  return sum;
}

/* Norms by class; return whether squares have all their digits. */
static int norms_of(const symancf_iterations *e, const double *values, const int64_t *at,
                    const int64_t *label, int32_t n, double *norms)
{
  const int32_t classes = e->stopping->classes;
  double size = 0.0;
  memset(norms, 0, (size_t)classes * sizeof(double));
  for (int32_t i = 0; i < n; i++) {
    const double value = values[at ? at[i] : i];
    norms[label[i]] += value * value;
  }
  for (int32_t c = 0; c < classes; c++) size += norms[c];
  for (int32_t c = 0; c < classes; c++) norms[c] = sqrt(norms[c]);
  return size == 0.0 || (size > e->safe[0] && size < e->safe[1]);
}

/* ---- evaluation ------------------------------------------------------------------------------ */

static void to_rows(const symancf_iterations *e, const double *local, double *rows)
{
  for (int32_t r = 0; r < e->rows; r++) rows[r] = local[e->coordinate[r]];
  for (int32_t k = 0; k < e->prescribed_count; k++) rows[e->prescribed[k]] = 0.0;
}

static void to_state(const symancf_iterations *e)
{
  int32_t k = 0;
  for (int32_t r = 0; r < e->rows; r++) {
    if (k < e->prescribed_count && e->prescribed[k] == r) k++;
    else e->state[e->coordinate[r]] = e->x[r];
  }
}

/* Write the residual at the state; return whether it is a number. */
static int residual(symancf_iterations *e)
{
  memset(e->f, 0, (size_t)e->coordinates * sizeof(double));
  if (e->evaluate(e->assembler, e->residual, e->state, NULL, e->f, NULL)) return 0;
  to_rows(e, e->f, e->F);
  e->residual_norm = sqrt(sum_of_squares(e->F, e->rows));
  return isfinite(e->residual_norm);
}

/* Make the tangent at the state, with the stresses there, and its factors. */
int symancf_linearize(symancf_iterations *e)
{
  memset(e->scratch, 0, (size_t)e->coordinates * sizeof(double));
  const int64_t bad = e->evaluate(e->assembler, e->tangent, e->state, NULL, e->scratch, NULL);
  for (int32_t k = 0; k < e->substitutes; k++) {
    const double size = fabs(e->value[e->partner[k]]);
    e->value[e->place[k]] = size > 0.0 ? size : 1.0;
  }
  return bad >= 0 && e->factor_renew(e->factor);
}

/* Likewise with stresses that are predicted. */
static int linearize(symancf_iterations *e)
{
  const int corrected = symancf_correct_stresses(e->prediction, e->state);
  const int made = symancf_linearize(e);
  if (corrected) symancf_correct_nothing(e->prediction);
  return made;
}

/* ---- the test of the end, see convergence.py --------------------------------------------------- */

static void find_shares(const symancf_iterations *e)
{
  const symancf_stopping *b = e->stopping;
  double *factor = e->norm; /* by part */
  for (int32_t p = 0; p < b->parts; p++) factor[p] = -INFINITY;
  for (int32_t c = 0; c < b->classes; c++) {
    const double other = larger(e->force[c], e->driven[c]);
    const double least = larger(e->first[c], other), most = larger(e->largest[c], other);
    factor[b->part[c]] = larger(most > 0.0 ? least / most : 0.0, factor[b->part[c]]);
  }
  for (int32_t c = 0; c < b->classes; c++) {
    const double most = larger(e->largest[c], larger(e->force[c], e->driven[c]));
    const double reference = (factor[b->part[c]] > 0.0 ? factor[b->part[c]] : 1.0) * most;
    b->shares[c] = reference > 0.0 ? b->norms[c] / reference : 0.0;
  }
}

/* Begin with the first residual. */
static int begin(symancf_iterations *e)
{
  symancf_stopping *b = e->stopping;
  int all = 1, rests = 0;
  double *size = e->norm;
  for (int32_t p = 0; p < b->parts; p++) size[p] = 0.0;
  symancf_stop_begin(b);
  for (int32_t p = 0; p < b->parts; p++) b->closed[p] = e->continues;
  for (int32_t c = 0; c < b->classes; c++) {
    const int64_t p = b->part[c];
    e->first[c] = e->largest[c] = b->norms[c];
    b->closed[p] &= e->continues && fabs(b->norms[c] - e->accepted[c]) <= 1e-9 * e->accepted[c];
    size[p] += b->norms[c] * b->norms[c];
  }
  for (int32_t p = 0; p < b->parts; p++) {
    b->close[p] = b->closed[p];
    b->shut[p] = b->closed[p];
    all &= b->closed[p];
    size[p] = sqrt(size[p]);
    rests |= size[p] <= e->rest * e->stiffness[p];
  }
  if (all) return BY_RESIDUAL;
  return rests ? UNABLE : GO_ON;
}

/* Find how far the last step went, as a part of the unknowns. */
static int measure_step(const symancf_iterations *e)
{
  symancf_stopping *b = e->stopping;
  double *norms = e->norm;
  for (int32_t r = 0; r < e->rows; r++) e->old[r] = e->x[r] - e->old[r];
  for (int k = 0; k < 2; k++) {
    if (!norms_of(e, k ? e->x : e->old, NULL, e->row_class, e->rows, norms)) return 0;
    double *size = k ? b->above : b->moved; /* the first: workspace */
    for (int32_t p = 0; p < b->parts; p++) size[p] = 0.0;
    for (int32_t c = 0; c < b->classes; c++) size[b->part[c]] += norms[c] * norms[c];
    for (int32_t p = 0; p < b->parts; p++) size[p] = sqrt(size[p]);
  }
  for (int32_t p = 0; p < b->parts; p++) {
    const double size = larger(b->above[p], e->smallest[p]);
    b->moved[p] = size > 0.0 ? b->moved[p] / size : INFINITY;
  }
  return 1;
}

/*
 * Find what round-off of the residual may be.  It grows with the tangent and the state: where a
 * residual is far above what that makes of the last estimate, it takes the place of a new one.
 */
static int estimate_noise(symancf_iterations *e)
{
  symancf_stopping *b = e->stopping;
  const double scale = sqrt(sum_of_squares(e->value, e->entries) * (1.0 + sum_of_squares(e->x, e->rows)));
  int known = 1; /* of what lacks something */
  for (int32_t c = 0; c < b->classes; c++) {
    b->noise[c] = e->relative_noise[c] * scale;
    known &= b->noise[c] > 0.0 || !(b->shares[c] > b->rtol);
  }
  if (known && symancf_stop_reuses_noise(b)) return 1;
  if (e->noise()) return 0;
  for (int32_t c = 0; c < b->classes; c++) e->relative_noise[c] = b->noise[c] / scale;
  return 1;
}

/* The largest share that a change of the rows is of the displacements of its part. */
static double relative(const symancf_iterations *e, const double *change)
{
  double *size = e->stopping->above, worst = 0.0;
  for (int32_t p = 0; p < e->stopping->parts; p++) size[p] = e->least_motion;
  for (int32_t r = 0; r < e->rows; r++)
    if (e->row_moves[r])
      size[e->row_part[r]] = larger(fabs(e->x[r]) / e->unit[r], size[e->row_part[r]]);
  for (int32_t r = 0; r < e->rows; r++)
    if (e->row_moves[r])
      worst = larger(fabs(change[r]) / e->unit[r] / size[e->row_part[r]], worst);
  return worst;
}

/* Return the reason to stop, 0 to go on; in `old` are the unknowns before, then the step. */
static int test(symancf_iterations *e, int iteration)
{
  symancf_stopping *b = e->stopping;
  if (!norms_of(e, e->F, NULL, e->row_class, e->rows, b->norms)) return UNABLE;
  if (!norms_of(e, e->f, e->support, e->support_class, e->supports, e->force)) return UNABLE;
  if (!iteration) return begin(e);
  for (int32_t c = 0; c < b->classes; c++) e->largest[c] = larger(e->largest[c], b->norms[c]);
  find_shares(e);
  int reason = symancf_stop_by_shares(b, 1);
  if (!measure_step(e)) return UNABLE;
  if (reason == UNDECIDED) reason = symancf_stop_far(b, 1);
  if (reason == UNDECIDED) {
    if (!estimate_noise(e)) return UNABLE;
    reason = symancf_stop_at_round_off(b);
  }
  if (reason > 0 && !(relative(e, e->old) <= e->small)) {
    if (!e->factor_solve(e->factor, e->F, e->step)) return UNABLE;
    if (!(relative(e, e->step) <= e->small)) return UNABLE; /* a soft place, perhaps */
  }
  return reason;
}

/* ---- Newton's method ------------------------------------------------------------------------- */

/* Solve from the present state, in which the unknowns are; return PETSc's reason, or UNABLE. */
int symancf_iterate(symancf_iterations *e)
{
  symancf_begin_prediction(e->prediction);
  to_rows(e, e->state, e->x);
  if (!residual(e)) return UNABLE;
  for (int iteration = 0;; iteration++) {
    const double before = e->residual_norm;
    const int reason = test(e, iteration);
    e->iterations = iteration;
    if (reason) return reason;
    if (iteration == e->most || !linearize(e)) return UNABLE;
    if (!e->factor_solve(e->factor, e->F, e->step)) return UNABLE;
    const double length = sum_of_squares(e->step, e->rows);
    if (!(length > 0.0 && length < LONGEST * LONGEST)) return UNABLE;
    memcpy(e->old, e->x, (size_t)e->rows * sizeof(double));
    for (int32_t r = 0; r < e->rows; r++) e->x[r] -= e->step[r];
    to_state(e);
    if (!residual(e)) return UNABLE;
    if (!(e->residual_norm * e->residual_norm <= STEEPEST * before * before)) return UNABLE;
  }
}
