/* SPDX-License-Identifier: BSD-3-Clause */
/* What residual.c works with, as residual.py fills it in. */
#ifndef SYMANCF_RESIDUAL_H
#define SYMANCF_RESIDUAL_H

typedef struct {
  double small, sound; /* parts of |b|, and of |A| |x| + |b|, see residual.py */
  double left, size;   /* |b - A x| and |b| of the last solution */
  void *r;             /* a vector of rows */
  int (*improve)(void *b, void *x); /* Python's */
  /* PETSc's */
  int (*reason)(void *, int *);
  int (*type)(void *, const char **);
  int (*operators)(void *, void **, void **);
  int (*multiply)(void *, void *, void *);
  int (*subtract)(void *, double, void *);
  int (*norm)(void *, int, double *), (*matrix_norm)(void *, int, double *);
} symancf_residual;

#endif
