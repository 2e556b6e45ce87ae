/* SPDX-License-Identifier: BSD-3-Clause */
/* What C makes the tangent of a step of, see tangent.c; native.py fills it in. */
#ifndef SYMANCF_TANGENT_H
#define SYMANCF_TANGENT_H

#include <stdint.h>

typedef struct {
  int32_t ready;   /* whether C may make it */
  int32_t entries; /* of the matrix on this rank */
  double *value;   /* [entries] */
  const double *inertia;         /* [entries] the mass times d acceleration / d coordinate */
  int32_t prescribed;                  /* rows of fixed coordinates: places on the diagonal, */
  const int64_t *place, *partner; /* and of the rows whose values these take */
  /* entries of constraints: where, of which constraint, times which length squared */
  int32_t gradients;
  const int64_t *gradient, *of;
  const double *length_squared, *round_off; /* the last: of constraints */
  double vanishing, *others, *limits;       /* lengths that are none; workspace; what is found */
  void *matrix;
  int (*begin)(void *, int), (*end)(void *, int); /* of an assembly, or NULL */
  int (*state_get)(void *, int64_t *), (*state_set)(void *, int64_t);
} symancf_tangent_values;

#endif
