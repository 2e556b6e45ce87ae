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

/* Unknowns of a cell: their slopes are symmetric, and an evaluation without them is cheaper.
 * A generated function evaluates at X, [m + m m][8],
 *
 *   E [m + m (m + 1)/2 + m + 1][8]   the equations G, the upper triangle of d G / d x by rows,
 *                                    sizes as above, how many points are outside of the domain
 *
 * and symancf_cell_newton moves X as symancf_newton does, by slopes that may be older than X as
 * long as every step makes the equations 10 times smaller. */
#define SYMANCF_CHORD 0.1
#define SYMANCF_PIVOT 1e-10 /* of a diagonal entry: below, rows are exchanged */
#define SYMANCF_ROW(array, k) (((vec *)(array))[(k)*(8/SYMANCF_WIDTH) + part])
#define SYMANCF_UPPER(m, i, j) ((i)*(m) - (i)*((i) - 1)/2 + (j) - (i))

typedef struct {
    int slopes, steps; /* what to evaluate; how often it was */
    int lane[8], old[8], takes[8];
    double factor[8], merit[8], error[8];
    double x[SYMANCF_LOCAL][8] __attribute__((aligned(64)));
    double d[SYMANCF_LOCAL][8] __attribute__((aligned(64)));
    double size[SYMANCF_LOCAL][8] __attribute__((aligned(64)));
    double Z[SYMANCF_LOCAL*SYMANCF_LOCAL][8] __attribute__((aligned(64)));
} symancf_cell_search;

static inline void symancf_cell_begin(int m, const double *X, symancf_cell_search *s)
{
    s->slopes = 1;
    s->steps = 0;
    for (int l = 0; l < 8; l++) {
        s->lane[l] = SYMANCF_MOVES;
        s->old[l] = 0;
        s->factor[l] = 1.0;
        s->merit[l] = s->error[l] = INFINITY;
        for (int k = 0; k < m; k++) {
            s->x[k][l] = X[8*k + l];
            s->d[k][l] = 0.0;
            s->size[k][l] = 1.0;
        }
    }
}

/* Write the inverse of the slopes in E to Z, all rows: sweeps of the upper triangle, and in
 * lanes with a small pivot Gauss and Jordan's elimination. */
static inline void symancf_cell_invert(int m, const double *E, double *Z)
{
    double small[8] = {0};
    for (int part = 0; part < 8/SYMANCF_WIDTH; part++) {
        vec A[SYMANCF_LOCAL][SYMANCF_LOCAL], r[SYMANCF_LOCAL];
        for (int i = 0; i < m; i++)
            for (int j = i; j < m; j++)
                A[i][j] = SYMANCF_ROW(E, m + SYMANCF_UPPER(m, i, j));
        for (int k = 0; k < m; k++) {
            const vec diagonal = SYMANCF_ROW(E, m + SYMANCF_UPPER(m, k, k)), pivot = A[k][k];
            for (int l = 0; l < SYMANCF_WIDTH; l++)
                small[SYMANCF_WIDTH*part + l] +=
                    fabs(pivot[l]) > SYMANCF_PIVOT*fabs(diagonal[l]) ? 0.0 : 1.0;
            const vec inverse = 1.0/pivot;
            for (int i = 0; i < m; i++)
                r[i] = i < k ? A[i][k] : A[k][i];
            for (int i = 0; i < m; i++) {
                const vec a = r[i]*inverse;
                if (i == k)
                    continue;
                for (int j = i; j < m; j++)
                    A[i][j] -= a*r[j]; /* column k is written below */
                if (i < k)
                    A[i][k] = a;
                else
                    A[k][i] = a;
            }
            A[k][k] = -inverse;
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

/* Decide what one lane does after an evaluation; return whether it needs slopes. */
static inline int symancf_cell_decide(int m, int l, const double *E, symancf_cell_search *s,
                                      double *bad)
{
    const double *size = E + 8*(m + m*(m + 1)/2), outside = size[8*m + l];
    double merit = outside > 0.0 ? INFINITY : 0.0, error = 0.0;
    for (int k = 0; k < m; k++) {
        const double G = E[8*k + l], own = s->slopes ? size[8*k + l] : s->size[k][l];
        const double part = G/s->size[k][l];
        merit += part*part;
        if (!(fabs(G) <= error*own)) /* also where G is not a number */
            error = own > 0.0 ? fabs(G)/own : INFINITY;
    }
    s->takes[l] = 0;
    if (s->lane[l] == SYMANCF_RESTS)
        return 0;
    const int returned = s->lane[l] == SYMANCF_RETURNS, good = merit < INFINITY;
    if (good && (error <= SYMANCF_ROUND_OFF || (returned && error <= SYMANCF_STALLED))) {
        s->lane[l] = SYMANCF_RESTS;
        s->takes[l] = 1; /* the last step, which only round-off needs */
        return 0;
    }
    if (returned || s->steps > SYMANCF_STEPS || (s->merit[l] == INFINITY && !good)) {
        s->lane[l] = SYMANCF_RESTS;
        bad[l] += 1.0;
        return 0;
    }
    if (good && merit < s->merit[l]) { /* go on from here */
        const int slow = !s->slopes && error > SYMANCF_CHORD*s->error[l];
        s->takes[l] = 1;
        s->factor[l] = 1.0;
        s->old[l] = !s->slopes;
        s->error[l] = error;
        s->merit[l] = merit;
        if (s->slopes) {
            s->merit[l] = 0.0;
            for (int k = 0; k < m; k++) {
                const double own = size[8*k + l], part = E[8*k + l];
                s->size[k][l] = own > 0.0 ? own : 1.0;
                s->merit[l] += part*part/(s->size[k][l]*s->size[k][l]);
            }
        }
        return slow;
    }
    if (s->old[l]) { /* back, for slopes */
        s->factor[l] = 0.0;
        s->merit[l] = INFINITY;
        return 1;
    }
    s->factor[l] *= 0.5;
    return 0;
}

/* Move X by what E says; return whether to evaluate again. */
static inline int symancf_cell_newton(int m, double *X, const double *E, symancf_cell_search *s,
                                      double *bad)
{
    double *Y = X + 8*m;
    int slopes = 0, moves = 0;
    s->steps++;
    for (int l = 0; l < 8; l++)
        slopes |= symancf_cell_decide(m, l, E, s, bad);
    if (s->slopes) {
        symancf_cell_invert(m, E, s->Z[0]);
        for (int k = 0; k < m*m; k++)
            for (int l = 0; l < 8; l++)
                Y[8*k + l] = s->takes[l] ? s->Z[k][l] : Y[8*k + l];
    }
    for (int k = 0; k < m; k++) {
        double d[8] = {0};
        for (int i = 0; i < m; i++)
            for (int l = 0; l < 8; l++)
                d[l] -= Y[8*(m*k + i) + l]*E[8*i + l];
        for (int l = 0; l < 8; l++) {
            s->x[k][l] = s->takes[l] ? X[8*k + l] : s->x[k][l];
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
