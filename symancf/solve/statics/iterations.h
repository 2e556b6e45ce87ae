/* SPDX-License-Identifier: BSD-3-Clause */
/* What iterations.c works on, as native.py fills it in. */
#ifndef SYMANCF_ITERATIONS_H
#define SYMANCF_ITERATIONS_H

#include "../../newton/prediction.h"
#include "../../newton/stopping.h"

typedef int64_t (*symancf_evaluate)(const void *assembler, int what, const double *x, const double *v,
                                    double *f, double *energies);
typedef int (*symancf_ask)(void);

typedef struct {
  symancf_stopping *stopping;
  symancf_prediction *prediction; /* NULL: none */
  const void *assembler;
  symancf_evaluate evaluate;
  int32_t residual, tangent;          /* modes */
  symancf_ask noise;                  /* writes `noise` of `stopping`; 0: done */
  int32_t coordinates, rows, prescribed_count, supports, entries, substitutes;
  const int64_t *coordinate, *prescribed, *row_class, *row_part; /* of rows; rows of fixed coordinates */
  const int64_t *support, *support_class; /* fixed coordinates whose forces are measured */
  const uint8_t *row_moves;
  const double *unit;              /* of rows: a large motion */
  double *value;                   /* [entries] of the matrix */
  const int64_t *place, *partner;  /* diagonals of fixed coordinates, and whose values these take */
  void *factor;
  int (*factor_renew)(void *);
  int (*factor_solve)(void *, const double *, double *);
  /* measures, see convergence.py; by class but for the last two: by part */
  int32_t continues, most; /* whether there is an `accepted`; iterations */
  double *accepted, *driven, *first, *largest, *force;
  const double *stiffness, *smallest;
  double rest, safe[2], small, least_motion;
  /* round-off when it was estimated last, over the size of tangent times state; 0: never */
  double *relative_noise;
  double *state, *f, *scratch; /* local vectors: the state, forces, workspace */
  double *x, *F, *step, *old; /* of rows */
  double *norm;               /* workspace by class */
  int32_t iterations;
  double residual_norm;
} symancf_iterations;

#endif
