/* SPDX-License-Identifier: BSD-3-Clause
 *
 * symancf_math.h: functions that gcc can vectorise inside an `omp simd` loop.
 */
#ifndef SYMANCF_MATH_H
#define SYMANCF_MATH_H

#include <math.h>
#include <string.h>

static inline double symancf_from_bits(long long bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline long long symancf_bits(double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* y if `good` is 1, NaN if it is 0; without a branch, which would keep gcc from vectorising. */
static inline double symancf_nan_unless(int good, double y)
{
    return symancf_from_bits(symancf_bits(y) | -(long long)!good);
}

static inline double symancf_sign(double x)
{
    return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : 0.0);
}

/* x^(-1/3) for x > 0, NaN otherwise: exponent trick and two quartic corrections
 * y += y r (1/3 + r (2/9 + r 14/81)), r = 1 - x y^3. */
static inline double symancf_icbrt(double x)
{
    const double d = 6142609651758198784.0 - (double)symancf_bits(x)*(1.0/3.0);
    double y = symancf_from_bits((long long)d);
    double r = 1.0 - (x*y)*(y*y);
    y += (y*r)*((1.0/3.0 + r*(2.0/9.0)) + (r*r)*(14.0/81.0));
    r = 1.0 - (x*y)*(y*y);
    y += (y*r)*((1.0/3.0 + r*(2.0/9.0)) + (r*r)*(14.0/81.0));
    return symancf_nan_unless(x > 0.0, y);
}

static inline double symancf_log(double x) { return log(x); }
static inline double symancf_log1p(double x) { return log1p(x); }
static inline double symancf_log1pmx(double x) { return log1p(x) - x; }
static inline double symancf_exp(double x) { return exp(x); }
static inline double symancf_expm1(double x) { return expm1(x); }
static inline double symancf_expm1mx(double x) { return expm1(x) - x; }

#endif
