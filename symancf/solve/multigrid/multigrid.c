/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multigrid on auxiliary grids (Xu, The auxiliary space method and optimal multigrid preconditioning
 * techniques for unstructured grids, Computing 56, 1996), in single precision.
 */
#include "level.h"
#include "products.h"
#include "structure.h"
#include "galerkin.h"
#include "cycle.h"
#include "shells.h"
#include "p_level.h"
