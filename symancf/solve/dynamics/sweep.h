/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sweep backwards over steps of one length works on, see sweep.c; sweep.py fills it in. */
#ifndef SYMANCF_SWEEP_H
#define SYMANCF_SWEEP_H

#include <stdint.h>

typedef struct {
  /* forces with places for derivatives by parameters; with rates that follow nothing, or NULL;
     inertia, and whether parameters change it */
  const void *assembler, *held, *mass;
  int32_t mass_changes;
  const uint8_t *free;    /* coordinates that are not prescribed */
  const double *motions;  /* [steps + 1][4][coordinates] of the trace */
  const double *slopes;   /* [steps + 1][2][coordinates] of goals, by coordinates and rates */
  const uint8_t *counts;  /* [steps + 1] whether a state has some */
  double *bars;           /* [4][coordinates] derivatives by the motion */
  double *fixed;          /* [3][fixed_count] sums of those by prescribed motions */
  double *squares;        /* [steps] w . M w / h^4 */
  double *w, *direct, *pulled, *held_pulled, *mass_pulled; /* local vectors */
  /* of each kernel: derivatives by its parameters, sums of them, and those of each step */
  int32_t tables;
  double **table, **sum, **of_step; /* the last: NULL where nothing is a function of time */
  const int32_t *table_size;
  double same, round_off; /* relative and smallest difference of a motion from its trace */
  double accuracy, least, near; /* of linear systems, see transposed.py */
  void *factor; /* of the tangent, on a fixed pattern */
  int (*renew)(void *);
  void (*solve)(void *, const double *, double *); /* with the transpose */
} symancf_sweep;

#endif
