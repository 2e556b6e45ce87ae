// SPDX-License-Identifier: BSD-3-Clause
// Mid-surface of the silicone cantilever plate, 0.18 x 0.16 m, in unstructured quadrilaterals.
//
//   gmsh -2 silicone_plate_unstructured.geo
//   gmsh -2 -setnumber h 0.01 silicone_plate_unstructured.geo -o finer.msh

DefineConstant[ h = {0.024, Name "Edge length [m]"} ];
length = 0.18;
width = 0.16;

Point(1) = {0, 0, 0, h};
Point(2) = {length, 0, 0, h};
Point(3) = {length, width/2, 0, h};
Point(4) = {length, width, 0, h};
Point(5) = {0, width, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 1};
Curve Loop(1) = {1, 2, 3, 4, 5};
Plane Surface(1) = {1};

Mesh.Algorithm = 6;                // frontal
Mesh.RecombinationAlgorithm = 3;   // blossom, then every cell cut into quadrilaterals
Mesh.RecombineAll = 1;
Mesh.Smoothing = 10;

Physical Surface("plate") = {1};
Physical Curve("root") = {5};
Physical Curve("tip") = {2, 3};
Physical Point("P") = {3};

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
