/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinetostatics of a mechanism of flexures in plain C: the generated kernel with a Newton loop
 * of its own, as a real-time controller would run it. No Python, no PETSc.
 *
 *   python -c "...; symancf.extensions.flexure.export(system, 'build')"     (see docs/demos/gripper.py)
 *   cc -O3 -march=native -Ibuild docs/examples/controller.c build/flexure_partial.c -lm -o controller
 *   ./controller LAST_CLOSING LAST_OPENING [REPEATS]
 *
 * The force F acts along y at the origin of the first body. It goes from 0 to LAST_CLOSING and
 * from 0 to LAST_OPENING (negative) in steps of 1. Prints one line "F ux uy phi ..." per load
 * with all unknowns, then the iterations and the CPU time of one such movement.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mechanism.h"

/* Assemble residual R = f(q) - F and tangent K. Returns the number of bad flexures. */
static int assemble(const double *q, double F, double *R, double K[UNKNOWNS][UNKNOWNS])
{
    static double u[6][8] __attribute__((aligned(64)));
    static double f[6][8] __attribute__((aligned(64)));
    static double k[36][8] __attribute__((aligned(64)));
    int bad = 0;
    memset(R, 0, sizeof(double) * UNKNOWNS);
    memset(K, 0, sizeof(double) * UNKNOWNS * UNKNOWNS);
    for (int b = 0; b < BATCHES; b++) {
        const int (*unknown)[8] = mechanism_unknown[b];
        const int lanes = FLEXURES - 8 * b < 8 ? FLEXURES - 8 * b : 8;
        for (int r = 0; r < 6; r++)
            for (int l = 0; l < 8; l++)
                u[r][l] = unknown[r][l] < 0 ? 0.0 : q[unknown[r][l]];
        bad += MECHANISM_TANGENT(lanes, mechanism_uniform, &mechanism_cell[b][0][0], NULL, &u[0][0],
                                 &f[0][0], &k[0][0]);
        for (int l = 0; l < lanes; l++)
            for (int r = 0; r < 6; r++) {
                const int row = unknown[r][l];
                if (row < 0)
                    continue;
                R[row] += f[r][l];
                for (int c = 0; c < 6; c++) {
                    const int column = unknown[c][l];
                    const int at = !SYMMETRIC ? 6 * r + c
                                   : r <= c   ? c * (c + 1) / 2 + r
                                              : r * (r + 1) / 2 + c;
                    if (column >= 0)
                        K[row][column] += k[at][l];
                }
            }
    }
    R[1] -= F;
    return bad;
}

/* Solve K x = R by elimination with partial pivoting; x replaces R. Returns 1 if singular. */
static int solve(double K[UNKNOWNS][UNKNOWNS], double *R)
{
    for (int i = 0; i < UNKNOWNS; i++) {
        int pivot = i;
        for (int r = i + 1; r < UNKNOWNS; r++)
            if (fabs(K[r][i]) > fabs(K[pivot][i]))
                pivot = r;
        if (K[pivot][i] == 0.0)
            return 1;
        if (pivot != i) {
            double row[UNKNOWNS];
            memcpy(row, K[i], sizeof row);
            memcpy(K[i], K[pivot], sizeof row);
            memcpy(K[pivot], row, sizeof row);
            const double value = R[i];
            R[i] = R[pivot];
            R[pivot] = value;
        }
        const double inverse = 1.0 / K[i][i];
        for (int r = i + 1; r < UNKNOWNS; r++) {
            const double factor = K[r][i] * inverse;
            if (factor == 0.0)
                continue;
            for (int c = i + 1; c < UNKNOWNS; c++)
                K[r][c] -= factor * K[i][c];
            R[r] -= factor * R[i];
        }
    }
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        for (int c = i + 1; c < UNKNOWNS; c++)
            R[i] -= K[i][c] * R[c];
        R[i] /= K[i][i];
    }
    return 0;
}

/* Newton's method from the present q. Returns the iterations, or -1 without an equilibrium. */
static int equilibrium(double *q, double F)
{
    static double K[UNKNOWNS][UNKNOWNS];
    double R[UNKNOWNS];
    for (int iteration = 1; iteration <= 30; iteration++) {
        double square = 0.0;
        if (assemble(q, F, R, K) || solve(K, R))
            return -1;
        for (int i = 0; i < UNKNOWNS; i++) {
            q[i] -= R[i];
            square += R[i] * R[i];
        }
        if (square < 1e-16)
            return iteration;
    }
    return -1;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Close and open; print the states if asked. Returns the iterations, or -1. */
static int movement(int close, int open, int print)
{
    int total = 0;
    for (int way = 1; way >= -1; way -= 2) {
        double q[UNKNOWNS] = {0};
        for (int F = way; way > 0 ? F <= close : F >= open; F += way) {
            const int iterations = equilibrium(q, F);
            if (iterations < 0) {
                fprintf(stderr, "no equilibrium at F = %d\n", F);
                return -1;
            }
            total += iterations;
            if (print) {
                printf("%d", F);
                for (int i = 0; i < UNKNOWNS; i++)
                    printf(" %.16g", q[i]);
                printf("\n");
            }
        }
    }
    return total;
}

int main(int count, char **words)
{
    if (count < 3) {
        fprintf(stderr, "usage: %s LAST_CLOSING LAST_OPENING [REPEATS]\n", words[0]);
        return 2;
    }
    const int close = atoi(words[1]), open = atoi(words[2]);
    const int repeats = count > 3 ? atoi(words[3]) : 1;
    const int total = movement(close, open, 1);
    if (total < 0)
        return 1;
    const double start = cpu_seconds();
    for (int k = 0; k < repeats; k++)
        movement(close, open, 0);
    const double each = (cpu_seconds() - start) / repeats;
    printf("# %d iterations, %.3f ms for %d loads, %.2f us per load\n", total, 1e3 * each,
           close - open, 1e6 * each / (close - open));
    return 0;
}
