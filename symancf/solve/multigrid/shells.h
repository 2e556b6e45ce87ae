/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PETSc's PCMG calls on each level: smoothers, residuals, restriction, interpolation.
 *
 * PETSc's vectors are in double precision. Levels work in single precision, with entries divided by
 * `scale`, right-hand sides by `unit`, and unknowns by their ratio. All are powers of two: numbers that
 * go to and fro keep their bits. In plain cycles x and r of a level stay there: vectors of PETSc's get x
 * where a level is done.
 */
#define CONVERGED_ITS 4 /* of PCRichardsonConvergedReason */

static Petsc petsc;

void symancf_connect(const Petsc *given)
{
  petsc = *given;
}

typedef struct { /* one call on a level */
  const Hierarchy *h;
  const Messages *m;
  Level *A;
  double since;
} Call;

static int enter(Call *call, int (*context)(void *, void *), void *object)
{
  const Shell *shell;
  const int code = context(object, &shell);
  if (code) return code;
  call->h = shell->hierarchy, call->m = call->h->messages, call->A = call->h->level + shell->level;
  call->since = call->A->spent ? clock_now() : 0.0;
  return 0;
}

static int leave(const Call *call, const int code)
{
  if (call->A->spent) call->A->spent[0] += clock_now() - call->since;
  return code;
}

/* Round the numbers of a vector, times two powers of two, unless they are known from the last call. */
static int take(const Level *A, void *vector, const double factor, const double then, float *to, Known *of)
{
  const double *from;
  Known now;
  int code = petsc.id(vector, &now.vector);
  if (!code) code = petsc.state(vector, &now.state);
  if (code || (now.vector == of->vector && now.state == of->state)) return code;
  code = petsc.read(vector, &from);
  if (code) return code;
  for (int64_t k = 0; k < 3 * (int64_t)A->nodes; k++) to[k] = (float)(from[k] * factor * then);
  *of = now;
  return petsc.end_read(vector, &from);
}

static int give(const Level *A, const float *from, const double factor, const double then, void *vector, Known *of)
{
  double *to;
  int code = petsc.write(vector, &to);
  if (code) return code;
  for (int64_t k = 0; k < 3 * (int64_t)A->nodes; k++) to[k] = from[k] * factor * then;
  code = petsc.end_write(vector, &to);
  if (!code) code = petsc.id(vector, &of->vector);
  return code ? code : petsc.state(vector, &of->state);
}

static int take_right(const Hierarchy *h, Level *A, void *b)
{
  return take(A, b, 1.0 / h->unit, 1.0, A->b, &A->of_b);
}

static int take_unknowns(const Hierarchy *h, Level *A, void *x)
{
  return take(A, x, h->scale, 1.0 / h->unit, A->x, &A->of_x);
}

static int give_unknowns(const Hierarchy *h, Level *A, void *x)
{
  return give(A, A->x, h->unit, 1.0 / h->scale, x, &A->of_x);
}

/* Find the unit of right-hand sides: a power of two near the largest of those of the finest level. */
void symancf_measure(Hierarchy *h, const double *r)
{
  const Level *A = h->level;
  double size = 0.0;
  int power = 0;
  for (int64_t k = 0; k < 3 * (int64_t)A->nodes; k++) size = fabs(r[k]) > size ? fabs(r[k]) : size;
  if (h->messages) {
    const double own = size;
    reduce(h->messages, A, &own, &size, 1, h->messages->real, 8, h->messages->largest);
  }
  if (size > 0.0 && size <= 1.7e308) frexp(size, &power);
  h->unit = ldexp(1.0, power < -1000 ? -1000 : power > 1000 ? 1000 : power);
  for (int32_t l = 0; l < h->levels; l++) h->level[l].of_x.vector = h->level[l].of_b.vector = 0;
}

static int smooth_times(void *pc, void *b, void *x, const int64_t times, const int zero)
{
  Call c;
  int code = enter(&c, petsc.of_preconditioner, pc);
  if (code) return code;
  code = take_right(c.h, c.A, b);
  if (!code && !zero && !c.h->plain) code = take_unknowns(c.h, c.A, x);
  for (int64_t k = 0; k < times && !code; k++) smooth(c.m, c.A, zero && !k);
  if (!code && (!zero || !c.h->plain)) code = give_unknowns(c.h, c.A, x);
  else c.A->of_x.vector = 0;
  return leave(&c, code);
}

/* Of PCShellSetApply: smooth once from x = 0. */
int symancf_smooth(void *pc, void *b, void *x)
{
  return smooth_times(pc, b, x, 1, 1);
}

/* The same of a plain cycle's second smoothing: the level has x. */
int symancf_smooth_on(void *pc, void *b, void *x)
{
  return smooth_times(pc, b, x, 1, 0);
}

/* Of PCShellSetApplyRichardson, with PetscInt of 32 or 64 bits; `zero` may be one byte or an int. */
#define RICHARDSON(BITS)                                                                           \
  int symancf_smooth_##BITS(void *pc, void *b, void *x, void *work, double rtol, double atol,      \
                            double dtol, int##BITS##_t times, uint8_t zero, int##BITS##_t *made,   \
                            int *reason)                                                           \
  {                                                                                                \
    (void)work, (void)rtol, (void)atol, (void)dtol;                                                \
    *made = times, *reason = CONVERGED_ITS;                                                        \
    return times > 0 ? smooth_times(pc, b, x, times, zero) : 0;                                    \
  }
RICHARDSON(32)
RICHARDSON(64)

/* Of PCShellSetApply of the last level. */
int symancf_solve(void *pc, void *b, void *x)
{
  Call c;
  int code = enter(&c, petsc.of_preconditioner, pc);
  if (code) return code;
  code = take_right(c.h, c.A, b);
  if (!code) solve(&c.h->coarsest, c.A);
  return leave(&c, code ? code : give_unknowns(c.h, c.A, x));
}

/* MATOP_MULT of a level's matrix. */
int symancf_product(void *mat, void *x, void *y)
{
  Call c;
  Known none;
  int code = enter(&c, petsc.of_matrix, mat);
  if (code) return code;
  code = take_unknowns(c.h, c.A, x);
  if (!code) multiply(c.m, c.A);
  return leave(&c, code ? code : give(c.A, c.A->r, c.h->unit, 1.0, y, &none));
}

/* Of PCMGSetResidual: r = b - A x. */
int symancf_residual(void *mat, void *b, void *x, void *r)
{
  Call c;
  Known none;
  int code = enter(&c, petsc.of_matrix, mat);
  if (code) return code;
  code = take_right(c.h, c.A, b);
  if (!code && !c.h->plain) code = take_unknowns(c.h, c.A, x);
  if (code) return leave(&c, code);
  multiply(c.m, c.A);
  for (int64_t k = 0; k < 3 * (int64_t)c.A->nodes; k++) c.A->r[k] = c.A->b[k] - c.A->r[k];
  return leave(&c, c.h->plain ? 0 : give(c.A, c.A->r, c.h->unit, 1.0, r, &none));
}

/* MATOP_MULT of the restriction from a level to the next: `to` = P^T r. */
int symancf_restrict(void *mat, void *r, void *to)
{
  Call c;
  const double *from = NULL;
  int code = enter(&c, petsc.of_matrix, mat);
  if (!code && !c.h->plain) code = petsc.read(r, &from);
  if (code) return code;
  restricted(c.m, c.A, c.A + 1, from, 1.0 / c.h->unit);
  if (from) code = petsc.end_read(r, &from);
  return leave(&c, code ? code : give(c.A + 1, c.A[1].b, c.h->unit, 1.0, to, &c.A[1].of_b));
}

/* MATOP_MULT_ADD of the interpolation to a level from the next: `to` = x + P y. */
int symancf_prolong_add(void *mat, void *y, void *x, void *to)
{
  Call c;
  const double *from = NULL;
  double *sum;
  int code = enter(&c, petsc.of_matrix, mat);
  if (code) return code;
  code = take_unknowns(c.h, c.A + 1, y);
  if (!code && c.h->plain) prolong(c.m, c.A, c.A + 1, NULL, 1.0, NULL);
  if (code || c.h->plain) return leave(&c, code);
  if (x && x != to) code = petsc.read(x, &from);
  if (!code) code = petsc.write(to, &sum);
  if (code) return leave(&c, code);
  prolong(c.m, c.A, c.A + 1, x == to ? sum : from, c.h->unit / c.h->scale, sum);
  if (from) code = petsc.end_read(x, &from);
  return leave(&c, code ? code : petsc.end_write(to, &sum));
}

/* MATOP_MULT of it: `to` = P y. */
int symancf_prolong(void *mat, void *y, void *to)
{
  return symancf_prolong_add(mat, y, NULL, to);
}
