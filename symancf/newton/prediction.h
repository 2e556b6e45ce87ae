/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corrections of stresses in tangents: what the step that led to the present state predicts, less
 * what is there.  The formulas: stress_predictor.py; what prediction.py fills in serves iterations
 * of statics and of time steps.  Functions take NULL where nothing is predicted.
 */
#ifndef SYMANCF_PREDICTION_H
#define SYMANCF_PREDICTION_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 8 };

/* Entities with one kernel: stresses in what it tells of points, corrections in its parameters. */
typedef struct {
  int32_t batches, stresses;      /* the last: of an entity */
  int32_t table_rows, cell_rows;
  const int64_t *row, *column;    /* [stresses] of a table, and of parameters */
  const double *table;            /* [batches][table_rows][8] */
  double *cell;                   /* [batches][cell_rows][8] */
  double *here, *there, *ahead;   /* [batches][stresses][8] at both ends of the last step; within */
  double *correction;             /* the last ones */
} symancf_predicted;

typedef struct {
  int32_t groups;
  symancf_predicted *group;
  const void *assembler;  /* of the kernels that tell */
  int64_t (*evaluate)(const void *assembler, int what, const double *x, const double *v, double *f,
                      double *energies);
  int32_t outputs;        /* its mode */
  int32_t coordinates;
  double part;            /* of a step, by which changes are measured */
  /* local vectors: the last solution, both ends of the last step, a state within it */
  double *accepted, *place, *before, *within;
  int32_t some, placed;       /* whether there is a last solution, and an end of a step, */
  int32_t known, known_there; /* stresses at both ends, */
  int32_t corrects;           /* and corrections */
} symancf_prediction;

/* Begin a solution, from the last one. */
void symancf_begin_prediction(symancf_prediction *q)
{
  if (!q) return;
  if (q->some) memcpy(q->place, q->accepted, (size_t)q->coordinates * sizeof(double));
  q->placed = q->some;
  q->known = q->known_there = q->corrects = 0;
}

/* Take a state as the solution from which the next stresses are predicted. */
void symancf_accept_prediction(symancf_prediction *q, const double *state)
{
  if (!q) return;
  memcpy(q->accepted, state, (size_t)q->coordinates * sizeof(double));
  q->some = 1;
}

/* Let kernels tell stresses at a state; tell whether there was memory. */
static int tell_stresses(const symancf_prediction *q, const double *state)
{
  return q->evaluate(q->assembler, q->outputs, state, NULL, NULL, NULL) >= 0;
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
static void put_corrections(const symancf_prediction *q, int some)
{
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
static int tell_ends(symancf_prediction *q)
{
  if (!tell_stresses(q, q->place)) return 0;
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) keep_stresses(g, g->here);
  q->known = 1;
  if (q->known_there) return 1;
  if (!tell_stresses(q, q->before)) return 0;
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) keep_stresses(g, g->there);
  return q->known_there = 1;
}

/* Find stresses a little ahead of the beginning of the last step (1) or behind it (-1). */
static int tell_within(const symancf_prediction *q, double sign)
{
  const double part = sign * q->part;
  for (int32_t i = 0; i < q->coordinates; i++)
    q->within[i] = q->before[i] + part * (q->place[i] - q->before[i]);
  return tell_stresses(q, q->within);
}

/* Set the corrections at the present state; tell whether there was memory. */
static int find_corrections(symancf_prediction *q)
{
  if (!tell_ends(q)) return 0;
  if (q->corrects) put_corrections(q, 1); /* unknowns of cells follow them, as in that tangent */
  int done = tell_within(q, 1.0);
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) keep_stresses(g, g->ahead);
  done = done && tell_within(q, -1.0);
  if (q->corrects) put_corrections(q, 0);
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

/* Come to a state, and let kernels see corrections there; tell whether they do. */
int symancf_correct_stresses(symancf_prediction *q, const double *state)
{
  if (!q) return 0;
  const size_t bytes = (size_t)q->coordinates * sizeof(double);
  const int moved = q->placed;
  if (moved && !memcmp(q->place, state, bytes)) return q->corrects = 0; /* a step of no length */
  double *other = q->before;
  q->before = q->place;
  q->place = other;
  q->placed = 1;
  memcpy(q->place, state, bytes);
  for (symancf_predicted *g = q->group; g < q->group + q->groups; g++) {
    other = g->there;
    g->there = g->here;
    g->here = other;
  }
  q->known_there = q->known;
  q->known = 0;
  if (!moved) return 0;
  q->corrects = find_corrections(q);
  if (q->corrects) put_corrections(q, 1);
  return q->corrects;
}

/* Let kernels see no corrections. */
void symancf_correct_nothing(const symancf_prediction *q)
{
  if (q) put_corrections(q, 0);
}

#endif
