// SPDX-License-Identifier: BSD-3-Clause
// Half (y > 0) of the pneumatic finger of finger.geo as a solid in hexahedra: walls of thickness t
// about the same mid-surface, with layers through them.
//
//   gmsh -3 finger_solid.geo                               2 layers
//   gmsh -3 -setnumber cavities 1 finger_solid.geo -o cavity_solid.msh
//   gmsh -3 -setnumber layers 4 -setnumber n 8 -setnumber m 40 finger_solid.geo -o finer.msh

DefineConstant[ n = {2, Name "Along a side wall; twice on half the base, three times on a quarter circle"} ];
DefineConstant[ m = {10, Name "Along a cavity"}, m_ring = {1, Name "Along a ring"} ];
DefineConstant[ layers = {2, Name "Through the wall"}, cavities = {2, Choices{1, 2}, Name "Cavities"} ];
r = 0.1;
a = 0.2;
b = 0.05;
t = 0.02;
ring = 0.02;

// outlines: k = 0 inside, 1 outside; the corner of base and side wall is a square of its own
Point(1) = {0, 0, 0};
For k In {0:1}
  d = (k - 0.5)*t;
  Point(10 + k) = {0, 0, r + d};
  Point(12 + k) = {0, r + d, 0};
  Point(14 + k) = {0, r + d, -b + t/2};
  Point(16 + k) = {0, r - t/2, -b - d};
  Point(18 + k) = {0, 0, -b - d};
  Circle(20 + k) = {10 + k, 1, 12 + k};
  Line(22 + k) = {12 + k, 14 + k};
EndFor
Point(20) = {0, r + t/2, -b - t/2};
Line(30) = {10, 11};
Line(31) = {12, 13};
Line(32) = {14, 15};
Line(33) = {14, 17};
Line(34) = {17, 20};
Line(35) = {20, 15};
Line(36) = {14, 18};
Line(37) = {17, 19};
Line(38) = {18, 19};
Curve Loop(1) = {30, 21, -31, -20};
Curve Loop(2) = {31, 23, -32, -22};
Curve Loop(3) = {32, -35, -34, -33};
Curve Loop(4) = {33, 37, -38, -36};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Plane Surface(3) = {3};
Plane Surface(4) = {4};
Transfinite Curve{20, 21} = 3*n + 1;
Transfinite Curve{22, 23} = n + 1;
Transfinite Curve{36, 37} = 2*n + 1;
Transfinite Curve{30:35, 38} = layers + 1;
Transfinite Surface{1:4};
Recombine Surface{1:4};

section[] = {1:4};
silicone[] = {};
bone[] = {};
inside[] = {};
symmetry[] = {};
inside_bone[] = {};
symmetry_bone[] = {};
For part In {0:2*cavities - 1}
  cavity = (part%2 == 0);
  step = (cavity ? a : ring);
  along = (cavity ? m : m_ring);
  If (cavity || cavities > 1)
    next[] = {};
    For k In {0:3}
      // out[0] is the end, out[1] the volume, out[2..5] the faces of the curves of the loop
      out[] = Extrude{step, 0, 0}{ Surface{section[k]}; Layers{along}; Recombine; };
      next[] += {out[0]};
      gas[] = {};
      cut[] = {};
      If (k != 2)
        gas[] = {out[5]};
      EndIf
      If (k == 0)
        cut[] = {out[2]};
      EndIf
      If (k == 3)
        cut[] = {out[4]};
      EndIf
      If (cavity)
        silicone[] += {out[1]};
        inside[] += gas[];
        symmetry[] += cut[];
      Else
        bone[] += {out[1]};
        inside_bone[] += gas[];
        symmetry_bone[] += cut[];
      EndIf
    EndFor
    section[] = next[];
  EndIf
EndFor

Physical Volume("silicone") = {silicone[]};
If (cavities > 1)
  Physical Volume("bone") = {bone[]};
  Physical Surface("inside_bone") = {inside_bone[]};
  Physical Surface("symmetry_bone") = {symmetry_bone[]};
EndIf
Physical Surface("root") = {1:4};
Physical Surface("tip") = {section[]};
Physical Surface("inside") = {inside[]};
Physical Surface("symmetry") = {symmetry[]};

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
