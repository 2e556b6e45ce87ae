// SPDX-License-Identifier: BSD-3-Clause
// Mid-surface of a cylinder about the x axis in n x m quadrilaterals around and along, normals
// inward. Vertices lie on the cylinder; "hoop" is the circle in the middle, A and B lie on the
// meridian z = radius, A on the hoop and B at a quarter of the length.
//
//   gmsh -2 inflated_cylinder.geo                             16 x 8, radius 0.2 m, length 0.4 m
//   gmsh -2 -setnumber n 32 -setnumber m 16 inflated_cylinder.geo -o inflated_cylinder_32x16.msh

DefineConstant[ n = {16, Name "Around (a multiple of four)"} ];
DefineConstant[ m = {8, Name "Along (a multiple of four)"} ];
DefineConstant[ radius = {0.2, Name "Radius [m]"}, length = {0.4, Name "Length [m]"} ];

Point(1) = {0, 0, 0};
For k In {0:3}
  Point(10 + k) = {0, radius*Sin(k*Pi/2), radius*Cos(k*Pi/2)};
EndFor
For k In {0:3}
  Circle(20 + k) = {10 + k, 1, 10 + (k + 1)%4};
EndFor
Transfinite Curve{20:23} = n/4 + 1;

// Extruding a curve returns {its end, the surface, its sides}; the first curve starts at z = radius.
rim[] = {20:23};
wall[] = {};
For part In {0:2}
  share = 0.25;
  If (part == 2)
    share = 0.5;
  EndIf
  next[] = {};
  For k In {0:3}
    out[] = Extrude{share*length, 0, 0}{ Curve{rim[k]}; Layers{share*m}; Recombine; };
    next[] += {out[0]};
    wall[] += {out[1]};
  EndFor
  rim[] = next[];
  If (part == 1)
    hoop[] = next[];
  EndIf
EndFor

e = 1e-6;
Physical Surface("wall") = {wall[]};
Physical Curve("ends") = {20:23, rim[]};
Physical Curve("hoop") = {hoop[]};
Physical Point("A") = {Point In BoundingBox{length/2 - e, -e, radius - e, length/2 + e, e, radius + e}};
Physical Point("B") = {Point In BoundingBox{length/4 - e, -e, radius - e, length/4 + e, e, radius + e}};

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
