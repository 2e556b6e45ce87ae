/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Levels of multigrid: matrices of 3 x 3 blocks, by rows of nodes as PETSc's AIJ stores them.
 *
 * The three rows of a node follow each other and have the same columns, 3 of each neighbour, so one
 * number per block says where they stand.  The columns of this rank's nodes are one part, those of
 * ghosts (other ranks' nodes, numbered from 0) another.  Single precision holds of a symmetric
 * matrix each block of the first part once: those from the diagonal on.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INLINE static inline __attribute__((always_inline))
#define AHEAD 4096 /* bytes that prefetching is ahead */

#ifdef __AVX512F__ /* as many lanes as a register has */
enum { SINGLES = 16, DOUBLES = 8 };
#else
enum { SINGLES = 8, DOUBLES = 4 };
#endif
typedef double doubles __attribute__((vector_size(8 * DOUBLES), aligned(8), may_alias));
typedef float singles __attribute__((vector_size(4 * SINGLES), aligned(4), may_alias));

typedef struct { /* places of blocks */
  const int32_t *start, *column;
} Part;

typedef struct { /* messages between neighbours; buffers and ranks are those of the requests */
  int32_t forward, backward, packed;
  int32_t neighbours[2], sent[2]; /* messages and bytes that leave, forward and backward */
  void *to_ghosts, *from_ghosts, *status;
  const int32_t *list; /* own nodes that are ghosts elsewhere, in the order of `buffer` */
  float *buffer;
} Exchange;

typedef struct { /* of all messages and reductions that were begun on this rank, ever */
  int64_t messages, bytes, reductions, reduced; /* reduced: bytes */
} Counts;

typedef struct { /* of MPI; NULL on one rank */
  int (*start)(int, void *);
  int (*wait)(int, void *, void *);
  int (*allreduce)(const void *, void *, int, void *, void *, void *);
  void *real, *single, *sum, *largest, *comm;
  Counts *counts;
} Messages;

typedef struct { /* the vector of PETSc, and its state, that numbers are the same as; 0: none */
  int64_t vector, state;
} Known;

typedef struct { /* skew matrices of n cells: numbers of `width` rows of each, ghosts behind own ones, or -1 */
  int32_t n, width;
  const int32_t *rows;
  const double *values;
} Skew;

typedef struct { /* further entries of a level, in whole rows */
  Part own, off;
  const float *values, *off_values;
} Rest;

typedef struct {
  int32_t nodes, ghosts, symmetric, degree, longest; /* longest: floats of a row, filled up */
  Part own, off;
  const int32_t *diagonal; /* place of each node's block on the diagonal */
  const uint8_t *prescribed;     /* bits of the components that are fixed, or NULL */
  Part coarse;             /* interpolation: rows of nodes and ghosts, columns of the coarse level */
  const float *weight;
  int32_t shared, coarse_shared; /* whether all ranks hold all of it */
  float *values, *off_values, *inverse, *row; /* row: room for three rows */
  float *x, *b, *d, *r;
  int32_t skews; /* of the finest level, beside its symmetric part */
  const Skew *skew;
  double skew_scale; /* by which they are to be divided */
  const Rest *rest;  /* of the finest level; NULL: there is none */
  double largest, lowest; /* eigenvalues of D^-1 A that the polynomial reduces */
  Exchange *exchange;
  double *spent; /* CPU time at this level, and that of it in waits [s]; NULL: not asked for */
  Known of_x, of_b;
} Level;

typedef struct { /* the last level: inverses of diagonal blocks of unknowns first[p] to first[p + 1] */
  int32_t parts;
  const int32_t *first;
  const float *inverse;
} Coarsest;

typedef struct {
  int32_t levels;
  Level *level;
  Coarsest coarsest;
  const Messages *messages;
  double scale; /* entries in single precision are divided by it */
  double unit;  /* and right-hand sides: a power of two that symancf_measure finds */
  int32_t plain; /* whether cycles are single V-cycles, whose levels pass on what is in single precision */
} Hierarchy;

typedef struct { /* of PETSc; vectors, matrices and preconditioners by their addresses */
  int (*read)(void *, const double **), (*end_read)(void *, const double **);
  int (*write)(void *, double **), (*end_write)(void *, double **);
  int (*of_matrix)(void *, void *), (*of_preconditioner)(void *, void *);
  int (*id)(void *, int64_t *), (*state)(void *, int64_t *);
} Petsc;

typedef struct { /* what PETSc's shells of a level hold */
  Hierarchy *hierarchy;
  int32_t level;
} Shell;

typedef struct { /* of a level without entries: vertices, this rank's first; see p_level.h */
  int32_t vertices, owned, nodes; /* nodes: this rank's corners */
  const int32_t *place;       /* [vertices] of the first of three coordinates; -1: it has no rows */
  const int32_t *corner;      /* [vertices] number among corners, nodes + number of a ghost, or -1 */
  const uint8_t *prescribed;  /* [vertices] bits of the components that are fixed */
  const uint8_t *held;        /* [nodes] those that corners do not have */
  Part linear;                /* interpolation: rows and columns are vertices */
  const float *weight;
  float *inverse; /* [owned][9] of the blocks on the diagonal, divided by `scale` */
  double scale, unit;
  float *x, *b, *d, *r;
} Nodes;

typedef struct { /* entries of a coarse level, divided by `unit` */
  int32_t nodes, ghosts, upper; /* upper: of own nodes the blocks from the diagonal on alone */
  Part own, off, ghost; /* rows of ghosts have all columns, and go to their owners */
  float *values, *off_values;
  double *diagonal; /* [nodes][9] sums of the blocks of rows, and then the blocks on the diagonal */
  double *ghost_values;
  double unit;
} Coarse;

INLINE void ahead(const void *at, int64_t bytes)
{
  for (int64_t q = 0; q < bytes; q += 64) __builtin_prefetch((const char *)at + AHEAD + q);
}

INLINE double clock_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Begin the messages of one way: 0 to ghosts, 1 back. */
INLINE void start(const Messages *m, const Exchange *e, const int way)
{
  m->counts->messages += e->neighbours[way], m->counts->bytes += e->sent[way];
  m->start(way ? e->backward : e->forward, way ? e->from_ghosts : e->to_ghosts);
}

INLINE void await(const Messages *m, const Level *A, const int way)
{
  const Exchange *e = A->exchange;
  const double since = A->spent ? clock_now() : 0.0;
  m->wait(way ? e->backward : e->forward, way ? e->from_ghosts : e->to_ghosts, e->status);
  if (A->spent) A->spent[1] += clock_now() - since;
}

INLINE void reduce(const Messages *m, const Level *A, const void *own, void *to, const int n, void *type,
                   const int size, void *by)
{
  const double since = A->spent ? clock_now() : 0.0;
  m->counts->reductions++, m->counts->reduced += (int64_t)n * size;
  m->allreduce(own, to, n, type, by, m->comm);
  if (A->spent) A->spent[1] += clock_now() - since;
}
