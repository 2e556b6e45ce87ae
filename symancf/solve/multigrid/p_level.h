/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A level above those of entries, of cells of second order, whose products kernels make; see p_multigrid.py.
 *
 * Vectors are local ones of all coordinates, in double precision.
 */

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
void symancf_solve_nodes(const Nodes *n, const double *from, double *to)
{
  for (int32_t v = 0; v < n->owned; v++) {
    const int32_t k = n->place[v];
    const float *D = n->inverse + 9 * (int64_t)v;
    if (k < 0) continue;
    for (int a = 0; a < 3; a++)
      to[k + a] = (D[3 * a] * from[k] + D[3 * a + 1] * from[k + 1] + D[3 * a + 2] * from[k + 2]) / n->scale;
  }
}

/* A step of the polynomial, see `advance`, with r = A x; from x = 0 if `first`. */
void symancf_step_nodes(const Nodes *n, int32_t first, double factor, double keep)
{
  factor /= n->scale;
  for (int32_t v = 0; v < n->owned; v++) {
    const int32_t k = n->place[v];
    const float *D = n->inverse + 9 * (int64_t)v;
    double f[3];
    if (k < 0) continue;
    for (int c = 0; c < 3; c++) f[c] = first ? n->b[k + c] : n->b[k + c] - n->r[k + c];
    for (int a = 0; a < 3; a++) {
      const double z = D[3 * a] * f[0] + D[3 * a + 1] * f[1] + D[3 * a + 2] * f[2];
      n->d[k + a] = factor * z + (keep != 0.0 ? keep * n->d[k + a] : 0.0);
      n->x[k + a] = first ? n->d[k + a] : n->x[k + a] + n->d[k + a];
    }
  }
}

/* r = b - r of this rank's nodes, 0 where a component is fixed. */
void symancf_residual_nodes(const Nodes *n)
{
  for (int32_t v = 0; v < n->owned; v++)
    for (int c = 0; n->place[v] >= 0 && c < 3; c++) {
      const int32_t k = n->place[v] + c;
      n->r[k] = n->prescribed[v] >> c & 1 ? 0.0 : n->b[k] - n->r[k];
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
        if (!(n->held[J] >> c & 1)) to[3 * (int64_t)J + c] += n->weight[q] * n->r[n->place[v] + c];
    }
  }
}

/* r = y at this rank's corners, of y by their numbers. */
void symancf_spread_nodes(const Nodes *n, const double *y)
{
  for (int32_t v = 0; v < n->owned; v++)
    for (int c = 0; n->corner[v] >= 0 && c < 3; c++) n->r[n->place[v] + c] = y[3 * (int64_t)n->corner[v] + c];
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
