// SPDX-License-Identifier: BSD-3-Clause
// Mid-surface of a tapered tube about the y axis: radius 0.16 m at the root (y = 0), 0.04 m at the
// tip (y = 1.5 m), in n x m quadrilaterals around and along. Vertices lie on the cone.
//
//   gmsh -2 trunk.geo                                          8 x 15, trunk.msh
//   gmsh -2 -setnumber n 12 -setnumber m 20 trunk.geo -o trunk_12x20.msh

DefineConstant[ n = {8, Name "Around (a multiple of four)"}, m = {15, Name "Along"} ];
upper = 0.16;
lower = 0.04;
length = 1.5;

Point(1) = {0, 0, 0};
Point(2) = {0, length, 0};
For k In {0:3}
  Point(10 + k) = {upper*Cos(k*Pi/2), 0, upper*Sin(k*Pi/2)};
  Point(20 + k) = {lower*Cos(k*Pi/2), length, lower*Sin(k*Pi/2)};
  Line(30 + k) = {10 + k, 20 + k};
EndFor
For k In {0:3}
  next = (k + 1)%4;
  Circle(40 + k) = {10 + k, 1, 10 + next};
  Circle(50 + k) = {20 + k, 2, 20 + next};
  Curve Loop(60 + k) = {30 + k, 50 + k, -(30 + next), -(40 + k)};
  Surface(70 + k) = {60 + k};
EndFor

Transfinite Curve{30:33} = m + 1;
Transfinite Curve{40:43, 50:53} = n/4 + 1;
Transfinite Surface{70:73};
Recombine Surface{70:73};

Physical Surface("trunk") = {70:73};
Physical Curve("root") = {40:43};
Physical Curve("tip") = {50:53};

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
