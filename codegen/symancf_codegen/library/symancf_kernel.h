/* SPDX-License-Identifier: BSD-3-Clause
 *
 * symancf_kernel.h: what a generated kernel NAME offers, and the few helpers it uses.
 *
 *   int NAME_mode(int lanes, const double *uniform, const double *cell,
 *                 const double *reference, operands of the mode: SYMANCF_MODES below);
 *
 * One call is one batch of 8 lanes: 8 cells, or 8 tuples of nodes. Every array is
 * [rows][8] doubles, aligned to 64 bytes, the lane index running fastest; only `uniform` is a
 * plain array with one value for all lanes. Outputs are overwritten; only to by_uniform and
 * by_cell is added.
 *
 *   u, v, f, Kv, fp, fv,     [3 n][8]  row 3 i + a: component a of coefficient vector i
 *   reference
 *   reference of laws that know rates: [6 n][8], then come w = v - c u of the coefficients' rates
 *                            v, with c = rate_factor in `uniform`
 *   cell, cell_rate, seed,   [parameters][8]
 *   by_cell
 *   by_uniform               [parameters][8]  of the uniform ones, for each lane
 *   uniform_rate             as `uniform`
 *   W                        [8]
 *   K of an energy           [9 n (n + 1)/2][8]  blocks i <= j at j (j + 1)/2 + i, in a block
 *                            row 3 a + b: component a of i, component b of j
 *   K of a virtual work      [9 n n][8]  blocks i n + j
 *   D                        [9 n][8]  blocks i = j of K
 *   moments                  [points][slots][8]  derivatives of the forces on jets by jets
 *   Kc                       as K of an energy, of the functions of Space.linear
 *   O                        [points][outputs][8]  law by law, see Kernel.outputs
 *
 * Kernels on tuples of m scalars have u, v, f, Kv, fp, fv, fX [m][8], K packed by columns of the upper
 * triangle, c (c + 1)/2 + r for r <= c (virtual work: r m + c), and do not read `reference`.
 *
 * Return value: number of points, counted over the first `lanes` lanes, at which an
 * expression that must be positive is not (or is NaN), plus one for every lane with a result
 * that is not finite.
 */
#ifndef SYMANCF_KERNEL_H
#define SYMANCF_KERNEL_H

/* The modes: code, name, operands. Made by symancf_codegen/modes.py, which says what they are. */
#define SYMANCF_MODES(MODE) \
    MODE(ENERGY, energy, const double *u, double *W) \
    MODE(RESIDUAL, residual, const double *u, double *f) \
    MODE(TANGENT, tangent, const double *u, double *f, double *K) \
    MODE(PRODUCT, product, const double *u, const double *v, double *Kv) \
    MODE(PARAMETER, parameter, const double *u, const double *uniform_rate, const double *cell_rate, double *fp) \
    MODE(OUTPUTS, outputs, const double *u, double *O) \
    MODE(UPDATE, update, const double *u, double *O) \
    MODE(INITIAL, initial, const double *u, double *O) \
    MODE(PULL, pull, const double *u, const double *v, const double *seed, double *fv, double *by_uniform, double *by_cell) \
    MODE(DIAGONAL, diagonal, const double *u, double *D) \
    MODE(COARSE, coarse, const double *u, double *Kc) \
    MODE(MOMENTS, moments, const double *u, double *moments) \
    MODE(MULTIPLY, multiply, const double *moments, const double *v, double *Kv) \
    MODE(SHAPE, shape, const double *u, const double *v, const double *seed, double *fX)

/* Numbers of lanes: in single precision where a text begins by saying so. */
#ifdef SYMANCF_SINGLE
typedef float symancf_real;
#else
typedef double symancf_real;
#endif

/* A row: eight lanes. */
typedef symancf_real v8 __attribute__((vector_size(8*sizeof(symancf_real)), may_alias));

/* Arithmetic on rows is done in parts that fit a register of the processor. */
#if defined(__AVX512F__) || (defined(__AVX__) && defined(SYMANCF_SINGLE))
#define SYMANCF_WIDTH 8
#elif defined(__AVX__) || defined(SYMANCF_SINGLE)
#define SYMANCF_WIDTH 4
#else
#define SYMANCF_WIDTH 2
#endif
typedef symancf_real vec __attribute__((vector_size(sizeof(symancf_real)*SYMANCF_WIDTH), may_alias));
#define FOR_PARTS for (int part = 0; part < 8/SYMANCF_WIDTH; part++)
#define PART(row) (((vec *)&(row))[part])

static inline void symancf_zero(int rows, v8 *restrict x)
{
    for (int k = 0; k < rows; k++)
        FOR_PARTS
            PART(x[k]) = (vec){0};
}

/* Add 1 to bad[l] where any of the rows is not finite: 0*x is 0, or else NaN. */
static inline void symancf_finite(int rows, const v8 *restrict x, v8 *restrict bad)
{
    FOR_PARTS {
        vec s = {0}, r = {0};
        int k = 0;
        for (; k + 1 < rows; k += 2) {
            s += (symancf_real)0*PART(x[k]);
            r += (symancf_real)0*PART(x[k + 1]);
        }
        if (k < rows)
            s += (symancf_real)0*PART(x[k]);
        s += r;
        for (int l = 0; l < SYMANCF_WIDTH; l++)
            PART(*bad)[l] += s[l] == 0 ? 0 : 1;
    }
}

static inline int symancf_count(int lanes, const v8 *bad)
{
    double count = 0.0;
    for (int l = 0; l < lanes; l++)
        count += ((const symancf_real *)bad)[l];
    return (int)count;
}

#endif
