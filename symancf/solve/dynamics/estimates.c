/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an iteration near round-off is judged by: the residual that round-off makes, forces in parts,
 * and corrections that are left.  Part of steps.c; for one rank.  The same in Python: balance.py,
 * newton/norms.py, newton/corrections.py, which are asked where C cannot tell.
 */

/* Add norms by class of a local vector to some. */
static void add_norms(const symancf_problem *p, const double *local, double *norms)
{
  const int32_t classes = p->work->stopping->classes;
  double *rows = p->work->estimates->rows, *own = p->work->scratch + classes;
  to_rows(p, local, rows);
  norms_of(p, rows, NULL, own);
  for (int32_t c = 0; c < classes; c++) norms[c] += own[c];
}

/* Write |M a| and the forces |R_i| of all roles in one sum, 0 of constraints; see `Balance.parts`. */
void symancf_forces_in_parts(const symancf_problem *p, const symancf_state *s, double *norms)
{
  const symancf_estimates *e = p->work->estimates;
  const int32_t classes = p->work->stopping->classes;
  memset(norms, 0, (size_t)classes * sizeof(double));
  add_norms(p, p->work->inertia, norms);
  for (int32_t k = 0; k < e->roles; k++) {
    memset(e->answer, 0, (size_t)p->coordinates * sizeof(double));
    p->evaluate(e->role[k], p->residual, s->state, NULL, e->answer, NULL);
    add_norms(p, e->answer, norms);
  }
  for (int32_t c = 0; c < classes; c++)
    if (p->constrains[c]) norms[c] = 0.0;
}

/* Write the product of the tangent of a step, without damping, with the change to the answer. */
static void write_product(const symancf_problem *p, const symancf_state *s)
{
  const symancf_estimates *e = p->work->estimates;
  const size_t bytes = (size_t)p->coordinates * sizeof(double);
  double factor = 0.0;
  for (int32_t i = p->coordinates - 1; i >= 0; i--)
    if (p->order[i] == 2) factor = p->acceleration_factor[i];
  memset(e->answer, 0, bytes);
  memset(e->inertial, 0, bytes);
  p->evaluate(p->assembler, e->product, s->state, e->change, e->answer, NULL);
  p->evaluate(p->mass, p->residual, e->change, NULL, e->inertial, NULL);
  for (int32_t i = 0; i < p->coordinates; i++) e->answer[i] += factor * e->inertial[i];
}

/* Estimate the residual that round-off leaves; take up the forces in parts: `Balance.round_off`. */
static void estimate_round_off(const symancf_problem *p, symancf_state *s)
{
  const symancf_work *w = p->work;
  const symancf_estimates *e = w->estimates;
  const symancf_stopping *b = w->stopping;
  memcpy(b->noise, e->of_laws, (size_t)b->classes * sizeof(double));
  for (int32_t k = 0; k < e->count; k++) {
    const double *signs = e->signs + (int64_t)k * p->coordinates;
    for (int32_t i = 0; i < p->coordinates; i++)
      e->change[i] = DBL_EPSILON * fabs(s->state[i]) * signs[i];
    write_product(p, s);
    to_rows(p, e->answer, e->rows);
    norms_of(p, e->rows, NULL, e->share);
    for (int32_t c = 0; c < b->classes; c++) b->noise[c] = larger(e->share[c], b->noise[c]);
  }
  symancf_forces_in_parts(p, s, e->share);
  for (int32_t c = 0; c < b->classes; c++)
    s->in_parts[c] = w->forces[c] = larger(w->forces[c], e->share[c]);
  s->split = s->estimated = s->measured = 1;
  symancf_weigh(p, s);
}

/* Keep what earlier solutions have told of round-off; or take it back. */
static void keep_estimates(const symancf_problem *p, symancf_state *s, int back)
{
  symancf_estimates *e = p->work->estimates;
  const size_t bytes = (size_t)p->work->stopping->classes * sizeof(double);
  double *noise = p->work->stopping->noise, *parts = s->in_parts;
  memcpy(back ? noise : e->noise_before, back ? e->noise_before : noise, bytes);
  memcpy(back ? parts : e->parts_before, back ? e->parts_before : parts, bytes);
  if (back)
    s->split = e->split_before;
  else
    e->split_before = s->split;
}

/* Whether nothing soft is hidden, see `Leftover`: what a last correction would be, by factors. */
static int is_settled(const symancf_problem *p, symancf_state *s, int iteration)
{
  const symancf_work *w = p->work;
  const symancf_estimates *e = w->estimates;
  if (e->ready && p->exact && s->factored && !s->pause &&
      p->factor_solve(p->factor, w->F, e->rows) && relative_size(p, e->rows, NULL) <= p->small)
    return 1;
  return p->ask(SETTLED, iteration);
}
