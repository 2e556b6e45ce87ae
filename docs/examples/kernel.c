/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A kernel of symancf in a program of its own: forces and stiffness of a cube that is pulled.
 *
 *     python -c 'import symancf as sa; mesh = sa.Mesh.box((1.0,) * 3, (1,) * 3)
 *     cube = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1, lam=2)
 *     cube.kernel("tangent").export("cube")'
 *     cc -O3 -march=native -Icube kernel.c cube/neo_hooke_hex8_plain.c -lm -o kernel
 */
#include <stdio.h>

#include "neo_hooke_hex8_plain.h"

/* One call takes up to 8 cells, the lanes: arrays [row][lane], rows 3 node + direction. */
static _Alignas(64) double X[24][8], u[24][8], f[24][8], K[9 * 36][8];

int main(void)
{
    static const double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                        {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const double uniform[2] = {2.0, 1.0}; /* lam, mu: see the comment at the top of the .c */
    const double cell[8] = {0};           /* parameters of cells: none */
    for (int node = 0; node < 8; node++)
        for (int direction = 0; direction < 3; direction++)
            for (int lane = 0; lane < 8; lane++) {
                X[3 * node + direction][lane] = corner[node][direction];
                u[3 * node + direction][lane] = direction == 0 ? 0.1 * corner[node][0] : 0.0;
            }
    /* K has the 3x3 blocks (i, j), i <= j, of nodes: block j (j + 1)/2 + i */
    int bad = neo_hooke_hex8_plain_tangent(1, uniform, cell, &X[0][0], &u[0][0], &f[0][0], &K[0][0]);
    double pull = 0.0;
    for (int node = 0; node < 8; node++)
        pull += corner[node][0] * f[3 * node][0];
    printf("%d %.15g %.15g\n", bad, pull, K[0][0]);
    return bad;
}
