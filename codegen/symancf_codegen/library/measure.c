/* SPDX-License-Identifier: BSD-3-Clause
 *
 * measure.c: times kernels and the floating-point peak in CPU time of the calling thread.
 */
#include "symancf_kernel.h"

#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9*(double)t.tv_nsec;
}

typedef int short_kernel(int, const double *, const double *, const double *, const double *,
                         double *);
typedef int long_kernel(int, const double *, const double *, const double *, const double *,
                        const void *, double *);

/* Seconds for `repeat` sweeps over `batches` batches. Inputs advance with the batch, outputs
 * are overwritten: a caller that scatters batch by batch keeps them in cache. `second` is v
 * of a product (advances by `rows`), or f of a tangent, or null for energy and residual. */
double symancf_time(void *kernel, int repeat, int batches, int rows, int cell_rows, int advances,
                    const double *uniform, const double *cell, const double *reference,
                    const double *u, double *second, double *output)
{
    const double start = now();
    for (int r = 0; r < repeat; r++)
        for (int b = 0; b < batches; b++) {
            const double *c = cell + 8L*cell_rows*b;
            const double *x = reference + 8L*rows*b, *y = u + 8L*rows*b;
            if (second)
                ((long_kernel *)kernel)(8, uniform, c, x, y, second + 8L*(advances ? rows : 0)*b,
                                        output);
            else
                ((short_kernel *)kernel)(8, uniform, c, x, y, output);
        }
    return now() - start;
}

/* Seconds for `repeat` rounds of 16 independent multiply-adds on 8 lanes. */
double symancf_peak(int repeat, double *result)
{
    v8 a[16];
    const v8 x = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, y = 1e-9*x;
    for (int k = 0; k < 16; k++)
        a[k] = (1.0 + k)*x;
    const double start = now();
    for (int r = 0; r < repeat; r++)
        #pragma GCC unroll 16
        for (int k = 0; k < 16; k++)
            a[k] = a[k]*x + y;
    const double seconds = now() - start;
    v8 sum = {0};
    for (int k = 0; k < 16; k++)
        sum += a[k];
    *result = sum[0];
    return seconds;
}
