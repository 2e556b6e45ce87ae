/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Factors of a matrix whose pattern stays: what fixed_factor.py finds once, by the pattern alone,
 * and the numbers that each matrix brings.  See factor.c for the method.
 */
#ifndef SYMANCF_FACTOR_H
#define SYMANCF_FACTOR_H

#include <stdint.h>

/* The entries between two blocks, and the front that they are added to. */
typedef struct {
  int32_t row_block, column_block;
  int32_t row, column; /* of the first entry, in the front */
  int32_t whole;       /* whether all are there, each row in one piece */
  int64_t source;      /* of these entries in `source` of the factor */
} symancf_pair;

/* A dense matrix, whose first unknowns are eliminated; what is left is added to a later one. */
typedef struct {
  int32_t pivots, size;
  int32_t children, last_child, pairs, last_pair; /* where these begin and end; the last child first */
  int64_t index;            /* of its unknowns in `index`; the pivots have consecutive numbers */
  int64_t place;            /* of its unknowns that are left in `place`: where the later one has them */
  int64_t factors;          /* of its rows in `upper` and `lower` */
} symancf_front;

typedef struct {
  int32_t unknowns, symmetric;
  /* the matrix, row by row */
  const int32_t *start, *column;
  const double *value;
  /* blocks of unknowns with one pattern; multipliers of constraints of one block alone */
  int32_t blocks;
  const int32_t *block_start, *block_row, *own_start, *own_row;
  const int32_t *gradient, *force; /* of own constraints: places of their entries, [own][block] */
  const int64_t *gradient_start;   /* of blocks */
  const int32_t *zero;             /* places between own multipliers, where nothing may be */
  int32_t zeros;
  const uint8_t *constrains; /* of unknowns: multipliers, for the residual */
  const int32_t *first;      /* of blocks: number of their first unknown in elimination */
  const int64_t *basis_start;
  /* fronts, children before what they are added to */
  int32_t fronts, pivots; /* the last: of all */
  const symancf_front *front;
  const symancf_pair *pair;
  const int32_t *child, *source, *index, *place;
  /* numbers of the present matrix */
  double *left, *right; /* Y and N of blocks with constraints, by their columns */
  double *upper, *lower, *inverse, *growth; /* rows of fronts; pivots, what they are sums of */
  int32_t *nonzero_start, *nonzero_column;  /* its entries that are not zero, */
  int32_t *nonzero_place, nonzeros;         /* where they are in `value`, and how many */
  double *nonzero;
  int32_t transposed; /* whether products are those with the transpose */
  int32_t refines; /* whether each solution is corrected */
  int32_t negative; /* eigenvalues of a symmetric matrix below zero, -1: not known */
  /* workspace */
  double *dense, *stack, *small; /* one front; what is left of some; [3][largest block]^2 */
  double *reduced, *local, *residual, *change;
} symancf_factor;

#endif
