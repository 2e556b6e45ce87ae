/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What steps with kinks in their forces and with memory (contact, friction) need beside those of
 * steps.h, see contact.c: workspace of a Newton step that may be cut, as native.py fills it in, and
 * what laws remember, as remembering.py does.
 */
#ifndef SYMANCF_CONTACT_H
#define SYMANCF_CONTACT_H

#include <stdint.h>

typedef struct {
  int32_t cuts;             /* whether steps may be cut */
  int32_t halvings, recent; /* of a step; iterations whose corrections are compared */
  double smaller;           /* of the smallest of these corrections: more is no gain */
  double standstill;        /* of the displacements: a step that round-off may make */
  double *start, *before, *direction, *relative; /* of rows: unknowns, Newton's step, shares */
  double *norms;                                 /* by class */
  /* by part: share of the step, that of the smallest correction; sizes of corrections */
  double *share, *best, *least, *length, *left;
  double *trail; /* [recent][parts] of the last iterations with new tangents */
  uint8_t *moving, *wrong;
  int32_t trailing; /* iterations in the trail */
  /* what was found of each start, before and after one step: x, F, K^-1 F of rows; f, M a */
  double *seen; /* [STARTS][2][3 rows + 2 coordinates] */
  int32_t chosen, renewals; /* the start that was taken, or -1; tangents so far */
} symancf_kinks;

/* What the entities of one piece remember, see assembly/memory.py. */
typedef struct {
  int32_t n, rows, cell_rows;      /* entities, what each remembers, their parameters */
  double *old, *next, *before;     /* [n][rows] at both ends of the step; at that of the last one */
  const double *table;             /* [batches][rows][8] what kernels tell of the end */
  int32_t first[3], end[3];        /* lanes in three assemblers: of all forces, drives, dampers, */
  double *cell[3];                 /* and the parameters there, of which memory is last; or NULL */
  /* with what solutions stand without a review, see `Standing`: rows, and bounds [n]; -1: none */
  int32_t variable, place, stretch;
  int32_t summed; /* row that is the sum over all entities, see `Form.summed`; -1: none */
  const double *least, *far;
} symancf_memory;

#endif
