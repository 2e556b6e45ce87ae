/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test that ends Newton's method, of statics, paths and time steps: see stopping.py, which asks
 * it, as steps.c does.  What norms are measured by is not known here, only the shares.
 */
#ifndef SYMANCF_STOPPING_H
#define SYMANCF_STOPPING_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Reasons of PETSc's, 0 to go on, or what is to be asked next. */
enum { GO_ON = 0, BY_RESIDUAL = 3, BY_STEP = 4, GROWN = -9, UNDECIDED = 100 };

#define AGAIN 10.0   /* times the share with which a part has converged: more opens it again */
#define FAR 1e-6     /* of the unknowns: a longer step leaves more than round-off, */
#define EACH 1e-3    /* where every kind of row has such a share, */
#define FAST 0.1     /* or the largest one is such a part of the last one */
#define SHORT 1e-8   /* of the unknowns: a step after which round-off is believed */
#define ABOVE 1e3    /* times round-off: a residual that is none of it */
#define STALLED 0.9  /* of the smallest share so far: two that are more are no gain */

typedef struct {
  int32_t classes, parts;
  const int64_t *part; /* of a class; classes are sorted by it */
  double rtol, stol;   /* tolerances of shares and of steps */
  double falling, slow, near, reuse, growth; /* see stopping.py */
  /* of this iteration, by class: norms, over their references, and of what round-off makes */
  double *norms, *shares, *noise;
  /* by part: length of the step; largest share, and before; that over round-off, and without it */
  double *moved, *worst, *before, *above, *rest;
  uint8_t *far; /* whether it is far from round-off */
  /* of the solution, by part */
  uint8_t *closed, *close; /* whether it has converged; was nearly at round-off */
  double *shut, *first;    /* share with which it has, first one */
  /* shares without what is at round-off, and with it: the smallest but for the last two, and these */
  double *trail; /* [2][parts][3] */
  int32_t judged; /* iterations */
} symancf_stopping;

static double larger(double a, double b)
{
  return a > b || isnan(a) ? a : b; /* as NumPy: not a number remains */
}

/* Begin a solution: no part has converged. */
void symancf_stop_begin(symancf_stopping *s)
{
  for (int32_t p = 0; p < s->parts; p++) {
    s->closed[p] = s->close[p] = 0;
    s->shut[p] = 0.0;
    s->first[p] = s->worst[p] = INFINITY;
  }
  for (int64_t k = 0; k < 6 * (int64_t)s->parts; k++) s->trail[k] = INFINITY;
  s->judged = 0;
}

/* Close the parts that have converged by the tolerance; tell whether all have. */
int symancf_stop_within(symancf_stopping *s)
{
  int all = 1;
  for (int32_t p = 0; p < s->parts; p++) s->worst[p] = -INFINITY;
  for (int32_t c = 0; c < s->classes; c++)
    s->worst[s->part[c]] = larger(s->shares[c], s->worst[s->part[c]]);
  for (int32_t p = 0; p < s->parts; p++) {
    const int stays = s->closed[p] && s->worst[p] <= AGAIN * s->shut[p];
    s->closed[p] = s->worst[p] <= s->rtol || stays;
    if (!stays) s->shut[p] = s->rtol;
    all &= s->closed[p];
  }
  return all;
}

/* Note shares of an iteration, of one kind. */
static double *note(symancf_stopping *s, int kind, int32_t p, double share)
{
  double *trail = s->trail + 3 * ((int64_t)kind * s->parts + p);
  trail[0] = fmin(trail[0], trail[1]);
  trail[1] = trail[2];
  trail[2] = share;
  return trail;
}

static int stalls(const double *trail)
{
  return fmin(trail[1], trail[2]) > STALLED * trail[0];
}

static int go_on(symancf_stopping *s)
{
  for (int32_t p = 0; p < s->parts; p++)
    for (int kind = 0; kind < 2; kind++) note(s, kind, p, s->worst[p]);
  s->judged++;
  return GO_ON;
}

/* Judge an iteration by its shares; UNDECIDED: ask `symancf_stop_far`. */
int symancf_stop_by_shares(symancf_stopping *s, int fresh)
{
  const double falling = fresh ? s->falling : s->slow;
  int falls = falling > 0.0;
  memcpy(s->before, s->worst, (size_t)s->parts * sizeof(double));
  if (symancf_stop_within(s)) return BY_RESIDUAL;
  for (int32_t p = 0; p < s->parts; p++)
    falls &= s->worst[p] <= falling * s->before[p] || s->closed[p];
  return falls ? go_on(s) : UNDECIDED;
}

/* Likewise by the step, `moved`; UNDECIDED: ask `symancf_stop_at_round_off`. */
int symancf_stop_far(symancf_stopping *s, int fresh)
{
  int all = fresh;
  for (int32_t p = 0; p < s->parts; p++) s->far[p] = 1;
  for (int32_t c = 0; c < s->classes; c++) s->far[s->part[c]] &= s->shares[c] > EACH;
  for (int32_t p = 0; p < s->parts; p++) {
    const double last = s->judged ? s->trail[3 * (int64_t)p + 2] : 0.0;
    s->far[p] = s->moved[p] > FAR && (s->far[p] || s->worst[p] < FAST * last);
    all &= s->far[p] || s->closed[p];
  }
  return all ? go_on(s) : UNDECIDED;
}

/* Find the largest residuals over round-off of rows that lack something, and shares far above it. */
static void above_round_off(symancf_stopping *s)
{
  for (int32_t p = 0; p < s->parts; p++) s->above[p] = s->rest[p] = 0.0;
  for (int32_t c = 0; c < s->classes; c++) {
    const int64_t p = s->part[c];
    const double above = s->noise[c] > 0.0 ? s->norms[c] / s->noise[c] : INFINITY;
    if (!(s->shares[c] > s->rtol)) continue;
    s->above[p] = larger(above, s->above[p]);
    if (above > ABOVE) s->rest[p] = larger(s->shares[c], s->rest[p]);
  }
}

/* Whether all that parts lack is so far above the last estimate of round-off that it serves. */
int symancf_stop_reuses_noise(const symancf_stopping *s)
{
  for (int32_t c = 0; c < s->classes; c++)
    if (s->shares[c] > s->rtol && !(s->norms[c] > s->reuse * s->noise[c])) return 0;
  return 1;
}

/* Judge by `noise`, with which shares may have changed. */
int symancf_stop_at_round_off(symancf_stopping *s)
{
  int all = 1, by_step = 0, grown = 0;
  if (symancf_stop_within(s)) return BY_RESIDUAL;
  above_round_off(s);
  s->judged++;
  for (int32_t p = 0; p < s->parts; p++) {
    const int far = s->far[p], was_close = s->close[p], close = s->above[p] <= s->near;
    const int believed = s->moved[p] <= SHORT || was_close;
    const int at_noise = !far && ((s->above[p] <= 1.0 && believed) || (close && was_close));
    const double *own = note(s, 0, p, far ? s->worst[p] : s->rest[p]);
    const double *whole = note(s, 1, p, s->worst[p]);
    const int still = s->moved[p] <= s->stol || stalls(own) || (s->rest[p] == 0.0 && stalls(whole));
    const int no_gain = !far && s->rest[p] <= sqrt(s->rtol) && still;
    if (!far) s->close[p] = close;
    if (!s->closed[p] && (at_noise || no_gain)) {
      s->closed[p] = 1;
      s->shut[p] = s->worst[p];
      by_step |= !at_noise;
    }
    all &= s->closed[p];
    grown |= s->worst[p] > s->growth * s->first[p];
  }
  if (all) return by_step ? BY_STEP : BY_RESIDUAL;
  return grown ? GROWN : GO_ON;
}

#endif
