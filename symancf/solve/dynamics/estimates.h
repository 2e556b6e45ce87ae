/* SPDX-License-Identifier: BSD-3-Clause */
/* What C estimates round-off of residuals with, see estimates.c; native.py, balance.py fill it in. */
#ifndef SYMANCF_ESTIMATES_H
#define SYMANCF_ESTIMATES_H

#include <stdint.h>

typedef struct {
  int32_t ready;         /* whether C may estimate it */
  int32_t count;         /* of changes of coordinates, with which products are made */
  const double *signs;   /* [count][coordinates] these, in units of the last place */
  const double *of_laws; /* by class: what evaluations of laws are off by */
  int32_t product;       /* mode of assemblers */
  int32_t roles;
  const void **role;     /* [roles] assemblers of the forms of each role */
  double *change, *answer, *inertial;  /* local vectors */
  double *rows, *share;                /* of rows, by class */
  double *noise_before, *parts_before; /* by class: estimates at the beginning of the solution */
  int32_t split_before;
} symancf_estimates;

#endif
