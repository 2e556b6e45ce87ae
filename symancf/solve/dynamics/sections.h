/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections of rods after a step, see sections.c: nodes with directors as directors.py fills them in,
 * and links between neighbouring nodes, folds.py.
 */
#ifndef SYMANCF_SECTIONS_H
#define SYMANCF_SECTIONS_H

#include <stdint.h>

typedef struct {
  int32_t nodes;
  const int64_t *row;        /* [nodes][3][3] offsets of the columns of F */
  const uint8_t *free;       /* the same: which are not prescribed */
  const double *axes, *part; /* [nodes][3][3] principal axes of the inertia, columns; shares */
  double turn;               /* the largest change of a director in the step */
  double most_turn, easy_turn; /* beyond these Python makes the step, or the next one */
  int32_t links;
  const int64_t *link;   /* [links][2][9] offsets of F of both nodes */
  const int64_t *body;   /* [links] */
  uint8_t *told;         /* [bodies] whether Python knows of a fold */
  const double *reference; /* local vector */
  double least_cosine;   /* of an angle that is none */
} symancf_sections;

#endif
