/* SPDX-License-Identifier: BSD-3-Clause */
/* What residual.c works with, as residual.py fills it in. */
#ifndef SYMANCF_RESIDUAL_H
#define SYMANCF_RESIDUAL_H

#include <stdint.h>

typedef struct {
  double small, sound; /* parts of |b|, and of |A| |x| + |b|, see residual.py */
  double left, size;   /* |b - A x| and |b| of the last solution */
  double share;        /* of |b|, above which iterations are not at their end; 0: any may be left */
  void *r;             /* a vector of rows */
  int (*improve)(void *b, void *x); /* Python's */
  void *of_test;       /* what `test` is called with */
  /* PETSc's */
  int (*reason)(void *, int *);
  int (*type)(void *, const char **);
  int (*operators)(void *, void **, void **);
  int (*multiply)(void *, void *, void *);
  int (*subtract)(void *, double, void *);
  int (*norm)(void *, int, double *), (*matrix_norm)(void *, int, double *);
  int (*test)(void *, int64_t, double, int *, void *);
  int (*right)(void *, void **);
  int (*build)(void *, void *, void *, void **);
} symancf_residual;

#endif
