/* SPDX-License-Identifier: BSD-3-Clause
 *
 * symancf_math.h: functions that gcc can vectorise inside an `omp simd` loop.
 *
 * None has a branch, a table or a call. Each is good to about 2 ulp on its domain and returns
 * NaN where the function is not a finite real number (a pole, a negative argument of log, an
 * argument that is NaN or infinite), so that a kernel reports the point as bad:
 *
 *   icbrt(x) = x^(-1/3)                positive normal x; NaN for others
 *   rsqrt(x) = x^(-1/2), log(x)        the same
 *   log1p(x) = log(1 + x)              x > -1
 *   log1pmx(x) = log(1 + x) - x        x > -1, also relatively good for tiny x
 *   exp(x)                             all x; underflows to 0, overflows to infinity
 *   expm1(x) = exp(x) - 1              all x
 *   expm1mx(x) = exp(x) - 1 - x        all x, also relatively good for tiny x
 *
 * log and exp follow the classical argument reductions (fdlibm, W. J. Cody and W. Waite).
 */
#ifndef SYMANCF_MATH_H
#define SYMANCF_MATH_H

#include <math.h>
#include <string.h>

/* A call that is left in a loop keeps gcc from vectorising it. */
#define SYMANCF_INLINE static inline __attribute__((always_inline))

/* Without a sign, so that the bits of negative numbers and of NaN, of which nothing is used, wrap. */
typedef unsigned long long symancf_word;

SYMANCF_INLINE double symancf_from_bits(symancf_word bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

SYMANCF_INLINE symancf_word symancf_bits(double x)
{
    symancf_word bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 2^k as bits, without the bias of exponents. */
SYMANCF_INLINE symancf_word symancf_power(long long k)
{
    return (symancf_word)k*0x10000000000000;
}

/* Integers of less than 51 bits to doubles and back, with additions only: 1.5 2^52. */
#define SYMANCF_SHIFT 0x1.8p52

SYMANCF_INLINE double symancf_to_double(long long k)
{
    return symancf_from_bits((symancf_word)k + 0x4338000000000000) - SYMANCF_SHIFT;
}

SYMANCF_INLINE long long symancf_to_integer(double x)
{
    return (long long)(symancf_bits(x + SYMANCF_SHIFT) - 0x4338000000000000);
}

/* y if `good` is 1, NaN if it is 0; without a branch, which would keep gcc from vectorising. */
SYMANCF_INLINE double symancf_nan_unless(int good, double y)
{
    return symancf_from_bits(symancf_bits(y) | -(symancf_word)!good);
}

SYMANCF_INLINE double symancf_sign(double x)
{
    return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : 0.0);
}

/* The exponent of x is divided by -3 in the upper half of its bits; two quartic corrections
 * y += y r (1/3 + r (2/9 + r 14/81)), r = 1 - x y^3, bring the error from 3 % to round-off. */
SYMANCF_INLINE double symancf_icbrt(double x)
{
    const double upper = symancf_to_double((long long)symancf_bits(x) >> 32);
    const long long guess = symancf_to_integer(1430181887.0 - upper*(1.0/3.0));
    double y = symancf_from_bits((symancf_word)guess << 32);
    double r = 1.0 - (x*y)*(y*y);
    y += (y*r)*((1.0/3.0 + r*(2.0/9.0)) + (r*r)*(14.0/81.0));
    r = 1.0 - (x*y)*(y*y);
    y += (y*r)*((1.0/3.0 + r*(2.0/9.0)) + (r*r)*(14.0/81.0));
    return symancf_nan_unless((x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023), y);
}

/* The same for the square root, from an error of 3.4 %. */
SYMANCF_INLINE double symancf_rsqrt(double x)
{
    double y = symancf_from_bits(0x5fe6eb50c7b537a9 - (symancf_bits(x) >> 1));
    double r = 1.0 - (x*y)*y;
    y += (y*r)*(1.0/2.0 + r*(3.0/8.0 + r*(5.0/16.0)));
    r = 1.0 - (x*y)*y;
    y += (y*r)*(1.0/2.0 + r*(3.0/8.0 + r*(5.0/16.0)));
    return symancf_nan_unless((x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023), y);
}

/* log(u) = k log 2 + log(1 + f), u = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and
 * log(1 + f) = f - tail(f), tail(f) = f^2/2 - s (f^2/2 + R(s^2)), s = f/(2 + f). */
#define SYMANCF_LN2_HIGH 0x1.62e42feep-1
#define SYMANCF_LN2_LOW 0x1.a39ef35793c76p-33

SYMANCF_INLINE long long symancf_exponent(double u)
{
    return (long long)(symancf_bits(u) - 0x3fe6a09e667f3bcd) >> 52;
}

SYMANCF_INLINE double symancf_log_tail(double f)
{
    const double s = f/(2.0 + f), z = s*s, w = z*z, half = 0.5*f*f;
    const double even = w*(3.999999999940941908e-01 + w*(2.222219843214978396e-01
                           + w*1.531383769920937332e-01));
    const double odd = z*(6.666666666666735130e-01 + w*(2.857142874366239149e-01
                          + w*(1.818357216161805012e-01 + w*1.479819860511658591e-01)));
    return half - s*(half + (odd + even));
}

SYMANCF_INLINE double symancf_log(double x)
{
    const long long e = symancf_exponent(x);
    const double k = symancf_to_double(e);
    const double f = symancf_from_bits(symancf_bits(x) - symancf_power(e)) - 1.0;
    const double y = k*SYMANCF_LN2_HIGH + (f - (symancf_log_tail(f) - k*SYMANCF_LN2_LOW));
    return symancf_nan_unless((x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023), y);
}

/* log(1 + x) - d for d = 0 or d = x: with u = 1 + x rounded, f = x where k = 0, and otherwise
 * the rounding error c of u, of which c/u is a correction, with 1/(1 + f) = 1 - f + f^2. */
SYMANCF_INLINE double symancf_log1p_less(double x, double d)
{
    const double u = 1.0 + x;
    const long long e = symancf_exponent(u);
    const double k = symancf_to_double(e);
    const double scale = symancf_from_bits(symancf_power(1023 - e));
    const double c = (x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0))*scale;
    const double g = symancf_from_bits(symancf_bits(u) - symancf_power(e)) - 1.0;
    const double f = e == 0 ? x : g;
    const double correction = e == 0 ? 0.0 : c*(1.0 - g + g*g);
    const double low = k*SYMANCF_LN2_LOW + correction;
    const double y = ((f + k*SYMANCF_LN2_HIGH) - d) - (symancf_log_tail(f) - low);
    return symancf_nan_unless((u > 0.0) & (u <= 0x1.fffffffffffffp1023), y);
}

SYMANCF_INLINE double symancf_log1p(double x)
{
    return symancf_log1p_less(x, 0.0);
}

SYMANCF_INLINE double symancf_log1pmx(double x)
{
    return symancf_log1p_less(x, x);
}

/* exp(x) = 2^k exp(r), |r| <= log(2)/2; exp(r) - 1 - r by its Taylor series. */
SYMANCF_INLINE double symancf_exp_tail(double r)
{
    const double q = r*r, w = q*q;
    const double a = 1.0/2 + r*(1.0/6), b = 1.0/24 + r*(1.0/120), c = 1.0/720 + r*(1.0/5040);
    const double d = 1.0/40320 + r*(1.0/362880), e = 1.0/3628800 + r*(1.0/39916800);
    const double g = 1.0/479001600 + r*(1.0/6227020800);
    return q*((a + q*b) + w*((c + q*d) + w*(e + q*g)));
}

/* exp(x) - c - d = ((2^k - c) - d) + 2^k (exp(r) - 1) with c = 0 or 1, d = 0 or x; r = x where
 * k = 0. A factor `first` of 2^k is kept outside, because k may be beyond the exponents. */
SYMANCF_INLINE double symancf_exp_less(double x, double c, double d)
{
    const double bounded = x > 720.0 ? 720.0 : (x < -760.0 ? -760.0 : x);
    const double shifted = bounded*1.4426950408889634 + SYMANCF_SHIFT;
    const double k = shifted - SYMANCF_SHIFT;
    const long long n = (long long)(symancf_bits(shifted) - 0x4338000000000000);
    const double high = bounded - k*SYMANCF_LN2_HIGH, low = k*SYMANCF_LN2_LOW;
    const double r = high - low, rest = (high - r) - low;
    const double tail = symancf_exp_tail(r) + rest;
    const long long half = n >> 1;
    const double first = symancf_from_bits(symancf_power(1023 + half));
    const double inverse = symancf_from_bits(symancf_power(1023 - half));
    const double second = symancf_from_bits(symancf_power(1023 + n - half));
    return first*((((second - c*inverse) - d*inverse) + second*r) + second*tail);
}

SYMANCF_INLINE double symancf_exp(double x)
{
    return symancf_exp_less(x, 0.0, 0.0);
}

SYMANCF_INLINE double symancf_expm1(double x)
{
    return symancf_exp_less(x, 1.0, 0.0);
}

SYMANCF_INLINE double symancf_expm1mx(double x)
{
    return symancf_exp_less(x, 1.0, x);
}

#endif
