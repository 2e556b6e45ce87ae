/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A level above those of entries, of cells of second order, whose products kernels make; see p_multigrid.py.
 *
 * Vectors are local ones of all coordinates, in single precision: of right-hand sides divided by `unit`, and
 * of entries divided by `scale`, powers of two.
 */

/* The largest number. */
double symancf_largest(int64_t n, const double *r)
{
  double size = 0.0;
  for (int64_t k = 0; k < n; k++) size = fabs(r[k]) > size ? fabs(r[k]) : size;
  return size;
}

/* Find the unit of right-hand sides, of which `size` is the largest number. */
void symancf_measure_nodes(Nodes *n, double size)
{
  int power = 0;
  if (size > 0.0 && size <= 1.7e308) frexp(size, &power);
  n->unit = ldexp(1.0, power < -1000 ? -1000 : power > 1000 ? 1000 : power);
}

/* b = rows, by units: those of this rank's nodes follow each other. */
void symancf_take_nodes(const Nodes *n, const double *rows)
{
  for (int32_t v = 0; v < n->owned; v++)
    for (int c = 0; n->place[v] >= 0 && c < 3; c++, rows++)
      n->b[n->place[v] + c] = n->prescribed[v] >> c & 1 ? 0.0f : (float)(*rows / n->unit);
}

/* rows = x */
void symancf_give_nodes(const Nodes *n, double *rows)
{
  const double factor = n->unit / n->scale;
  for (int32_t v = 0; v < n->owned; v++)
    for (int c = 0; n->place[v] >= 0 && c < 3; c++, rows++) *rows = n->x[n->place[v] + c] * factor;
}

/* Invert the blocks D, divided by `scale`, without components that are fixed. */
void symancf_invert_nodes(const Nodes *n, const double *D)
{
  for (int32_t v = 0; v < n->owned; v++) {
    double block[9];
    if (n->place[v] < 0) continue;
    for (int k = 0; k < 9; k++) {
      const int fixed = (n->prescribed[v] >> k / 3 | n->prescribed[v] >> k % 3) & 1;
      block[k] = fixed ? 0.0 : D[9 * (int64_t)v + k] / n->scale;
    }
    invert(block, n->inverse + 9 * (int64_t)v);
  }
}

/* to = D^-1 from. */
void symancf_solve_nodes(const Nodes *n, const float *from, float *to)
{
  for (int32_t v = 0; v < n->owned; v++)
    if (n->place[v] >= 0) solve_block(n->inverse + 9 * (int64_t)v, from + n->place[v], to + n->place[v]);
}

/* A step of the polynomial, see `advance`, with r = A x; from x = 0 if `first`. */
void symancf_step_nodes(const Nodes *n, int32_t first, double factor, double keep)
{
  const float by = (float)factor, before = (float)keep;
  for (int32_t v = 0; v < n->owned; v++) {
    const int32_t k = n->place[v];
    float f[3], z[3];
    if (k < 0) continue;
    for (int c = 0; c < 3; c++) f[c] = first ? n->b[k + c] : n->b[k + c] - n->r[k + c];
    solve_block(n->inverse + 9 * (int64_t)v, f, z);
    for (int c = 0; c < 3; c++) {
      n->d[k + c] = by * z[c] + (before != 0.0f ? before * n->d[k + c] : 0.0f);
      n->x[k + c] = first ? n->d[k + c] : n->x[k + c] + n->d[k + c];
    }
  }
}

/* r = b - r of this rank's nodes, 0 where a component is fixed. */
void symancf_residual_nodes(const Nodes *n)
{
  for (int32_t v = 0; v < n->owned; v++)
    for (int c = 0; n->place[v] >= 0 && c < 3; c++) {
      const int32_t k = n->place[v] + c;
      n->r[k] = n->prescribed[v] >> c & 1 ? 0.0f : n->b[k] - n->r[k];
    }
}

/* to = P^T r of this rank's corners; r has the values of ghosts. */
void symancf_restrict_nodes(const Nodes *n, double *to)
{
  memset(to, 0, 3 * (size_t)n->nodes * sizeof *to);
  for (int32_t v = 0; v < n->vertices; v++) {
    if (n->place[v] < 0) continue;
    for (int32_t q = n->linear.start[v]; q < n->linear.start[v + 1]; q++) {
      const int32_t J = n->corner[n->linear.column[q]];
      if (J < 0 || J >= n->nodes) continue;
      for (int c = 0; c < 3; c++)
        if (!(n->held[J] >> c & 1)) to[3 * (int64_t)J + c] += n->unit * n->weight[q] * n->r[n->place[v] + c];
    }
  }
}

/* r = y at this rank's corners, of y by their numbers. */
void symancf_spread_nodes(const Nodes *n, const double *y)
{
  const double factor = n->scale / n->unit;
  for (int32_t v = 0; v < n->owned; v++)
    for (int c = 0; n->corner[v] >= 0 && c < 3; c++)
      n->r[n->place[v] + c] = (float)(y[3 * (int64_t)n->corner[v] + c] * factor);
}

/* x += P r of this rank's nodes; r has the values of ghosts. */
void symancf_prolong_nodes(const Nodes *n)
{
  for (int32_t v = 0; v < n->owned; v++) {
    if (n->place[v] < 0) continue;
    for (int32_t q = n->linear.start[v]; q < n->linear.start[v + 1]; q++) {
      const int32_t J = n->linear.column[q];
      if (n->corner[J] < 0) continue;
      for (int c = 0; c < 3; c++)
        if (!(n->prescribed[v] >> c & 1)) n->x[n->place[v] + c] += n->weight[q] * n->r[n->place[J] + c];
    }
  }
}
