/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of levels: interpolation between grids, components, the pattern of coarse matrices. */

#define TINY 1e-7 /* weights below are left out: nodes on a grid's planes are there but for round-off */

/*
 * Corners of the grid cells that hold points, and trilinear weights.  g (n, 3): coordinates by the
 * spacing; grid (n,): which grid; bits of an index along an axis.  Writes start (n + 1), and key and
 * weight with room for 8 n.
 */
int64_t symancf_interpolate(int32_t n, int32_t bits, const double *g, const int64_t *grid, int32_t *start, int64_t *key,
                            float *weight)
{
  int64_t count = 0;
  start[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    int64_t at[3];
    double w[3];
    for (int a = 0; a < 3; a++) {
      const double low = floor(g[3 * (int64_t)i + a] + TINY), part = g[3 * (int64_t)i + a] - low;
      at[a] = (int64_t)low;
      w[a] = part < TINY ? 0.0 : part;
    }
    for (int corner = 0; corner < 8; corner++) {
      double product = 1.0;
      int64_t number = grid[i];
      for (int a = 0; a < 3; a++) {
        const int up = corner >> a & 1;
        product *= up ? w[a] : 1.0 - w[a];
        number = number << bits | (at[a] + up);
      }
      if (product < TINY) continue;
      key[count] = number;
      weight[count++] = (float)product;
    }
    start[i + 1] = (int32_t)count;
  }
  return count;
}

/*
 * Number the distinct keys in the order in which they appear: number (n,), unique (room for n).
 * Returns how many, or -1 without memory.
 */
int64_t symancf_distinct(int64_t n, const int64_t *key, int32_t *number, int64_t *unique)
{
  int64_t size = 64, count = 0, done = 0;
  int32_t *table = NULL;
  while (done < n) { /* the table grows with what is found */
    if (!table || 2 * count > size) {
      free(table);
      size *= table ? 4 : 1;
      if (!(table = malloc((size_t)size * sizeof *table))) return -1;
      memset(table, 0xff, (size_t)size * sizeof *table);
      for (int64_t k = 0; k < count; k++) {
        uint64_t h = (uint64_t)unique[k] * 0x9E3779B97F4A7C15u >> 20;
        while (table[h & (uint64_t)(size - 1)] >= 0) h++;
        table[h & (uint64_t)(size - 1)] = (int32_t)k;
      }
    }
    for (; done < n && 2 * count <= size; done++) {
      uint64_t h = (uint64_t)key[done] * 0x9E3779B97F4A7C15u >> 20;
      int32_t at;
      while ((at = table[h & (uint64_t)(size - 1)]) >= 0 && unique[at] != key[done]) h++;
      if (at < 0) {
        at = table[h & (uint64_t)(size - 1)] = (int32_t)count;
        unique[count++] = key[done];
      }
      number[done] = at;
    }
  }
  free(table);
  return count;
}

/* Rows of P by columns: those of column J and their entries are first[J] to first[J + 1]; room for total + 2. */
static void transpose(const Part *P, const int32_t rows, const int32_t total, int32_t *first, int32_t *row,
                      int32_t *entry)
{
  memset(first, 0, ((size_t)total + 2) * sizeof *first);
  for (int32_t q = 0; q < P->start[rows]; q++) first[P->column[q] + 2]++;
  for (int32_t J = 0; J < total; J++) first[J + 2] += first[J + 1];
  for (int32_t i = 0; i < rows; i++)
    for (int32_t q = P->start[i]; q < P->start[i + 1]; q++) {
      const int32_t at = first[P->column[q] + 1]++;
      row[at] = i;
      if (entry) entry[at] = q;
    }
}

static int32_t root(int32_t *parent, int32_t k)
{
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

/* Join a node with those of its neighbours that have the same mark; returns how many components are less. */
static int32_t join(const Level *A, const int32_t i, const int32_t J, const int32_t *mark, const int32_t *place,
                    int32_t *parent)
{
  int32_t less = 0;
  for (int part = 0; part < (A->ghosts ? 2 : 1); part++) {
    const Part *p = part ? &A->off : &A->own;
    for (int32_t k = p->start[i]; k < p->start[i + 1]; k++) {
      const int32_t j = p->column[k] + (part ? A->nodes : 0);
      if (mark[j] != J) continue;
      const int32_t a = root(parent, place[i]), b = root(parent, place[j]);
      if (a == b) continue;
      parent[a > b ? a : b] = a > b ? b : a;
      less++;
    }
  }
  return less;
}

/*
 * Connected components of the nodes at which each grid node has a weight, by this rank's rows of A.
 * Writes to `component` that of each entry of P: those of grid node J are begin[J] to begin[J + 1].
 * Returns how many there are, or -1 without memory.
 */
int64_t symancf_components(const Level *A, int32_t total, int32_t *begin, int32_t *component)
{
  const Part *P = &A->coarse;
  const int32_t local = A->nodes + A->ghosts, used = P->start[local];
  int32_t *first = malloc(((size_t)total + 2) * 4), *row = malloc(((size_t)used + 1) * 4);
  int32_t *entry = malloc(((size_t)used + 1) * 4), *mark = malloc(((size_t)local + 1) * 4);
  int32_t *place = malloc(((size_t)local + 1) * 4), *parent = malloc(((size_t)local + 1) * 4);
  int32_t count = 0;
  if (!first || !row || !entry || !mark || !place || !parent) count = -1;
  else {
    transpose(P, local, total, first, row, entry);
    memset(mark, 0xff, (size_t)local * 4);
    begin[0] = 0;
    for (int32_t J = 0; J < total; J++) {
      const int32_t n = first[J + 1] - first[J], *rows = row + first[J], *entries = entry + first[J];
      int32_t left = n, middle = 0;
      for (int32_t k = 0; k < n; k++) {
        mark[rows[k]] = J, place[rows[k]] = parent[k] = k;
        if (rows[k] < A->nodes && A->weight[entries[k]] > A->weight[entries[middle]]) middle = k;
      }
      /* most often all are neighbours of the one in the middle */
      if (n && rows[middle] < A->nodes) left -= join(A, rows[middle], J, mark, place, parent);
      for (int32_t k = 0; k < n && left > 1; k++)
        if (rows[k] < A->nodes) left -= join(A, rows[k], J, mark, place, parent);
      for (int32_t k = 0; k < n; k++) { /* roots are the least of each */
        const int32_t r = root(parent, k);
        component[entries[k]] = r == k ? count++ : component[entries[r]];
      }
      begin[J + 1] = count;
    }
  }
  free(first);
  free(row);
  free(entry);
  free(mark);
  free(place);
  free(parent);
  return count;
}

static int ascending(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* What the search for columns of P^T A P needs: P^T by rows, and room for lists of nodes and of columns. */
typedef struct {
  const Level *A;
  int32_t *first, *nodes, *seen, *met, *near, *found;
} Search;

static void begin_search(const Search *s, const int32_t total)
{
  memset(s->seen, 0xff, (size_t)(s->A->nodes + s->A->ghosts) * 4);
  memset(s->met, 0xff, (size_t)total * 4);
}

/* Append those of some columns that row J has not yet to the m that it has found; returns their number. */
static int32_t take_columns(const Search *s, const int32_t J, int32_t m, const int32_t *column, const int32_t n)
{
  for (int32_t k = 0; k < n; k++) {
    if (s->met[column[k]] == J) continue;
    s->met[column[k]] = J;
    s->found[m++] = column[k];
  }
  return m;
}

/* The same of the columns that one part of A's rows makes; those of ghosts count from `behind`. */
static int32_t search(const Search *s, const Part *part, const int32_t behind, const int32_t J, int32_t m)
{
  const Part *P = &s->A->coarse;
  int32_t n = 0;
  for (int32_t q = s->first[J]; q < s->first[J + 1]; q++)
    for (int32_t k = part->start[s->nodes[q]]; k < part->start[s->nodes[q] + 1]; k++) {
      const int32_t j = part->column[k] + behind;
      if (s->seen[j] == J) continue;
      s->seen[j] = J;
      s->near[n++] = j;
    }
  for (int32_t k = 0; k < n; k++) {
    const int32_t at = P->start[s->near[k]];
    m = take_columns(s, J, m, P->column + at, P->start[s->near[k] + 1] - at);
  }
  return m;
}

/* Columns that the upper half of A makes, and the same transposed: start, columns of each; 1 without memory. */
static int search_half(const Search *s, const int32_t total, int32_t *start[2], int32_t *column[2])
{
  int64_t room = 0;
  start[0][0] = 0;
  for (int32_t J = 0; J < total; J++) {
    const int32_t at = start[0][J], m = search(s, &s->A->own, 0, J, 0);
    if (at + (int64_t)m > room) {
      room = 2 * (at + (int64_t)m);
      int32_t *more = realloc(column[0], (size_t)room * 4);
      if (!more) return 1;
      column[0] = more;
    }
    if (m) memcpy(column[0] + at, s->found, (size_t)m * 4);
    start[0][J + 1] = at + m;
  }
  column[1] = malloc(((size_t)start[0][total] + 1) * 4);
  if (!column[1]) return 1;
  const Part found = {start[0], column[0]};
  transpose(&found, total, total, start[1], column[1], NULL);
  begin_search(s, total);
  return 0;
}

/*
 * Columns of the rows of P^T A P that this rank's rows make, ascending: start (total + 1) and,
 * unless NULL, columns.  `upper`: of the blocks between this rank's nodes A has those from the
 * diagonal on alone.  Returns the number of blocks, or -1 without memory.
 */
int64_t symancf_coarse_pattern(const Level *A, int32_t upper, int32_t total, int64_t *start, int32_t *columns)
{
  const Part *P = &A->coarse;
  const size_t local = (size_t)(A->nodes + A->ghosts) + 1, used = (size_t)P->start[A->nodes] + 1, n = (size_t)total + 2;
  const Search s = {A, malloc(n * 4), malloc(used * 4), malloc(local * 4), malloc(n * 4), malloc(local * 4), malloc(n * 4)};
  int32_t *of_half[2] = {malloc(n * 4), malloc(n * 4)}, *half[2] = {NULL, NULL};
  int64_t count = 0;
  if (!s.first || !s.nodes || !s.seen || !s.met || !s.near || !s.found || !of_half[0] || !of_half[1]) count = -1;
  else {
    transpose(P, A->nodes, total, s.first, s.nodes, NULL);
    begin_search(&s, total);
    if (upper && search_half(&s, total, of_half, half)) count = -1;
  }
  start[0] = 0;
  for (int32_t J = 0; J < total && count >= 0; J++) {
    int32_t m = 0;
    for (int side = 0; side < 2 && upper; side++)
      m = take_columns(&s, J, m, half[side] + of_half[side][J], of_half[side][J + 1] - of_half[side][J]);
    if (!upper) m = search(&s, &A->own, 0, J, m);
    if (A->ghosts) m = search(&s, &A->off, A->nodes, J, m);
    if (columns) {
      qsort(s.found, (size_t)m, 4, ascending);
      memcpy(columns + count, s.found, (size_t)m * 4);
    }
    count += m;
    start[J + 1] = count;
  }
  int32_t *rooms[] = {s.first, s.nodes, s.seen, s.met, s.near, s.found, of_half[0], of_half[1], half[0], half[1]};
  for (size_t k = 0; k < sizeof rooms / sizeof *rooms; k++) free(rooms[k]);
  return count;
}
