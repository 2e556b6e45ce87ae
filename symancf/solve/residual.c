/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The residual of a linear solution.  PETSc calls `symancf_solved` after each solution of a KSP,
 * whoever asks for it; what is in doubt Python looks at, see residual.py.
 */
#include "residual.h"

#include <string.h>

#define NORM_2 1
#define NORM_FROBENIUS 2

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
