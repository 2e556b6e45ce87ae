/* SPDX-License-Identifier: BSD-3-Clause */
/* What steps of generalized-alpha work on, as native.py fills it in. */
#ifndef SYMANCF_STEPS_H
#define SYMANCF_STEPS_H

#include <stdint.h>

/* What C asks of Python: rare and dear, or for other people. */
enum { RENEW, JUDGE, SETTLED, PARTS, PRESENT, DRIVE };

typedef int64_t (*symancf_evaluate)(const void *plan, int what, const double *x, const double *v,
                                    double *f, double *energies);
typedef int (*symancf_ask)(int what, int iteration);
typedef void (*symancf_reduce)(double *values, int32_t count, int largest);

/* Residuals, part by part and kind by kind (`classes`, sorted by part), see balance.py. */
typedef struct {
  int32_t classes, parts;
  const int64_t *part;              /* of a class */
  const uint8_t *moves, *constraint; /* which classes do, and are */
  const double *natural, *least;
  double *norms, *violations, *sizes; /* of this iteration, by class */
  double *ended, *forces, *noise, *weight;
  double *in_parts;  /* sizes of forces in parts, where `split` */
  double *worst;     /* [room][parts] shares of the iterations */
  double *shut;
  uint8_t *closed;
  int32_t room, split;
  int32_t asked; /* whether Python judges until the solution ends */
  double rtol, round_off;
  double falling, slow, again; /* ratios of residuals, see stopping.py */
  double tiny, safe[2]; /* less than any limit; squares that norms are made of */
} symancf_balance;

/* How long a tangent lasts, see newton.py. */
typedef struct {
  int32_t stale, eager, needy, fresh, made_now, worn;
  int32_t renewals, renewals_before;
  int32_t proof, steps, patience; /* of haste */
  double slow, fewest, beyond;
  double share, share_before; /* the largest of the last two iterations */
} symancf_tangent;

typedef struct {
  symancf_balance balance;
  symancf_tangent tangent;
  /* local vectors */
  int32_t coordinates;
  const uint8_t *order; /* of a coordinate in time: 2, 1, or 0 */
  double *state, *rate, *acceleration, *auxiliary;
  double *base, *base_rate, *base_acceleration; /* of the affine map */
  const double *rate_factor, *acceleration_factor, *auxiliary_factor;
  double *f, *inertia, *moved;
  double *kept; /* [4][coordinates] where the step began */
  int32_t fixed_count;
  const int64_t *fixed;
  double alpha_m, alpha_f, beta, gamma, delta, theta;
  /* rows */
  int32_t rows, held_count, constraints;
  const int64_t *coordinate, *held; /* of rows; rows of fixed coordinates */
  const int64_t *row_class, *row_part;
  const int64_t *constraint; /* rows */
  const double *limits;      /* of them */
  const uint8_t *row_moves;
  const double *unit; /* of rows: a large motion */
  int32_t constrained, exact; /* whether some rank has constraints; solvers leave nothing */
  double *x, *F, *step, *old;
  double *scratch; /* [2 max(classes, parts, 1)] */
  double small, least_motion, damping;
  /* functions */
  const void *plan, *mass;
  symancf_evaluate evaluate;
  symancf_ask ask;
  symancf_reduce reduce; /* sums or largest values of all ranks; NULL: there is one */
  void *ksp, *vector_F, *vector_step;
  int (*ksp_solve)(void *, void *, void *);
  int (*ksp_iterations)(void *, void *);
  int (*ksp_reason)(void *, int *);
  int (*vector_get)(void *, double **), (*vector_restore)(void *, double **);
  int32_t most, wide, residual; /* iterations; whether PetscInt has 64 bits; mode of plans */
  /* what a solution took */
  int32_t iterations, linear_iterations, looked, pause;
  int32_t error; /* PETSc's, or -1: no memory */
  /* many steps */
  const void *power_plan[2]; /* of drives and of dampers; NULL: none */
  const double *owned, *supported; /* 1 for what works, of forces and of supports */
  double *pull; /* [4][coordinates] forces of drives and of dampers, before and now */
  double work[2]; /* of drives, of dampers, since the beginning */
  double time, end, h, seconds;
  int32_t calm, timed, driven, wanted, made, closed; /* see native.py */
  double *times;
  int32_t *step_iterations, *step_linear;
} symancf_motion;

#endif
