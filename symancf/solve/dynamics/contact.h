/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What steps with kinks in their forces (contact, friction) need beside those of steps.h: workspace
 * of a Newton step that may be cut, see contact.c.  native.py fills it in.
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
} symancf_kinks;

#endif
