/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A check for developers: what would other round-off do?
 *
 * Compiled with SYMANCF_ROUND_OFF, every number that a kernel returns is multiplied by 1 + 1e-15 r,
 * where r in [-1, 1] is a pseudo-random function of symancf_seed, the number and its place (splitmix64
 * of S. Vigna): the same state has the same forces. Otherwise `disturb` is nothing.
 */
#ifndef SYMANCF_ROUNDOFF_H
#define SYMANCF_ROUNDOFF_H

#ifdef SYMANCF_ROUND_OFF

#include <stdint.h>
#include <string.h>

uint64_t symancf_seed = 1;

static void disturb(double *values, int64_t n)
{
  for (int64_t k = 0; k < n; k++) {
    uint64_t z;
    memcpy(&z, values + k, sizeof z);
    z += (uint64_t)(k + 1) * 0x9e3779b97f4a7c15u + symancf_seed * 0xd1342543de82ef95u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    values[k] *= 1.0 + 1e-15 * ((double)(int64_t)(z ^ (z >> 31)) * 0x1p-63);
  }
}

#else
#define disturb(values, n) ((void)(values), (void)(n))
#endif

#endif
