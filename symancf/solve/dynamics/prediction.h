/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stresses of slender bodies that are predicted along steps of Newton's method, see prediction.c:
 * what predicting.py fills in.
 */
#ifndef SYMANCF_PREDICTION_H
#define SYMANCF_PREDICTION_H

#include <stdint.h>

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
  const void *plan;       /* an assembler of the kernels that tell */
  int32_t outputs;        /* its mode */
  double part;            /* of a step, by which changes are measured */
  /* local vectors: the last solution, both ends of the last step, a state within it */
  double *accepted, *place, *before, *within;
  int32_t some;           /* whether there is a last solution, */
  int32_t placed, moved;  /* ends of a step, */
  int32_t known, known_there; /* stresses at both ends, */
  int32_t corrects;       /* and corrections */
} symancf_prediction;

#endif
