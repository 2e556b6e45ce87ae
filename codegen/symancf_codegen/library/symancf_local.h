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
    double factor[8], merit[8], error[8];
    double x[SYMANCF_LOCAL][8], d[SYMANCF_LOCAL][8], size[SYMANCF_LOCAL][8];
} symancf_search;

/* Begin at the start that is in X. */
static inline void symancf_begin(int m, const double *X, symancf_search *s)
{
    s->steps = 0;
    for (int l = 0; l < 8; l++) {
        s->lane[l] = SYMANCF_MOVES;
        s->merit[l] = s->error[l] = INFINITY;
        for (int k = 0; k < m; k++) {
            s->x[k][l] = X[8*k + l];
            s->d[k][l] = 0.0;
            s->size[k][l] = 1.0;
        }
    }
}

/* Write the inverse of the slopes in one lane, by Gauss and Jordan's elimination with pivots;
 * rows are scaled by the sizes of their equations. */
static inline void symancf_invert(int m, int l, const double *E, double *Y)
{
    double A[SYMANCF_LOCAL][2*SYMANCF_LOCAL];
    for (int i = 0; i < m; i++) {
        const double size = E[8*(m + m*m + i) + l], scale = size > 0.0 ? 1.0/size : 1.0;
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
    double merit = 0.0, error = 0.0;
    for (int k = 0; k < m; k++) {
        const double G = E[8*k + l], size = E[8*(m + m*m + k) + l], part = G/s->size[k][l];
        merit += part*part;
        if (!(fabs(G) <= error*size)) /* also where G is not a number */
            error = size > 0.0 ? fabs(G)/size : INFINITY;
    }
    const int returned = s->lane[l] == SYMANCF_RETURNS;
    int polish = 1; /* the last step, which only round-off needs */
    if (error <= SYMANCF_ROUND_OFF || (returned && error <= SYMANCF_STALLED)) {
        s->lane[l] = SYMANCF_RESTS;
    } else if (returned || s->steps > SYMANCF_STEPS ||
               (s->merit[l] == INFINITY && !(merit < INFINITY))) {
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
    if (merit < s->merit[l]) { /* go on from here */
        double *Y = X + 8*m;
        symancf_invert(m, l, E, Y);
        s->factor[l] = 1.0;
        s->merit[l] = 0.0;
        for (int k = 0; k < m; k++) {
            const double size = E[8*(m + m*m + k) + l], part = E[8*k + l];
            s->x[k][l] = X[8*k + l];
            s->size[k][l] = size > 0.0 ? size : 1.0;
            s->merit[l] += part*part/(s->size[k][l]*s->size[k][l]);
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

/* K -= C Y C^T: blocks of 3x3, row 3 a + b of a block, upper blocks (or all blocks if `full`) of
 * n coefficient vectors; C [m][3 n][8], Y [m m][8]. */
static inline void symancf_condense(int n, int full, int m, const double *C, const double *Y,
                                    double *K)
{
    for (int j = 0; j < n; j++)
        for (int b = 0; b < 3; b++)
            for (int k = 0; k < m; k++) {
                double y[8] = {0}; /* row k of Y C^T, component b of j */
                for (int i = 0; i < m; i++)
                    for (int l = 0; l < 8; l++)
                        y[l] += Y[8*(m*k + i) + l]*C[8*(3*n*i + 3*j + b) + l];
                for (int i = 0; i < (full ? n : j + 1); i++)
                    for (int a = 0; a < 3; a++) {
                        const int block = full ? i*n + j : j*(j + 1)/2 + i;
                        double *to = K + 8*(9*block + 3*a + b);
                        const double *c = C + 8*(3*n*k + 3*i + a);
                        for (int l = 0; l < 8; l++)
                            to[l] -= c[l]*y[l];
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
