/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembler of all terms as assembler.py fills it in, and the rows of the matrix it writes to.
 *
 * The local vector holds all coordinates of all local vertices (owned first, then ghosts),
 * fixed ones included.  A matrix row exists for a free coordinate of an owned vertex.  All
 * rows of a vertex share one column pattern (all free coordinates of all adjacent vertices),
 * so the place of a vertex pair is one offset that holds for each of its rows.
 */
#ifndef SYMANCF_ASSEMBLER_H
#define SYMANCF_ASSEMBLER_H

#include "symancf_kernel.h"
#include "half.h"

#include <stdint.h>
#include <string.h>

/* Codes, types and, in a term, addresses of the functions of kernels: those of the table. */
#define MODE_CODE(CODE, name, ...) CODE,
#define MODE_TYPE(CODE, name, ...) \
  typedef int (*symancf_##name)(int lanes, const double *uniform, const double *cell, \
                                const double *reference, __VA_ARGS__);
#define MODE_FIELD(CODE, name, ...) symancf_##name name;
enum { SYMANCF_MODES(MODE_CODE) LINEARIZE };
SYMANCF_MODES(MODE_TYPE)

typedef struct {
  int32_t tabulated, symmetric, has_tangent;
  int32_t compact; /* where there is no force there is no tangent: most entities, in contact */
  int32_t n;         /* entities */
  int32_t cell_rows; /* parameters per entity */
  SYMANCF_MODES(MODE_FIELD) /* NULL: the kernel has no such function */
  const int32_t *form_end, *form; /* forms it is made of: end of their entities, numbers */
  double *uniform; /* uniform parameters */
  const double *cell;    /* [batches][cell_rows][8] */
  const double *uniform_rate, *cell_rate; /* a direction of both; NULL: zero */
  double *by_uniform, *by_cell; /* [batches][uniform_rows or cell_rows][8] of PULL; NULL: nothing */
  const double *seed;           /* [batches][cell_rows][8] */
  int32_t uniform_rows;
  double *table;      /* [batches][table_rows][8], what kernels tell of points; NULL: nothing */
  int32_t table_rows;
  const uint8_t *owned;  /* [n] this rank counts the entity's energy */
  const int32_t *vertex_start; /* [n + 1]; of points on facets for each contact element instead */
  const int32_t *vertices;     /* local vertex numbers */
  const int64_t *pair_start;   /* [n + 1] into positions */
  const int32_t *positions;    /* offset of vertex j in the rows of i; ~offset off-diagonal */
  const void *half_places; /* [n][pairs I < J of corners] in rows of a half; NULL: there is none */
  int32_t half_wide;       /* whether they are numbers of 16 bits, else 8 */
  double *skew; /* [n][3 corners][3 corners] skew parts of matrices of cells that are not symmetric; or NULL */
  int32_t linear;          /* corners whose linear functions COARSE takes */
  int32_t moments_rows;    /* rows of MOMENTS */
  void *at_points;         /* [batches][moments_rows][8] what MOMENTS tells, by its scales: moments.h */
  int32_t points_wide;     /* whether these are of 32 bits, else 16 */
  float *point_scales;     /* [batches][groups of POINT_ROWS rows][8], times a factor */
  double moments_factor;
  /* cells */
  int32_t corners, vectors; /* nodes of a cell, coefficient vectors of a node */
  int32_t parts, mapped; /* runs of vectors that follow each other; how many, the last, are mapped */
  const int32_t *width;  /* [parts] vectors in each */
  const int32_t *blocks; /* [n][corners][parts] their local offsets by `stride` */
  int32_t stride;
  const double *maps;    /* [batches][corners][mapped][mapped][8] */
  int32_t functions; /* of the kernel, where a map of the whole cell makes their coefficients; or 0 */
  const int32_t *column_first, *map_row; /* that map by columns: [vectors + 1], rows of its values */
  const double *cell_map; /* [batches][values][8] */
  int32_t nodes; /* of a cell with such a map, where the vectors of each begin: [nodes + 1] */
  const int32_t *node_first;
  int32_t rates; /* place of d rate / d coordinate in uniform, of kernels that know rates; or -1 */
  int32_t scalars; /* coordinates of a cell behind those of its corners, a vertex for each */
  const int32_t *scalar; /* [n][scalars] their local offsets */
  /* entities */
  int32_t jets;
  const int32_t *entry_start; /* [n + 1] */
  const int32_t *entry_jet;
  const int32_t *entry_coordinate; /* offset c in the local vector; ~c: its rate, without force */
  const int32_t *entry_vertex;     /* number of the vertex within the entity */
  const double *entry_value;
  const int32_t *entry_column; /* number of its coordinate among those of the entity */
  const int32_t *column_start; /* [n + 1] */
  const int32_t *column_coordinate, *column_vertex;
  int32_t columns; /* the most that an entity has */
  const struct symancf_closest_points *closest_points; /* of points on facets, closest_points.h */
  struct symancf_linearized *linearized; /* their tangent at one state, linearized.h; NULL: none */
} symancf_term;

typedef struct {
  int32_t terms;
  symancf_term *term;
  const double *reference;     /* reference coordinates, local vector */
  int32_t coordinates;         /* length of local vectors */
  const int32_t *row;          /* per coordinate: owned free row or -1 */
  const int32_t *rank_in_vertex; /* per coordinate: number among its vertex's free ones or -1 */
  const int32_t *vertex_row;   /* per vertex: its first row if owned, else -1 */
  int32_t owned, rows;         /* vertices, and rows of the matrix, on this rank */
  const uint8_t *vertex_plain; /* per vertex: all coordinates free */
  const int32_t *diagonal_start, *off_start; /* CSR row pointers */
  double *diagonal, *off;                     /* value arrays */
  const symancf_half *half; /* where tangents of nodes go in the place of these; or NULL */
  const double *rate;        /* rates of the coordinates, local vector; NULL: zero */
  const double *rate_factor; /* d rate / d coordinate of the time integrator; NULL: zero */
} symancf_assembler;

/*
 * The rows of a vertex are set to zero just before the first batch that adds to them: entities
 * follow the order of the rows, so the rows are still in cache when the values arrive.
 */
static void clear_rows(const symancf_assembler *assembler, int32_t *cleared, int32_t up_to)
{
  if (up_to <= *cleared) return;
  const int32_t first = assembler->vertex_row[*cleared];
  const int32_t last = up_to < assembler->owned ? assembler->vertex_row[up_to] : assembler->rows;
  const int32_t *d = assembler->diagonal_start, *o = assembler->off_start;
  *cleared = up_to;
  if (assembler->half) {
    const int32_t n = assembler->half->nodes; /* other rows follow, which are not there */
    if (!assembler->half->adds) clear_half(assembler->half, first / 3 < n ? first / 3 : n, last / 3 < n ? last / 3 : n);
    return;
  }
  memset(assembler->diagonal + d[first], 0, (size_t)(d[last] - d[first]) * sizeof(double));
  memset(assembler->off + o[first], 0, (size_t)(o[last] - o[first]) * sizeof(double));
}

/* Clear the rows of all owned vertices up to the last one of some entities. */
static void clear_for(const symancf_assembler *assembler, const symancf_term *t, int first, int lanes,
                      int32_t *cleared)
{
  int32_t last = *cleared - 1;
  if (*cleared >= assembler->owned) return;
  for (int32_t p = t->vertex_start[first]; p < t->vertex_start[first + lanes]; p++)
    if (t->vertices[p] > last && t->vertices[p] < assembler->owned) last = t->vertices[p];
  clear_rows(assembler, cleared, last + 1);
}

/* Number of coefficient vectors of a cell: of its corners, then of its scalars, three in each. */
static inline int coefficients(const symancf_term *t)
{
  return t->corners * t->vectors + (t->scalars + 2) / 3;
}

/* Number of coefficient vectors that the kernel of a term takes. */
static inline int kernel_coefficients(const symancf_term *t)
{
  return t->functions ? t->functions : coefficients(t);
}

/* Add the energies W of a batch to those of the forms; `form` counts those it has come to. */
static inline void add_energies(const symancf_term *t, int first, int lanes, const double *W,
                                int32_t *form, double *energies)
{
  for (int l = 0; l < lanes; l++) {
    while (first + l >= t->form_end[*form]) ++*form;
    if (t->owned[first + l]) energies[t->form[*form]] += W[l];
  }
}

/* Whether kernels tell of points, in `table`, and the function by which one does. */
static inline int tabulates(int what)
{
  return what == OUTPUTS || what == UPDATE || what == INITIAL;
}

static inline symancf_outputs function_of(const symancf_term *t, int what)
{
  return what == OUTPUTS ? t->outputs : what == UPDATE ? t->update : t->initial;
}

/* Number of vertices of an entity. */
static inline int32_t vertices_of(const symancf_term *t, int entity)
{
  return t->vertex_start[entity + 1] - t->vertex_start[entity];
}

/* The values of a row from the place of a vertex pair on; a place off the diagonal is ~place. */
static inline double *row_values(const symancf_assembler *assembler, int32_t row, int32_t position)
{
  return position >= 0 ? assembler->diagonal + assembler->diagonal_start[row] + position
                       : assembler->off + assembler->off_start[row] + ~position;
}

#endif
