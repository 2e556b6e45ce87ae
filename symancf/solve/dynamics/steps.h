/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What steps of generalized-alpha work on, as native.py and balance.py fill it in: a problem, which
 * stays as it is while steps are made; the state, which one step leaves to the next; workspace.
 */
#ifndef SYMANCF_STEPS_H
#define SYMANCF_STEPS_H

#include "../../newton/prediction.h"
#include "../../newton/stopping.h"
#include "contact.h"
#include "estimates.h"
#include "sections.h"
#include "sweep.h"
#include "tangent.h"

/* What C asks of Python: rare and dear, or for other people. */
enum { RENEW, JUDGE, SETTLED, PARTS, PRESENT, DRIVE, REVIEW, SOLVE };

typedef int64_t (*symancf_evaluate)(const void *assembler, int what, const double *x, const double *v,
                                    double *f, double *energies);
typedef int (*symancf_ask)(int what, int iteration);
typedef void (*symancf_reduce)(double *values, int32_t count, int largest);

/* What a step only uses. */
typedef struct {
  symancf_stopping *stopping;
  symancf_kinks *kinks;
  symancf_tangent_values *tangent;
  symancf_prediction *prediction; /* each iteration makes a tangent, with these stresses; or NULL */
  symancf_sections *sections;
  symancf_estimates *estimates;
  double *base, *base_rate, *base_acceleration; /* local vectors of the affine map */
  double *f, *inertia, *moved;                  /* local vectors: residual, M a, what is moved */
  double *begin_state;                          /* [4][coordinates] where the step began */
  const double *first_rate, *first_auxiliary;   /* with which the first step begins, or NULL */
  double *x, *F, *step, *old;                   /* of rows; the unknowns before */
  double *scratch;                              /* [2 max(classes, parts, 1)] */
  double *violations, *sizes, *forces, *weight; /* of residuals, by class, see balance.py */
  double *lengths;                              /* of unknowns, by part */
} symancf_work;

typedef struct {
  symancf_work *work;
  /* coordinates */
  int32_t coordinates, fixed_count;
  const uint8_t *order; /* in time: 2, 1, or 0 */
  const int64_t *fixed;
  const double *rate_factor, *acceleration_factor, *auxiliary_factor;
  double alpha_m, alpha_f, beta, gamma, delta, theta, damping;
  /* rows */
  int32_t rows, prescribed_count, constraints, constrained; /* whether some rank has constraints */
  const int64_t *coordinate, *prescribed; /* of rows; rows of fixed coordinates */
  const int64_t *row_class, *row_part, *constraint; /* the last: rows */
  const uint8_t *row_moves;
  const double *unit, *limits; /* of rows: a large motion; of constraints */
  /* kinds of rows in parts, see balance.py */
  const uint8_t *moves, *constrains; /* which do, and are constraints */
  const double *natural, *least;
  double round_off, tiny, safe[2]; /* less than any limit; squares that norms are made of */
  double small, least_motion;      /* see corrections.py */
  const double *smallest;          /* lengths of unknowns by part, see stopping.py */
  /* how long a tangent lasts, see newton.py */
  int32_t proof, steps, patience;
  double slow;
  /* rigid bodies: beyond `turn_limit` [rad] a step, Python takes rates to constraints, spin.py */
  int32_t bodies;
  const int64_t *body_rows; /* [bodies][12] */
  const double *body_length;
  double turn_limit;
  /* laws that remember, their plan, where kernels read the length of a step; see contact.h */
  int32_t memories, lengths;
  int32_t reviewed, reviews; /* whether terms review each solution; how many of a step */
  int32_t starts;            /* whether they review the first one, of a motion that starts */
  /* coordinates that let solutions stand without a review, and their least values, see `Bounds` */
  int32_t bounded;
  const int32_t *bounded_coordinate;
  const double *bound;
  symancf_memory *memory;
  const void *memory_plan;
  double **length;
  int32_t chooses; /* whether steps begin with the best of several starts */
  /* forces that work */
  const void *power_assembler[2];       /* of drives and of dampers; NULL: none */
  const double *owned, *supported; /* 1 for what works, of forces and of supports */
  int32_t closed, timed, driven;   /* no work adds up; what are functions of time */
  /* functions of time at the next steps, see timetable.py: where a row's numbers go */
  const double *timetable; /* [timetable_rows][timetable_columns] */
  int32_t timetable_rows, timetable_columns, timetable_targets;
  const int32_t *target_column;
  double **target;
  /* functions; `wide`: whether PetscInt has 64 bits, `exact`: solvers leave nothing */
  const void *assembler, *mass;
  symancf_evaluate evaluate;
  symancf_ask ask;
  symancf_reduce reduce; /* sums or largest values of all ranks; NULL: there is one */
  void *ksp, *vector_F, *vector_step;
  int (*ksp_solve)(void *, void *, void *); /* NULL: other ranks have to call it, too: SOLVE */
  int (*ksp_iterations)(void *, void *);
  int (*ksp_reason)(void *, int *);
  int (*vector_get)(void *, double **), (*vector_restore)(void *, double **);
  void *factor; /* on a fixed pattern, if `factored` in the state */
  int (*factor_renew)(void *);
  int (*factor_solve)(void *, const double *, double *);
  int32_t residual, tangent, update, pull, wide, exact, most; /* modes of assemblers; iterations */
  /* where steps end: `end`, with a rest that is as good as h, and `seconds` */
  double h, end, remainder, seconds;
  /* states at the ends of some steps, ascending numbers from 1, see instants.py */
  const int32_t *kept_after;
  int32_t kept_count;
  double *kept_states, *kept_work; /* [kept_count][5][coordinates]: with residuals; [kept_count][2] */
  double *traced; /* [n][4][coordinates]: motions at the ends of all steps; NULL: not wanted */
  double *times;  /* of steps, and what these took */
  int32_t *step_iterations, *step_linear;
} symancf_problem;

/* How long a tangent lasts. */
typedef struct {
  int32_t stale, eager, needy, fresh, made_now, worn, renewals, renewals_before;
  double fewest, beyond;
  double share, share_before; /* the largest of the last two iterations */
} symancf_tangent;

typedef struct {
  double time, begun; /* where the present step, or the last one, began */
  double *state, *rate, *acceleration, *auxiliary; /* local vectors */
  symancf_tangent tangent;
  int32_t calm;              /* steps before accelerations are extrapolated */
  double *ended, *in_parts;  /* by class: forces at the end of the last step; in parts, */
  int32_t split, estimated;  /* where these are known; whether round-off was estimated */
  double work[2];            /* of drives, of dampers, since the beginning */
  double *pull;              /* [4][coordinates] their forces, before and now */
  /* what the last solution took, and how it ended */
  int32_t iterations, linear_iterations, pause;
  int32_t looked, measured;  /* whether Python has judged an iteration; C has estimated round-off */
  int32_t error, steps_done; /* PETSc's, or -1: no memory; steps */
  int32_t factored;    /* whether the factors are those of the tangent */
  int32_t turned;      /* whether a rigid body has turned far in the last step, */
  int32_t folded;      /* and whether Python is to look at sections of rods */
  int32_t timetable_row, kept_now; /* of the next step; number of kept states */
  int32_t declined;    /* whether a term asks for what Python does: the next step is its */
  int32_t cut;         /* whether sections have turned too far in the step that was tried */
} symancf_state;

#endif
