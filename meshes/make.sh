#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Make all meshes of this folder again with Gmsh (made with 4.8.4).
set -eu
cd "$(dirname "$0")"
gmsh -2 silicone_plate.geo
gmsh -2 -setnumber n 8 silicone_plate.geo -o silicone_plate_8.msh
gmsh -2 -setnumber n 16 silicone_plate.geo -o silicone_plate_16.msh
gmsh -2 silicone_plate_unstructured.geo
gmsh -3 silicone_block.geo
gmsh -2 quarter_cylinder.geo
gmsh -1 cable.geo
gmsh -2 trunk.geo
gmsh -2 -setnumber n 12 -setnumber m 20 trunk.geo -o trunk_12x20.msh
gmsh -2 inflated_cylinder.geo
gmsh -2 -setnumber m 32 inflated_cylinder.geo -o inflated_cylinder_16x32.msh
