// SPDX-License-Identifier: BSD-3-Clause
// Half (0 <= y <= 0.08 m) of the silicone plate as a solid of 0.18 x 0.16 x 0.04 m, in hexahedra.
// The plane y = 0.08 m is the plane of symmetry; z = 0 is the mid-surface.
//
//   gmsh -3 silicone_block.geo                        18 x 4 x 4
//   gmsh -3 -setnumber nx 36 -setnumber ny 8 -setnumber nz 8 silicone_block.geo -o finer.msh

DefineConstant[ nx = {18, Name "Divisions along x"} ];
DefineConstant[ ny = {4, Name "Divisions along y"} ];
DefineConstant[ nz = {4, Name "Divisions along z (even)"} ];
length = 0.18;
width = 0.08;
thickness = 0.04;

Point(1) = {0, 0, -thickness/2};
Point(2) = {length, 0, -thickness/2};
Point(3) = {length, width, -thickness/2};
Point(4) = {0, width, -thickness/2};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1, 3} = nx + 1;
Transfinite Curve{2, 4} = ny + 1;
Transfinite Surface{1};
Recombine Surface{1};

// out[0] is the upper face, out[1] the volume, out[2..5] the faces of the curves 1 to 4.
lower[] = Extrude{0, 0, thickness/2}{ Surface{1}; Layers{nz/2}; Recombine; };
upper[] = Extrude{0, 0, thickness/2}{ Surface{lower[0]}; Layers{nz/2}; Recombine; };

Physical Volume("body") = {lower[1], upper[1]};
Physical Surface("root") = {lower[5], upper[5]};
Physical Surface("tip") = {lower[3], upper[3]};
Physical Surface("symmetry") = {lower[4], upper[4]};
corner[] = Point In BoundingBox{length - 1e-6, width - 1e-6, -1e-6, length + 1e-6, width + 1e-6, 1e-6};
Physical Point("P") = {corner[]};

Mesh.MshFileVersion = 4.1;
Mesh.Binary = 0;
