// SPDX-License-Identifier: BSD-3-Clause
// Mid-surface of the silicone cantilever plate, 0.18 x 0.16 m, in n x n quadrilaterals.
//
//   gmsh -2 silicone_plate.geo                        n = 4, silicone_plate.msh
//   gmsh -2 -setnumber n 8 silicone_plate.geo -o silicone_plate_8.msh

DefineConstant[ n = {4, Name "Divisions (even)"} ];
length = 0.18;
width = 0.16;

Point(1) = {0, 0, 0};
Point(2) = {length, 0, 0};
Point(3) = {length, width/2, 0};
Point(4) = {length, width, 0};
Point(5) = {0, width, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 1};
Curve Loop(1) = {1, 2, 3, 4, 5};
Plane Surface(1) = {1};

Transfinite Curve{1, 4, 5} = n + 1;
Transfinite Curve{2, 3} = n/2 + 1;
Transfinite Surface{1} = {1, 2, 4, 5};
Recombine Surface{1};

Physical Surface("plate") = {1};
Physical Curve("root") = {5};
Physical Curve("tip") = {2, 3};
Physical Point("P") = {3};

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
