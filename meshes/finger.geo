// SPDX-License-Identifier: BSD-3-Clause
// Mid-surface of a pneumatic finger along x in quadrilaterals, normals inward: the section is a D,
// half a circle of radius r about the x axis above (z > 0), side walls of height b, a flat base.
// From the root: cavity, ring of bone, cavity, end ring; or one cavity alone (cavities = 1).
//
//   gmsh -2 finger.geo                                     48 around, 20 + 2 + 20 + 2 along
//   gmsh -2 -setnumber cavities 1 finger.geo -o cavity.msh
//   gmsh -2 -setnumber half 1 finger.geo -o finger_half.msh       the half y > 0

DefineConstant[ n = {4, Name "Along a side wall; twice on half the base, three times on a quarter circle"} ];
DefineConstant[ m = {20, Name "Along a cavity"}, m_ring = {2, Name "Along a ring"} ];
DefineConstant[ cavities = {2, Choices{1, 2}, Name "Cavities"}, half = {0, Choices{0, 1}, Name "Half"} ];
r = 0.1;
a = 0.2;
b = 0.05;
ring = 0.02;

// from the top in the half y > 0 down to the middle of the base, and up again
Point(1) = {0, 0, 0};
Point(2) = {0, 0, r};
Point(3) = {0, r, 0};
Point(4) = {0, r, -b};
Point(5) = {0, 0, -b};
Circle(1) = {2, 1, 3};
Line(2) = {3, 4};
Line(3) = {4, 5};
rim[] = {1:3};
If (!half)
  Point(6) = {0, -r, -b};
  Point(7) = {0, -r, 0};
  Line(4) = {5, 6};
  Line(5) = {6, 7};
  Circle(6) = {7, 1, 2};
  rim[] += {4:6};
  Transfinite Curve{4} = 2*n + 1;
  Transfinite Curve{5} = n + 1;
  Transfinite Curve{6} = 3*n + 1;
EndIf
Transfinite Curve{1} = 3*n + 1;
Transfinite Curve{2} = n + 1;
Transfinite Curve{3} = 2*n + 1;

root[] = rim[];
silicone[] = {};
bone[] = {};
soft[] = {};
spine[] = {};
hard[] = {};
start = 0;
e = 1e-6;
For part In {0:2*cavities - 1}
  cavity = (part%2 == 0);
  step = (cavity ? a : ring);
  layers = (cavity ? m : m_ring);
  If (cavity || cavities > 1)
    next[] = {};
    For k In {0:#rim[] - 1}
      out[] = Extrude{step, 0, 0}{ Curve{rim[k]}; Layers{layers}; Recombine; };
      next[] += {out[0]};
      If (cavity)
        silicone[] += {out[1]};
      Else
        bone[] += {out[1]};
      EndIf
    EndFor
    rim[] = next[];
    cut[] = Curve In BoundingBox{start - e, -e, -1, start + step + e, e, 1};
    If (cavity)
      soft[] += cut[];
      spine[] += Curve In BoundingBox{start - e, -e, -b - e, start + step + e, e, -b + e};
    Else
      hard[] += cut[];
    EndIf
    start += step;
  EndIf
EndFor

Physical Surface("silicone") = {silicone[]};
If (cavities > 1)
  Physical Surface("bone") = {bone[]};
EndIf
Physical Curve("root") = {root[]};
Physical Curve("tip") = {rim[]};
Physical Curve("spine") = {spine[]};
If (half)
  Physical Curve("symmetry") = {soft[]};
  If (cavities > 1)
    Physical Curve("symmetry_bone") = {hard[]};
  EndIf
EndIf

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
