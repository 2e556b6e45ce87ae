/* SPDX-License-Identifier: BSD-3-Clause
 *
 * symancf_local.h: Newton's method for the unknowns of a point or of a cell, 8 lanes wide.
 *
 * A generated function evaluates at X, [m + m m][8], the first m rows being the unknowns:
 *
 *   E [m + m m + m][8]   the equations G, d G / d x by rows, and the sizes of what each
 *                        equation is made of: round-off of G_k is some units in their last place
 *
 * and symancf_newton moves X until nothing but round-off is left of all equations, with steps
 * that are halved where the equations grow. Then the last m m rows of X are the inverse of
 * d G / d x, by rows, of which the tangent is made.
 *
 * Equations at two X are compared in parts of their larger sizes there: an equation that had
 * nothing but round-off in it may well grow to the size of what the step puts into it.
 */
#ifndef SYMANCF_LOCAL_H
#define SYMANCF_LOCAL_H

#include <math.h>

#define SYMANCF_LOCAL 12          /* unknowns at most */
#define SYMANCF_ROUND_OFF 3.6e-15 /* of the sizes: 16 units in the last place */
#define SYMANCF_STALLED 1e-12     /* of the sizes, where shorter steps do not help either */
#define SYMANCF_STEPS 200

enum { SYMANCF_MOVES, SYMANCF_RETURNS, SYMANCF_RESTS }; /* what a lane does */

typedef struct {
    int steps, lane[8];
    double factor[8];
    double x[SYMANCF_LOCAL][8], d[SYMANCF_LOCAL][8]; /* where it was best; the step from there */
    double G[SYMANCF_LOCAL][8], size[SYMANCF_LOCAL][8];
} symancf_search;

/* 1/size, of equations that are made of nothing 1. */
static inline double symancf_scale(double size)
{
    return size > 0.0 ? 1.0/size : 1.0;
}

/* Begin at the start that is in X. */
static inline void symancf_begin(int m, const double *X, symancf_search *s)
{
    s->steps = 0;
    for (int l = 0; l < 8; l++) {
        s->lane[l] = SYMANCF_MOVES;
        for (int k = 0; k < m; k++) {
            s->x[k][l] = X[8*k + l];
            s->d[k][l] = s->size[k][l] = 0.0;
            s->G[k][l] = INFINITY;
        }
    }
}

/* Write the inverse of the slopes in one lane, by Gauss and Jordan's elimination with pivots;
 * rows are scaled by the sizes of their equations. */
static inline void symancf_invert(int m, int l, const double *E, double *Y)
{
    double A[SYMANCF_LOCAL][2*SYMANCF_LOCAL];
    for (int i = 0; i < m; i++) {
        const double scale = symancf_scale(E[8*(m + m*m + i) + l]);
        for (int j = 0; j < m; j++) {
            A[i][j] = scale*E[8*(m + m*i + j) + l];
            A[i][m + j] = i == j ? scale : 0.0;
        }
    }
    for (int c = 0; c < m; c++) {
        int p = c;
        for (int i = c + 1; i < m; i++)
            if (fabs(A[i][c]) > fabs(A[p][c]))
                p = i;
        const double pivot = A[p][c];
        for (int j = 0; j < 2*m; j++) {
            const double a = A[p][j]/pivot;
            A[p][j] = A[c][j];
            A[c][j] = a;
        }
        for (int i = 0; i < m; i++) {
            const double a = i == c ? 0.0 : A[i][c];
            for (int j = 0; j < 2*m; j++)
                A[i][j] -= a*A[c][j];
        }
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            Y[8*(m*i + j) + l] = A[i][m + j];
}

/* Move one lane by what was found at its X; count it in `bad` where that leads nowhere. */
static inline void symancf_move(int m, int l, double *X, const double *E, symancf_search *s,
                                double *bad)
{
    double merit = 0.0, best = 0.0, error = 0.0;
    for (int k = 0; k < m; k++) {
        const double G = E[8*k + l], size = E[8*(m + m*m + k) + l], old = s->size[k][l];
        const double scale = symancf_scale(size > old ? size : old);
        merit += fabs(G)*scale;
        best += fabs(s->G[k][l])*scale;
        if (!(fabs(G) <= error*size)) /* also where G is not a number */
            error = size > 0.0 ? fabs(G)/size : INFINITY;
    }
    const int returned = s->lane[l] == SYMANCF_RETURNS;
    int polish = 1; /* the last step, which only round-off needs */
    if (error <= SYMANCF_ROUND_OFF || (returned && error <= SYMANCF_STALLED)) {
        s->lane[l] = SYMANCF_RESTS;
    } else if (returned || s->steps > SYMANCF_STEPS ||
               (best == INFINITY && !(merit < INFINITY))) {
        s->lane[l] = SYMANCF_RESTS;
        bad[l] += 1.0;
        polish = 0;
    }
    if (s->lane[l] == SYMANCF_RESTS) {
        double *Y = X + 8*m;
        symancf_invert(m, l, E, Y);
        for (int k = 0; k < m && polish; k++)
            for (int i = 0; i < m; i++)
                X[8*k + l] -= Y[8*(m*k + i) + l]*E[8*i + l];
        return;
    }
    if (merit < best) { /* go on from here */
        double *Y = X + 8*m;
        symancf_invert(m, l, E, Y);
        s->factor[l] = 1.0;
        for (int k = 0; k < m; k++) {
            s->x[k][l] = X[8*k + l];
            s->G[k][l] = E[8*k + l];
            s->size[k][l] = E[8*(m + m*m + k) + l];
            s->d[k][l] = 0.0;
            for (int i = 0; i < m; i++)
                s->d[k][l] -= Y[8*(m*k + i) + l]*E[8*i + l];
        }
    } else {
        s->factor[l] *= 0.5;
    }
    int moves = 0;
    for (int k = 0; k < m; k++) {
        const double x = s->x[k][l] + s->factor[l]*s->d[k][l];
        moves |= x != s->x[k][l];
        X[8*k + l] = x;
    }
    if (!moves || s->factor[l] < 1e-12) { /* to where it was best */
        s->lane[l] = SYMANCF_RETURNS;
        for (int k = 0; k < m; k++)
            X[8*k + l] = s->x[k][l];
    }
}

/* Move X by what E says; return whether to evaluate again. */
static inline int symancf_newton(int m, double *X, const double *E, symancf_search *s, double *bad)
{
    int moves = 0;
    s->steps++;
    for (int l = 0; l < 8; l++) {
        if (s->lane[l] != SYMANCF_RESTS)
            symancf_move(m, l, X, E, s, bad);
        moves |= s->lane[l] != SYMANCF_RESTS;
    }
    return moves;
}

/* Unknowns of a cell: their slopes are symmetric, and an evaluation without them is cheaper.
 * A generated function evaluates at X, [m + m m][8],
 *
 *   E [m + m (m + 1)/2 + m + 1][8]   the equations G, the upper triangle of d G / d x by rows,
 *                                    sizes as above, how many points are outside of the domain
 *
 * and symancf_cell_newton moves X as symancf_newton does, by slopes that may be older than X as
 * long as every step makes the equations 10 times smaller. It takes the last step without an
 * evaluation after it where the rate of the steps says that nothing but round-off would be left.
 *
 * An energy that is stationary in X, and its derivatives completed by the equations, have the
 * square of the error of X: for these `enough` is SYMANCF_LINEAR instead of SYMANCF_ROUND_OFF. */
#define SYMANCF_LINEAR 1e-10 /* of the sizes */
#define SYMANCF_CHORD 0.1
#define SYMANCF_PIVOT 1e-10 /* of a diagonal entry: below, rows are exchanged */
#define SYMANCF_ROW(array, k) (((vec *)(array))[(k)*(8/SYMANCF_WIDTH) + part])
#define SYMANCF_UPPER(m, i, j) ((i)*(m) - (i)*((i) - 1)/2 + (j) - (i))

typedef struct {
    int slopes, steps; /* what to evaluate; how often it was */
    double enough;     /* of an equation, in parts of its size */
    int lane[8], old[8], takes[8];
    double factor[8], error[8];
    double x[SYMANCF_LOCAL][8] __attribute__((aligned(64)));
    double d[SYMANCF_LOCAL][8] __attribute__((aligned(64)));
    double G[SYMANCF_LOCAL][8] __attribute__((aligned(64)));
    double size[SYMANCF_LOCAL][8] __attribute__((aligned(64)));
    double Z[SYMANCF_LOCAL*SYMANCF_LOCAL][8] __attribute__((aligned(64)));
} symancf_cell_search;

static inline void symancf_cell_begin(int m, const double *X, double enough,
                                      symancf_cell_search *s)
{
    s->enough = enough;
    s->slopes = 1;
    s->steps = 0;
    for (int l = 0; l < 8; l++) {
        s->lane[l] = SYMANCF_MOVES;
        s->old[l] = 0;
        s->factor[l] = 1.0;
        s->error[l] = INFINITY;
        for (int k = 0; k < m; k++) {
            s->x[k][l] = X[8*k + l];
            s->d[k][l] = s->size[k][l] = 0.0;
            s->G[k][l] = INFINITY;
        }
    }
}

#define SYMANCF_BLOCK _Pragma("GCC unroll 4") for

/* Replace A_kk by -1/A_kk, A_ki by A_ki/A_kk, and A_ij by A_ij - A_ik A_kj/A_kk, for k = 0 to 3: of
 * 4x4 numbers of a symmetric matrix, which have a place in registers. */
static inline void symancf_sweep(vec (*A)[SYMANCF_LOCAL], const vec *diagonal, double *small)
{
    vec B[4][4];
    SYMANCF_BLOCK (int i = 0; i < 4; i++)
        SYMANCF_BLOCK (int j = 0; j < 4; j++)
            B[i][j] = i < j ? A[i][j] : A[j][i];
    SYMANCF_BLOCK (int k = 0; k < 4; k++) {
        for (int l = 0; l < SYMANCF_WIDTH; l++)
            small[l] += fabs(B[k][k][l]) > SYMANCF_PIVOT*fabs(diagonal[k][l]) ? 0.0 : 1.0;
        const vec inverse = 1.0/B[k][k];
        SYMANCF_BLOCK (int i = 0; i < 4; i++) {
            const vec a = B[i][k]*inverse;
            SYMANCF_BLOCK (int j = 0; j < 4; j++)
                if (i != k && j != k)
                    B[i][j] -= a*B[k][j];
            if (i != k)
                B[i][k] = a;
        }
        SYMANCF_BLOCK (int j = 0; j < 4; j++)
            B[k][j] = B[k][j]*inverse;
        B[k][k] = -inverse;
    }
    SYMANCF_BLOCK (int i = 0; i < 4; i++)
        SYMANCF_BLOCK (int j = 0; j < 4; j++)
            A[i][j] = B[i][j];
}

/* Write the inverse of the slopes in E to Z, all rows: sweeps by blocks of 4x4, and in lanes with a
 * small pivot Gauss and Jordan's elimination. */
static inline void symancf_cell_invert(int m, const double *E, double *Z)
{
    const int n = (m + 3)/4;
    double small[8] = {0};
    for (int part = 0; part < 8/SYMANCF_WIDTH; part++) {
        vec A[SYMANCF_LOCAL][SYMANCF_LOCAL], R[SYMANCF_LOCAL][4], diagonal[SYMANCF_LOCAL];
        int row = m;
        for (int i = 0; i < 4*n; i++) {
            for (int j = i & ~3; j < 4*n; j++)
                A[i][j] = (vec){0} + (i == j);
            for (int j = i; j < m; j++, row++)
                A[i][j] = SYMANCF_ROW(E, row);
            diagonal[i] = A[i][i];
        }
        for (int k = 0; k < 4*n; k += 4) {
            vec (*D)[SYMANCF_LOCAL] = &A[k];
            symancf_sweep((vec (*)[SYMANCF_LOCAL])&A[k][k], &diagonal[k],
                          small + SYMANCF_WIDTH*part);
            for (int i = 0; i < 4*n; i++) { /* R = A_ik, and then A_ik D^-1 */
                if (i/4 == k/4)
                    continue;
                SYMANCF_BLOCK (int c = 0; c < 4; c++)
                    R[i][c] = i < k ? A[i][k + c] : A[k + c][i];
            }
            for (int i = 0; i < 4*n; i++) {
                if (i/4 == k/4)
                    continue;
                vec t[4] = {{0}, {0}, {0}, {0}};
                SYMANCF_BLOCK (int c = 0; c < 4; c++)
                    SYMANCF_BLOCK (int b = 0; b < 4; b++)
                        t[b] -= R[i][c]*D[c][k + b];
                for (int j = i & ~3; j < 4*n; j += 4)
                    if (j != k)
                        SYMANCF_BLOCK (int b = 0; b < 4; b++)
                            SYMANCF_BLOCK (int c = 0; c < 4; c++)
                                A[i][j + b] -= t[c]*R[j + b][c];
                SYMANCF_BLOCK (int c = 0; c < 4; c++)
                    if (i < k)
                        A[i][k + c] = t[c];
                    else
                        A[k + c][i] = t[c];
            }
        }
        for (int i = 0; i < m; i++)
            for (int j = i; j < m; j++)
                SYMANCF_ROW(Z, m*i + j) = SYMANCF_ROW(Z, m*j + i) = -A[i][j];
    }
    for (int l = 0; l < 8; l++) {
        if (small[l] == 0.0)
            continue;
        double full[8*(SYMANCF_LOCAL + 1)*SYMANCF_LOCAL + 8*SYMANCF_LOCAL];
        for (int i = 0; i < m; i++) {
            full[8*(m + m*m + i) + l] = E[8*(m + m*(m + 1)/2 + i) + l];
            for (int j = 0; j < m; j++) {
                const int a = i < j ? i : j, b = i < j ? j : i;
                full[8*(m + m*i + j) + l] = E[8*(m + SYMANCF_UPPER(m, a, b)) + l];
            }
        }
        symancf_invert(m, l, full, Z);
    }
}

/* Measure the equations in all lanes: here and where they were best, in parts of the larger sizes,
 * and the largest here in parts of its size. Sizes come with slopes: else they are the last ones. */
static inline void symancf_cell_measure(int m, const double *E, const symancf_cell_search *s,
                                        double *merit, double *best, double *error)
{
    const double *found = E + 8*(m + m*(m + 1)/2);
    for (int l = 0; l < 8; l++)
        merit[l] = best[l] = error[l] = 0.0;
    for (int k = 0; k < m; k++)
        for (int l = 0; l < 8; l++) {
            const double G = fabs(E[8*k + l]), old = s->size[k][l];
            const double size = s->slopes ? found[8*k + l] : old;
            const double scale = symancf_scale(size > old ? size : old);
            const double ratio = size > 0.0 ? G/size : (G == 0.0 ? 0.0 : INFINITY);
            merit[l] += G*scale; /* not a number where G is not */
            best[l] += s->G[k][l]*scale;
            error[l] = ratio > error[l] ? ratio : error[l];
        }
    for (int l = 0; l < 8; l++)
        merit[l] = E[8*(2*m + m*(m + 1)/2) + l] > 0.0 ? INFINITY : merit[l];
}

/* Decide what one lane does after an evaluation; return whether it needs slopes. */
static inline int symancf_cell_decide(int m, int l, double merit, double best, double error,
                                      symancf_cell_search *s, double *bad)
{
    s->takes[l] = 0;
    if (s->lane[l] == SYMANCF_RESTS)
        return 0;
    const int returned = s->lane[l] == SYMANCF_RETURNS, good = merit < INFINITY;
    const int chord = !s->slopes && s->factor[l] == 1.0 && merit < best;
    const double next = chord ? error*error/(SYMANCF_CHORD*s->error[l]) : error; /* at most */
    if (good && (next <= s->enough || (returned && error <= SYMANCF_STALLED))) {
        s->lane[l] = SYMANCF_RESTS;
        s->takes[l] = 1; /* the last step */
        return 0;
    }
    if (returned || s->steps > SYMANCF_STEPS || (best == INFINITY && !good)) {
        s->lane[l] = SYMANCF_RESTS;
        bad[l] += 1.0;
        return 0;
    }
    if (good && merit < best) { /* go on from here */
        const int slow = !s->slopes && error > SYMANCF_CHORD*s->error[l];
        s->takes[l] = 1;
        s->factor[l] = 1.0;
        s->old[l] = !s->slopes;
        s->error[l] = error;
        return slow;
    }
    if (s->old[l]) { /* back, for slopes */
        s->factor[l] = 0.0;
        for (int k = 0; k < m; k++)
            s->G[k][l] = INFINITY;
        return 1;
    }
    if (!good || s->slopes) /* else once more, with sizes */
        s->factor[l] *= 0.5;
    return good;
}

/* Move X by what E says; return whether to evaluate again. */
static inline int symancf_cell_newton(int m, double *X, const double *E, symancf_cell_search *s,
                                      double *bad)
{
    double *Y = X + 8*m, merit[8], best[8], error[8];
    const double *size = E + 8*(m + m*(m + 1)/2);
    int slopes = 0, moves = 0, all = 1;
    s->steps++;
    symancf_cell_measure(m, E, s, merit, best, error);
    for (int l = 0; l < 8; l++) {
        slopes |= symancf_cell_decide(m, l, merit[l], best[l], error[l], s, bad);
        all &= s->takes[l];
    }
    if (s->slopes) {
        symancf_cell_invert(m, E, all ? Y : s->Z[0]);
        for (int k = 0; k < m*m && !all; k++)
            for (int l = 0; l < 8; l++)
                Y[8*k + l] = s->takes[l] ? s->Z[k][l] : Y[8*k + l];
        for (int k = 0; k < m; k++)
            for (int l = 0; l < 8; l++)
                s->size[k][l] = s->takes[l] ? size[8*k + l] : s->size[k][l];
    }
    for (int k = 0; k < m; k++) {
        double d[8] = {0};
        for (int i = 0; i < m; i++)
            for (int l = 0; l < 8; l++)
                d[l] -= Y[8*(m*k + i) + l]*E[8*i + l];
        for (int l = 0; l < 8; l++) {
            s->x[k][l] = s->takes[l] ? X[8*k + l] : s->x[k][l];
            s->G[k][l] = s->takes[l] ? fabs(E[8*k + l]) : s->G[k][l];
            s->d[k][l] = s->takes[l] ? d[l] : s->d[k][l];
        }
    }
    for (int l = 0; l < 8; l++) {
        if (s->lane[l] == SYMANCF_RESTS && !s->takes[l])
            continue;
        int moved = s->factor[l] == 0.0;
        const double factor = s->lane[l] == SYMANCF_RESTS ? 1.0 : s->factor[l];
        for (int k = 0; k < m; k++) {
            const double x = s->x[k][l] + factor*s->d[k][l];
            moved |= x != s->x[k][l];
            X[8*k + l] = x;
        }
        if (s->lane[l] == SYMANCF_RESTS)
            continue;
        moves = 1;
        if (!moved || (factor > 0.0 && factor < 1e-12)) { /* to where it was best */
            s->lane[l] = SYMANCF_RETURNS;
            for (int k = 0; k < m; k++)
                X[8*k + l] = s->x[k][l];
        }
    }
    s->slopes = slopes;
    return moves;
}

/* K -= C Y C^T: blocks of 3x3, row 3 a + b of a block, upper blocks (or all blocks if `full`) of
 * n coefficient vectors; C [m][3 n][8], Y [m m][8]. */
static inline void symancf_condense(int n, int full, int m, const double *C, const double *Y,
                                    double *K)
{
    for (int part = 0; part < 8/SYMANCF_WIDTH; part++)
        for (int j = 0; j < n; j++) {
            vec T[SYMANCF_LOCAL][3]; /* Y C^T, the columns of j */
            for (int k = 0; k < m; k++) {
                vec t[3] = {{0}, {0}, {0}};
                for (int i = 0; i < m; i++) {
                    const vec y = SYMANCF_ROW(Y, m*k + i);
                    for (int b = 0; b < 3; b++)
                        t[b] += y*SYMANCF_ROW(C, 3*n*i + 3*j + b);
                }
                for (int b = 0; b < 3; b++)
                    T[k][b] = t[b];
            }
            for (int i = 0; i < (full ? n : j + 1); i++) {
                const int block = full ? i*n + j : j*(j + 1)/2 + i;
                vec t[9];
                for (int k = 0; k < 9; k++)
                    t[k] = SYMANCF_ROW(K, 9*block + k);
                for (int k = 0; k < m; k++)
                    for (int a = 0; a < 3; a++) {
                        const vec c = SYMANCF_ROW(C, 3*n*k + 3*i + a);
                        for (int b = 0; b < 3; b++)
                            t[3*a + b] -= c*T[k][b];
                    }
                for (int k = 0; k < 9; k++)
                    SYMANCF_ROW(K, 9*block + k) = t[k];
            }
        }
}

/* f -= C^T Y D: the change of a vector as the unknowns follow equations that change by D [m][8]. */
static inline void symancf_follow(int rows, int m, const double *C, const double *Y,
                                  const double *D, double *f)
{
    for (int k = 0; k < m; k++) {
        double y[8] = {0};
        for (int i = 0; i < m; i++)
            for (int l = 0; l < 8; l++)
                y[l] += Y[8*(m*k + i) + l]*D[8*i + l];
        for (int r = 0; r < rows; r++)
            for (int l = 0; l < 8; l++)
                f[8*r + l] -= C[8*(rows*k + r) + l]*y[l];
    }
}

#endif
