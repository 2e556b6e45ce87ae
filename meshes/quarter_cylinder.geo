// SPDX-License-Identifier: BSD-3-Clause
// Quarter of a cylinder surface about the y axis: radius 0.1 m, length 0.2 m, in quadrilaterals
// whose vertices lie on the cylinder. "clamped" is the edge at z = 0, "free" the one at x = 0.
//
//   gmsh -2 quarter_cylinder.geo
//   gmsh -2 -setnumber n 16 quarter_cylinder.geo -o finer.msh

DefineConstant[ n = {8, Name "Divisions"} ];
radius = 0.1;
length = 0.2;

Point(1) = {0, 0, 0};
Point(2) = {radius, 0, 0};
Point(3) = {0, 0, radius};
Circle(1) = {2, 1, 3};
Transfinite Curve{1} = n + 1;
// out[1] is the surface, out[2] and out[3] the straight edges at the ends of the arc.
out[] = Extrude{0, length, 0}{ Curve{1}; Layers{n}; Recombine; };

Physical Surface("shell") = {out[1]};
Physical Curve("clamped") = {Abs(out[3])};
Physical Curve("free") = {Abs(out[2])};
Physical Curve("rim") = {1, Abs(out[0])};

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
