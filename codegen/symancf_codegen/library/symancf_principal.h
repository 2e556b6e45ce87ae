/* SPDX-License-Identifier: BSD-3-Clause
 *
 * symancf_principal.h: principal stretches and their axes, 8 lanes wide, without a branch.
 *
 * Of three eigenvalues one is apart from both others by at least half of their range. Its axis is
 * well conditioned and is found first; the other two follow from the 2x2 matrix across it by one
 * of Jacobi's rotations (W. M. Scherzinger, C. R. Dohrmann, Computer Methods in Applied Mechanics
 * and Engineering 197 (2008) 4007-4015). So axes are orthonormal, and the matrix diagonal in them,
 * to round-off of its largest entry, also where eigenvalues coincide.
 */
#ifndef SYMANCF_PRINCIPAL_H
#define SYMANCF_PRINCIPAL_H

#include "symancf_math.h"

SYMANCF_INLINE double symancf_larger(double a, double b)
{
    return a > b ? a : b;
}

SYMANCF_INLINE double symancf_size(double a)
{
    return a < 0.0 ? -a : a;
}

/* Let a be the larger of a and b; their axes follow. */
#define SYMANCF_EXCHANGE(x, y) \
    { const double first = swap ? y : x, second = swap ? x : y; x = first; y = second; }
#define SYMANCF_ORDER(a, b, p, q) { \
    const int swap = a < b; \
    SYMANCF_EXCHANGE(a, b) \
    SYMANCF_EXCHANGE(p##1, q##1) SYMANCF_EXCHANGE(p##2, q##2) SYMANCF_EXCHANGE(p##3, q##3) }

/* The rows of E times an axis, and one axis times that. */
#define SYMANCF_TIMES(y, x) \
    const double y##1 = e11*x##1 + (e12*x##2 + e13*x##3); \
    const double y##2 = e12*x##1 + (e22*x##2 + e23*x##3); \
    const double y##3 = e13*x##1 + (e23*x##2 + e33*x##3);
#define SYMANCF_DOT(x, y) (x##1*y##1 + (x##2*y##2 + x##3*y##3))

/* Q [15][8]: the entries of H = F - I, by rows, in the first 9 rows become the logarithms of the
 * principal stretches, the largest first, the components of their axes and the inverse squares of
 * the stretches. The smallest follows from the product of all, det F: of what is much shorter than
 * it was, F^T F has lost digits that det F has. */
static void symancf_principal(double *restrict Q)
{
    #pragma omp simd simdlen(8)
    for (int l = 0; l < 8; l++) {
        const double h11 = Q[l], h12 = Q[8 + l], h13 = Q[16 + l];
        const double h21 = Q[24 + l], h22 = Q[32 + l], h23 = Q[40 + l];
        const double h31 = Q[48 + l], h32 = Q[56 + l], h33 = Q[64 + l];
        const double m11 = h22*h33 - h23*h32, m12 = h23*h31 - h21*h33, m13 = h21*h32 - h22*h31;
        const double m2 = m11 + (h11*h33 - h13*h31) + (h11*h22 - h12*h21);
        const double j = (h11 + h22 + h33) + (m2 + (h11*m11 + h12*m12 + h13*m13));
        const double e11 = h11 + 0.5*(h11*h11 + h21*h21 + h31*h31);
        const double e22 = h22 + 0.5*(h12*h12 + h22*h22 + h32*h32);
        const double e33 = h33 + 0.5*(h13*h13 + h23*h23 + h33*h33);
        const double e23 = 0.5*((h23 + h32) + (h12*h13 + h22*h23 + h32*h33));
        const double e13 = 0.5*((h13 + h31) + (h11*h13 + h21*h23 + h31*h33));
        const double e12 = 0.5*((h12 + h21) + (h11*h12 + h21*h22 + h31*h32));
        /* the deviator, divided by so much that the eigenvalues x have x^3 = 3 x + 2 r */
        const double mean = (e11 + e22 + e33)*(1.0/3.0);
        double d1 = e11 - mean, d2 = e22 - mean, d3 = e33 - mean, d4 = e23, d5 = e13, d6 = e12;
        const double rest = (d1 + d2 + d3)*(1.0/3.0); /* round-off of the mean */
        d1 -= rest; d2 -= rest; d3 -= rest;
        double most = symancf_larger(symancf_size(d1), symancf_size(d2));
        most = symancf_larger(symancf_larger(symancf_size(d3), symancf_size(d4)), most);
        most = symancf_larger(symancf_larger(symancf_size(d5), symancf_size(d6)), most);
        const double unit = most > 0x1p-900 ? 1.0/most : 0.0;
        d1 *= unit; d2 *= unit; d3 *= unit; d4 *= unit; d5 *= unit; d6 *= unit;
        const double sum = (d1*d1 + d2*d2 + d3*d3)*(1.0/6.0) + (d4*d4 + d5*d5 + d6*d6)*(1.0/3.0);
        const double scale = symancf_rsqrt(sum > 0.0 ? sum : 1.0);
        d1 *= scale; d2 *= scale; d3 *= scale; d4 *= scale; d5 *= scale; d6 *= scale;
        const double minor = d2*d3 - d4*d4;
        const double r = 0.5*(d1*minor - d6*(d6*d3 - d4*d5) + d5*(d6*d4 - d2*d5));
        /* the one apart by Newton's method, between sqrt(3) and 2 or their negatives */
        const double s = symancf_size(r) < 1.0 ? symancf_size(r) : 1.0;
        double x = 1.73205196 + s*(0.333245128 + s*(-0.0951072518 + s*(0.0439555711
                   + s*(-0.0181083439 + s*0.0039638132)))); /* to 1.2e-6 */
        const double slope = 1.0/(3.0*x*x - 3.0);
        x -= (x*(x*x - 3.0) - 2.0*s)*slope;
        x -= (x*(x*x - 3.0) - 2.0*s)*slope;
        x = r < 0.0 ? -x : x;
        /* its axis: the largest column of the adjugate of what is singular */
        d1 -= x; d2 -= x; d3 -= x;
        const double a11 = d2*d3 - d4*d4, a22 = d1*d3 - d5*d5, a33 = d1*d2 - d6*d6;
        const double a12 = d5*d4 - d6*d3, a13 = d6*d4 - d5*d2, a23 = d6*d5 - d1*d4;
        const int second = a22 > a11, third = a33 > symancf_larger(a11, a22);
        double p1 = third ? a13 : (second ? a12 : a11);
        double p2 = third ? a23 : (second ? a22 : a12);
        double p3 = third ? a33 : (second ? a23 : a13);
        const double length = symancf_rsqrt(SYMANCF_DOT(p, p));
        p1 *= length; p2 *= length; p3 *= length;
        /* two axes across it (T. Duff et al., J. Computer Graphics Techniques 6 (2017) 1-8) */
        const double sign = p3 < 0.0 ? -1.0 : 1.0, a = -1.0/(sign + p3), b = p1*p2*a;
        const double u1 = 1.0 + sign*p1*p1*a, u2 = sign*b, u3 = -sign*p1;
        const double v1 = b, v2 = sign + p2*p2*a, v3 = -p2;
        SYMANCF_TIMES(ep, p)
        SYMANCF_TIMES(eu, u)
        SYMANCF_TIMES(ev, v)
        const double uu = SYMANCF_DOT(u, eu), vv = SYMANCF_DOT(v, ev);
        const double uv = SYMANCF_DOT(u, ev), apart = vv - uu, twice = 2.0*uv;
        /* the rotation between them: t = tan of its angle, c and t c its cosine and sine */
        const double larger = symancf_larger(symancf_size(apart), symancf_size(twice));
        const double to = larger > 0x1p-900 ? 1.0/larger : 0.0, g = to*apart, h = to*twice;
        const double root = g*g + h*h;
        const double over = symancf_size(g) + root*symancf_rsqrt(root > 0.0 ? root : 1.0);
        const double t = (g < 0.0 ? -h : h)/(over > 0.0 ? over : 1.0);
        const double c = symancf_rsqrt(1.0 + t*t), n = t*c;
        double q1 = c*u1 - n*v1, q2 = c*u2 - n*v2, q3 = c*u3 - n*v3;
        double w1 = n*u1 + c*v1, w2 = n*u2 + c*v2, w3 = n*u3 + c*v3;
        double ea = SYMANCF_DOT(p, ep), eb = uu - t*uv, ec = vv + t*uv;
        SYMANCF_ORDER(ea, eb, p, q)
        SYMANCF_ORDER(ea, ec, p, w)
        SYMANCF_ORDER(eb, ec, q, w)
        const double y = 1.0 + 2.0*ea, z = 1.0 + 2.0*eb, both = y*z, inverse = 1.0/both;
        const double first = 0.5*symancf_log1p(2.0*ea), middle = 0.5*symancf_log1p(2.0*eb);
        Q[l] = first;
        Q[8 + l] = middle;
        Q[16 + l] = symancf_log1p(j) - (first + middle);
        Q[24 + l] = p1; Q[32 + l] = p2; Q[40 + l] = p3;
        Q[48 + l] = q1; Q[56 + l] = q2; Q[64 + l] = q3;
        Q[96 + l] = z*inverse; Q[104 + l] = y*inverse; Q[112 + l] = both/((1.0 + j)*(1.0 + j));
        Q[72 + l] = w1; Q[80 + l] = w2; Q[88 + l] = w3;
    }
}

#endif
