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
gmsh -2 -setnumber n 24 -setnumber m 12 -setnumber radius 0.1 -setnumber length 0.2 inflated_cylinder.geo -o tube_cavity.msh
gmsh -2 finger.geo
gmsh -2 -setnumber half 1 -setnumber n 2 -setnumber m 10 -setnumber m_ring 1 finger.geo -o finger_half.msh
gmsh -2 -setnumber cavities 1 -setnumber m 16 finger.geo -o cavity.msh
gmsh -2 -setnumber cavities 1 -setnumber n 2 -setnumber m 8 finger.geo -o cavity_24x8.msh
gmsh -3 finger_solid.geo
gmsh -3 -setnumber cavities 1 -setnumber m 8 finger_solid.geo -o cavity_solid.msh
