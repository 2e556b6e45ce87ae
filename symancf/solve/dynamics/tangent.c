/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tangent of a step, K + C (d rate / d u) + M (d acceleration / d u), and what counts as no
 * violation of each constraint: its gradient in the rows of the tangent, times round-off.  Part of
 * steps.c; for one rank.  The same in Python: motion.py, newton/constraints.py.
 */

/* Set the limits of constraints by |grad Phi|_L. */
static void set_limits(const symancf_problem *p)
{
  const symancf_tangent_values *t = p->work->tangent;
  double *squares = t->limits, *others = t->others;
  memset(squares, 0, (size_t)p->constraints * sizeof(double));
  memset(others, 0, (size_t)p->constraints * sizeof(double));
  for (int32_t k = 0; k < t->gradients; k++) {
    const double entry = t->value[t->gradient[k]] * t->value[t->gradient[k]];
    squares[t->of[k]] += t->length_squared[k] * entry;
    others[t->of[k]] += entry;
  }
  for (int32_t c = 0; c < p->constraints; c++) {
    const double length = sqrt(squares[c] > 0.0 ? squares[c] : others[c]);
    t->limits[c] = larger(length < t->vanishing ? 0.0 : t->round_off[c] * length, p->tiny);
  }
}

/* Make the tangent at the present state; tell whether that is done. */
static int make_tangent(const symancf_problem *p, symancf_state *s)
{
  const symancf_tangent_values *t = p->work->tangent;
  int64_t revision = 0;
  memset(p->work->moved, 0, (size_t)p->coordinates * sizeof(double));
  if (p->evaluate(p->assembler, p->tangent, s->state, NULL, p->work->moved, NULL)) return 0;
  for (int32_t k = 0; k < t->entries; k++) t->value[k] += t->inertia[k];
  for (int32_t k = 0; k < t->prescribed; k++) {
    const double size = fabs(t->value[t->partner[k]]);
    t->value[t->place[k]] = size > 0.0 ? size : 1.0;
  }
  set_limits(p);
  t->state_get(t->matrix, &revision);
  if (t->state_set(t->matrix, revision + 1)) return 0;
  return !t->begin || (!t->begin(t->matrix, 0) && !t->end(t->matrix, 0));
}

/* Make the tangent with the present corrections of stresses; see `renew`. */
static int renew_corrected(const symancf_problem *p, symancf_state *s, int iteration)
{
  if (!p->work->tangent->ready || !make_tangent(p, s)) return p->ask(RENEW, iteration);
  if (s->factored && !p->factor_renew(p->factor)) return p->ask(RENEW, iteration);
  symancf_tangent_made(p, s);
  return 0;
}

/* Make the tangent anew; return 0, or 1 where Python, which is asked otherwise, has failed. */
static int renew(const symancf_problem *p, symancf_state *s, int iteration)
{
  const int corrected = symancf_correct_stresses(p->work->prediction, s->state);
  const int failed = renew_corrected(p, s, iteration);
  if (corrected) symancf_correct_nothing(p->work->prediction);
  return failed;
}
