/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The residual of a linear solution.  PETSc calls `symancf_solved` after each solution of a KSP,
 * whoever asks for it; what is in doubt Python looks at, see residual.py.  It asks
 * `symancf_converged` after each iteration of conjugate gradients.
 */
#include "residual.h"

#include <string.h>

#define NORM_2 1
#define NORM_FROBENIUS 2
#define GO_ON 0
#define BY_TOLERANCE 2 /* KSP_CONVERGED_RTOL */

/*
 * Whether a solution is none: its residual is more than a part of the right-hand side, and more
 * than round-off of sound factors of the matrix P leaves.
 */
static int doubtful(symancf_residual *s, void *A, void *P, void *b, void *x)
{
  double matrix = 0.0, solution = 0.0;
  if (s->multiply(A, x, s->r) || s->subtract(s->r, -1.0, b)) return 0;
  if (s->norm(s->r, NORM_2, &s->left) || s->norm(b, NORM_2, &s->size)) return 0;
  if (s->left <= s->small * s->size) return 0;
  if (s->norm(x, NORM_2, &solution) || s->matrix_norm(P, NORM_FROBENIUS, &matrix)) return 0;
  return !(s->left <= s->sound * (matrix * solution + s->size));
}

/* After a solution of a KSP. */
int symancf_solved(void *ksp, void *b, void *x, void *context)
{
  /* these find their residual in exact arithmetic whatever the matrix is */
  static const char *const true_to_it[] = {"cg", "gmres", "fgmres"};
  symancf_residual *s = context;
  void *A = NULL, *P = NULL;
  const char *type = "";
  int reason = 0;
  if (s->reason(ksp, &reason) || reason <= 0) return 0;
  if (s->type(ksp, &type) || s->operators(ksp, &A, &P)) return 0;
  for (size_t k = 0; k < sizeof true_to_it / sizeof *true_to_it; k++)
    if (!strcmp(type, true_to_it[k])) return 0;
  return doubtful(s, A, P, b, x) ? s->improve(b, x) : 0;
}

/*
 * Test whether iterations may end: by PETSc's own test, in the norm of the KSP, and then by the
 * length of the residual, which conjugate gradients have at hand.
 */
int symancf_converged(void *ksp, int64_t iteration, double norm, int *reason, void *context)
{
  symancf_residual *s = context;
  void *b = NULL, *r = NULL;
  const char *type = "";
  double left = 0.0, size = 0.0;
  int error = s->test(ksp, iteration, norm, reason, s->of_test);
  if (error || *reason != BY_TOLERANCE || !(s->share > 0.0)) return error;
  if ((error = s->type(ksp, &type)) || strcmp(type, "cg")) return error;
  if ((error = s->right(ksp, &b)) || (error = s->build(ksp, s->r, s->r, &r))) return error;
  if ((error = s->norm(r, NORM_2, &left)) || (error = s->norm(b, NORM_2, &size))) return error;
  if (left > s->share * size) *reason = GO_ON;
  return 0;
}
