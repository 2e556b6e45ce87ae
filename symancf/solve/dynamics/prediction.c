/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corrections of stresses in tangents: what the step that led to the present state predicts, less
 * what is there.  Part of steps.c.  The formulas: newton/stress_predictor.py, for statics.
 */

enum { LANES = 8 };

/* Begin a solution, from the last one. */
void symancf_begin_prediction(const symancf_problem *p, symancf_state *s)
{
  symancf_prediction *q = p->work->prediction;
  if (!p->predicts) return;
  if (q->some) memcpy(q->place, q->accepted, (size_t)p->coordinates * sizeof(double));
  q->placed = q->some;
  q->moved = q->known = q->known_there = q->corrects = 0;
}

/* Take the present state as the solution from which the next stresses are predicted. */
void symancf_accept_prediction(const symancf_problem *p, symancf_state *s)
{
  symancf_prediction *q = p->work->prediction;
  if (!p->predicts) return;
  memcpy(q->accepted, s->state, (size_t)p->coordinates * sizeof(double));
  q->some = 1;
}

/* Let kernels tell stresses at a state; tell whether there was memory. */
static int tell_stresses(const symancf_problem *p, const double *state)
{
  const symancf_prediction *q = p->work->prediction;
  return p->evaluate(q->plan, q->outputs, state, NULL, NULL, NULL) >= 0;
}

/* Where kernels have told a stress of a batch. */
static const double *told(const symancf_predicted *g, int32_t batch, int32_t stress)
{
  return g->table + ((int64_t)batch * g->table_rows + g->row[stress]) * LANES;
}

/* Copy what kernels have told. */
static void keep_stresses(const symancf_predicted *g, double *to)
{
  for (int32_t b = 0; b < g->batches; b++)
    for (int32_t k = 0; k < g->stresses; k++, to += LANES)
      memcpy(to, told(g, b, k), LANES * sizeof(double));
}

/* Let kernels see the last corrections, or none. */
static void put_corrections(const symancf_problem *p, int some)
{
  const symancf_prediction *q = p->work->prediction;
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) {
    const double *from = g->correction;
    for (int32_t b = 0; b < g->batches; b++)
      for (int32_t k = 0; k < g->stresses; k++, from += LANES) {
        double *to = g->cell + ((int64_t)b * g->cell_rows + g->column[k]) * LANES;
        if (some)
          memcpy(to, from, LANES * sizeof(double));
        else
          memset(to, 0, LANES * sizeof(double));
      }
  }
}

/* Find the stresses at both ends of the last step; tell whether there was memory. */
static int tell_ends(const symancf_problem *p)
{
  symancf_prediction *q = p->work->prediction;
  if (!tell_stresses(p, q->place)) return 0;
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) keep_stresses(g, g->here);
  q->known = 1;
  if (q->known_there) return 1;
  if (!tell_stresses(p, q->before)) return 0;
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) keep_stresses(g, g->there);
  return q->known_there = 1;
}

/* Find stresses a little ahead of the beginning of the last step (1) or behind it (-1). */
static int tell_within(const symancf_problem *p, double sign)
{
  const symancf_prediction *q = p->work->prediction;
  const double part = sign * q->part;
  for (int32_t i = 0; i < p->coordinates; i++)
    q->within[i] = q->before[i] + part * (q->place[i] - q->before[i]);
  return tell_stresses(p, q->within);
}

/* Set the corrections at the present state; tell whether there was memory. */
static int find_corrections(const symancf_problem *p)
{
  symancf_prediction *q = p->work->prediction;
  if (!tell_ends(p)) return 0;
  if (q->corrects) put_corrections(p, 1); /* unknowns of cells follow them, as in that tangent */
  int done = tell_within(p, 1.0);
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) keep_stresses(g, g->ahead);
  done = done && tell_within(p, -1.0);
  if (q->corrects) put_corrections(p, 0);
  for (symancf_predicted *g = q->group; g < q->group + q->groups && done; g++)
    for (int32_t b = 0; b < g->batches; b++)
      for (int32_t k = 0; k < g->stresses; k++)
        for (int lane = 0; lane < LANES; lane++) {
          const int64_t i = ((int64_t)b * g->stresses + k) * LANES + lane;
          const double slope = (g->ahead[i] - told(g, b, k)[lane]) / (2.0 * q->part);
          const double change = g->there[i] + slope - g->here[i];
          g->correction[i] = isfinite(change) ? change : 0.0;
        }
  return done;
}

/* Come to the present state, and let kernels see corrections there; tell whether they do. */
int symancf_correct_stresses(const symancf_problem *p, symancf_state *s)
{
  symancf_prediction *q = p->work->prediction;
  if (!p->predicts) return 0;
  double *other = q->before;
  q->before = q->place;
  q->place = other;
  q->moved = q->placed;
  q->placed = 1;
  memcpy(q->place, s->state, (size_t)p->coordinates * sizeof(double));
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) {
    other = g->there;
    g->there = g->here;
    g->here = other;
  }
  q->known_there = q->known;
  q->known = 0;
  q->corrects = q->moved ? find_corrections(p) : q->corrects;
  if (q->moved && q->corrects) put_corrections(p, 1);
  return q->moved && q->corrects;
}

/* Let kernels see no corrections. */
void symancf_correct_nothing(const symancf_problem *p, symancf_state *s)
{
  if (p->predicts) put_corrections(p, 0);
}
