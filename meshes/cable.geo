// SPDX-License-Identifier: BSD-3-Clause
// A straight cable along x of 1 m in n lines, with its two ends named.
//
//   gmsh -1 cable.geo
//   gmsh -1 -setnumber n 64 cable.geo -o finer.msh

DefineConstant[ n = {16, Name "Divisions"} ];
length = 1;

Point(1) = {0, 0, 0};
Point(2) = {length, 0, 0};
Line(1) = {1, 2};
Transfinite Curve{1} = n + 1;

Physical Curve("cable") = {1};
Physical Point("start") = {1};
Physical Point("end") = {2};

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
