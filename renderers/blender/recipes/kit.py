"""A small modelling kit: primitives that return a `Part`, and ways to shape, copy and melt parts.

Conventions, the same in every recipe:
- Blender's axes: Z up, the front of an object faces -Y, its left side (seen from the front) is -X.
- Every primitive is centred on the origin, except those that take explicit coordinates (`lathe`, `loft`,
  `tube`); `Part.at` then moves it. Lengths have no unit: a renderer scales every asset to its own size.
- A recipe is a function without arguments that returns its parts. Nothing in here draws random numbers.
- Exactly the parts made of the material `paint` change colour when a scene asks for a red or a blue one.

A whole recipe::

    def mug() -> list[Part]:
        red = paint("#c8452f")
        body = lathe([(0, 0), (0.9, 0), (1, 0.1), (1, 2.2), (0.9, 2.2), (0.88, 0.2), (0, 0.2)], red)
        handle = tube(spline([(0.95, 0, 1.8), (1.7, 0, 1.6), (1.7, 0, 0.7), (0.95, 0, 0.4)]), 0.15, red)
        return [body, handle]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import bpy  # before bmesh and mathutils, which exist only once it has been imported

# isort: split
import bmesh
from mathutils import Matrix, Vector

from renderers.blender.recipes.materials import Material
from renderers.blender.recipes.paths import Vec2, Vec3, circle

# Edges of a sharper angle than this are shaded as creases.
CREASE_DEG = 40.0


class Part:
    """A mesh of one material. Its methods change it in place and return it, so that calls chain."""

    def __init__(self, bm: Any, material: Material, crease_deg: float = CREASE_DEG) -> None:
        self.bm = bm
        self.material = material
        self.crease_deg = crease_deg

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Self:
        """Move by (x, y, z)."""
        return self._transform(Matrix.Translation((x, y, z)))

    def turned(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Self:
        """Turn about the origin by degrees: first about X, then Y, then Z."""
        matrix = (
            Matrix.Rotation(math.radians(z), 4, "Z")
            @ Matrix.Rotation(math.radians(y), 4, "Y")
            @ Matrix.Rotation(math.radians(x), 4, "X")
        )
        return self._transform(matrix)

    def scaled(self, x: float, y: float | None = None, z: float | None = None) -> Self:
        """Scale about the origin; one number scales all three axes. For a mirror image use `mirrored`."""
        y, z = (x if y is None else y), (x if z is None else z)
        assert min(x, y, z) > 0, "a negative scale turns the normals inwards: use mirrored()"
        return self._transform(Matrix.Diagonal((x, y, z, 1.0)))

    def bent(self, shape: Callable[[Vec3], Vec3]) -> Self:
        """Move every vertex from p to shape(p): tapers, bends, dents. `shape` must not mirror."""
        for vertex in self.bm.verts:
            vertex.co = shape(tuple(vertex.co))
        self.bm.normal_update()
        return self

    def bevelled(self, width: float, segments: int = 2, above_deg: float = 30.0) -> Self:
        """Round every edge whose faces meet at more than `above_deg`."""
        self.bm.normal_update()
        edges = [e for e in self.bm.edges if len(e.link_faces) == 2 and e.calc_face_angle() > math.radians(above_deg)]
        bmesh.ops.bevel(
            self.bm, geom=edges, offset=width, offset_type="OFFSET", segments=segments, profile=0.5,
            affect="EDGES", clamp_overlap=True,
        )  # fmt: skip
        self.bm = _in_fixed_order(self.bm)
        return self

    def minus(self, *tools: Part) -> Self:
        """Cut the closed `tools` out of this closed part; the cut shows this part's material."""
        for tool in tools:
            cutter = _temporary_object(tool.bm)
            self._modified("BOOLEAN", operation="DIFFERENCE", solver="EXACT", object=cutter)
            _drop(cutter)
        return self

    def decimated(self, ratio: float) -> Self:
        """Collapse edges until about `ratio` of the triangles is left."""
        return self._modified("DECIMATE", ratio=ratio)

    def smoothed(self, iterations: int = 5, factor: float = 0.5) -> Self:
        """Relax the surface: softens the seams of `fused` and of cuts."""
        return self._modified("SMOOTH", iterations=iterations, factor=factor)

    def creased(self, angle_deg: float) -> Self:
        """Shade edges above this angle as creases (180: wholly smooth, 0: faceted)."""
        self.crease_deg = angle_deg
        return self

    def of(self, material: Material) -> Self:
        """Make it of another material."""
        self.material = material
        return self

    def copy(self) -> Part:
        """An independent copy."""
        return Part(self.bm.copy(), self.material, self.crease_deg)

    def mirrored(self, axis: str = "x") -> Part:
        """A copy reflected through the origin along `axis` (x, y or z), its normals outwards again."""
        twin = self.copy()
        factors = [-1.0 if name == axis else 1.0 for name in "xyz"]
        twin._transform(Matrix.Diagonal((*factors, 1.0)))
        bmesh.ops.reverse_faces(twin.bm, faces=twin.bm.faces)
        return twin

    def both_sides(self, axis: str = "x") -> list[Part]:
        """This part and its mirror image."""
        return [self, self.mirrored(axis)]

    def around(self, count: int, start_deg: float = 0.0) -> list[Part]:
        """`count` copies spread evenly about the Z axis, the first one turned by `start_deg`."""
        return [self.copy().turned(z=start_deg + 360.0 * i / count) for i in range(count)]

    def repeated(self, count: int, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> list[Part]:
        """`count` copies in a row, each moved by (x, y, z) from the last; the first stays here."""
        return [self.copy().at(x * i, y * i, z * i) for i in range(count)]

    def append_to(self, target: Any, material_index: int = 0) -> None:
        """Add a copy of this mesh to the bmesh `target`, its faces in that material slot, its creases marked."""
        limit = math.radians(self.crease_deg)
        self.bm.normal_update()
        for face in self.bm.faces:
            face.smooth = True
            face.material_index = material_index
        for edge in self.bm.edges:
            edge.smooth = len(edge.link_faces) != 2 or edge.calc_face_angle() <= limit
        mesh = _mesh(self.bm, "append")
        target.from_mesh(mesh)
        bpy.data.meshes.remove(mesh)

    def _transform(self, matrix: Any) -> Self:
        bmesh.ops.transform(self.bm, matrix=matrix, verts=self.bm.verts)
        self.bm.normal_update()
        return self

    def _modified(self, kind: str, **settings: Any) -> Self:
        holder = _temporary_object(self.bm)
        modifier = holder.modifiers.new("modifier", kind)
        for name, value in settings.items():
            setattr(modifier, name, value)
        self.bm.free()
        self.bm = bmesh.new()
        self.bm.from_object(holder, bpy.context.evaluated_depsgraph_get())
        self.bm = _in_fixed_order(self.bm)
        _drop(holder)
        return self


# ---------------------------------------------------------------------------------------------- primitives


def box(size: Vec3, material: Material, bevel: float = 0.0, segments: int = 2) -> Part:
    """A box of that size with edges rounded by `bevel`."""
    bm = bmesh.new()
    bmesh.ops.create_cube(bm, size=1.0)
    part = Part(bm, material).scaled(*size)
    return part.bevelled(bevel, segments) if bevel else part


def cylinder(
    radius: float, height: float, material: Material, top_radius: float | None = None, bevel: float = 0.0,
    sides: int = 32, segments: int = 2,
) -> Part:  # fmt: skip
    """An upright cylinder; with `top_radius` a truncated cone, with `top_radius=0` a cone."""
    top = radius if top_radius is None else top_radius
    part = lathe([(0, -height / 2), (radius, -height / 2), (top, height / 2), (0, height / 2)], material, sides)
    return part.bevelled(bevel, segments, above_deg=50.0) if bevel else part


def sphere(radius: float | Vec3, material: Material, sides: int = 24, rings: int = 14) -> Part:
    """A sphere, or an ellipsoid of three radii."""
    radii = radius if isinstance(radius, tuple) else (radius, radius, radius)
    angles = [math.pi * i / rings for i in range(1, rings)]
    profile = [(0.0, -1.0), *((math.sin(a), -math.cos(a)) for a in angles), (0.0, 1.0)]
    return lathe(profile, material, sides).scaled(*radii).creased(180.0)


def capsule(radius: float, length: float, material: Material, sides: int = 20) -> Part:
    """An upright cylinder with round ends; `length` is from tip to tip."""
    half = length / 2 - radius
    assert half >= 0, "a capsule is at least as long as it is thick"
    steps = max(3, sides // 4)
    quarter = [math.pi / 2 * i / steps for i in range(steps + 1)]
    lower = [(radius * math.sin(a), -half - radius * math.cos(a)) for a in quarter]
    upper = [(radius * math.cos(a), half + radius * math.sin(a)) for a in quarter]
    return lathe([*lower, *upper] if half else [*lower, *upper[1:]], material, sides).creased(180.0)


def torus(major: float, minor: float, material: Material, sides: int = 28, ring_sides: int = 8) -> Part:
    """A ring lying flat: `major` is the radius of the ring, `minor` of its tube."""
    return tube(circle(major, sides), minor, material, sides=ring_sides, closed=True)


def lathe(profile: Sequence[Vec2], material: Material, sides: int = 28) -> Part:
    """Revolve a profile of (radius, z) points about Z.

    Go up along the outside and, for a hollow thing, down again along the inside. Points of radius 0 become
    poles; a profile that starts and ends on the axis gives a closed surface.
    """
    bm = bmesh.new()
    rings = [_ring(bm, _lathe_points(r, z, sides)) for r, z in profile]
    _bridge(bm, rings)
    return _outward(bm, material).creased(max(CREASE_DEG, 360 / sides + 5))  # few sides stay round


def loft(sections: Sequence[Sequence[Vec3]], material: Material, caps: bool = True) -> Part:
    """Skin a row of closed outlines with equal numbers of points (see `oval`); `caps` closes both ends."""
    bm = bmesh.new()
    rings = [_ring(bm, points) for points in sections]
    _bridge(bm, rings)
    if caps:
        for ring in (rings[0], rings[-1]):
            if len(ring) > 2:
                bm.faces.new(ring)
    return _outward(bm, material)


def tube(
    path: Sequence[Vec3], radius: float | Sequence[float], material: Material, sides: int = 12,
    closed: bool = False, flatten: float = 1.0, up: Vec3 = (0.0, 0.0, 1.0),
) -> Part:  # fmt: skip
    """Sweep a round section along a path.

    `radius` may be one number for each point of the path (0 at an end makes a tip). `flatten` below 1 squeezes
    the section along the direction nearest to `up`: straps, leaves, tails.
    """
    radii = list(radius) if isinstance(radius, Sequence) else [radius] * len(path)
    assert len(radii) == len(path), f"{len(radii)} radii for {len(path)} points"
    bm = bmesh.new()
    rings = []
    for centre, (across, along), r in zip(path, _frames(path, closed, up), radii, strict=True):
        angles = [2 * math.pi * k / sides for k in range(sides)]
        points = [Vector(centre) + r * (math.cos(a) * across + flatten * math.sin(a) * along) for a in angles]
        rings.append(_ring(bm, [points[0]] if r == 0 else points))
    _bridge(bm, [*rings, rings[0]] if closed else rings)
    if not closed:
        for ring in (rings[0], rings[-1]):
            if len(ring) > 2:
                bm.faces.new(ring)
    return _outward(bm, material).creased(max(CREASE_DEG, 360 / sides + 5))  # few sides stay round


def extrude(outline: Sequence[Vec2], depth: float, material: Material, bevel: float = 0.0, segments: int = 2) -> Part:
    """A slab whose outline, given as (x, z) points, is what one sees from the front; `depth` is along Y."""
    bm = bmesh.new()
    front = [bm.verts.new((x, -depth / 2, z)) for x, z in outline]
    back = [bm.verts.new((x, depth / 2, z)) for x, z in outline]
    bm.faces.new(front)
    bm.faces.new(back)
    _bridge(bm, [front, back])
    part = _outward(bm, material)
    return part.bevelled(bevel, segments, above_deg=50.0) if bevel else part


def block(size: Vec3, material: Material, chamfer: float = 0.0) -> Part:
    """A box with one chamfer along each edge, shaded round: under half the triangles of a bevelled `box`."""
    return box(size, material, chamfer, segments=1).creased(60.0 if chamfer else CREASE_DEG)


def slab(outline: Sequence[Vec2], depth: float, material: Material, chamfer: float = 0.0) -> Part:
    """As `extrude`, with one chamfer shaded round: for the many small plates of a larger model."""
    return extrude(outline, depth, material, chamfer, segments=1).creased(60.0 if chamfer else CREASE_DEG)


def fused(parts: Iterable[Part], voxel: float, material: Material, triangles: int = 1800) -> Part:
    """Melt overlapping closed parts into one skin: bodies of animals, dough, snow.

    `voxel` is the size of the grid that it is resampled on; about `triangles` are left at the end.
    """
    joined = bmesh.new()
    for part in parts:
        part.append_to(joined)
    part = Part(joined, material, 180.0)
    part._modified("REMESH", mode="VOXEL", voxel_size=voxel).smoothed(6)
    count = sum(len(face.verts) - 2 for face in part.bm.faces)
    return part.decimated(triangles / count) if count > triangles else part


# ------------------------------------------------------------------------------------ several parts at once


def turned(parts: Sequence[Part], z_deg: float) -> list[Part]:
    """All of `parts` turned about Z: a nose at -X comes towards the camera by that many degrees."""
    return [part.turned(z=z_deg) for part in parts]


def paired(axis: str, *parts: Part) -> list[Part]:
    """Every part and its mirror image along `axis`: the legs, eyes and wheels of both sides."""
    return [twin for part in parts for twin in part.both_sides(axis)]


def faces_where(part: Part, test: Callable[[Vec3], bool]) -> Part:
    """Only the faces of `part` whose centre passes `test`: the panels of a ball, the top of a dome."""
    rest = [face for face in part.bm.faces if not test(tuple(face.calc_center_median()))]
    bmesh.ops.delete(part.bm, geom=rest, context="FACES")
    return part


def _mesh(bm: Any, name: str) -> Any:
    mesh = bpy.data.meshes.new(name)
    bm.to_mesh(mesh)
    return mesh


def _in_fixed_order(bm: Any) -> Any:
    """The same mesh with its vertices and faces sorted by position. Frees `bm`.

    Blender's bevel and modifiers leave them in an order that follows memory addresses, another in each run.
    """
    points = [tuple(c + 0.0 for c in vertex.co) for vertex in bm.verts]  # + 0.0: no negative zero
    bm.verts.index_update()
    ranks = {point: rank for rank, point in enumerate(sorted(set(points)))}
    outlines = set()
    for face in bm.faces:
        corners = [ranks[points[vertex.index]] for vertex in face.verts]
        first = corners.index(min(corners))
        outlines.add((*corners[first:], *corners[:first]))
    bm.free()
    ordered = bmesh.new()
    vertices = [ordered.verts.new(point) for point in ranks]
    for outline in sorted(outlines):
        if len(set(outline)) == len(outline):
            ordered.faces.new([vertices[corner] for corner in outline])
    ordered.normal_update()
    return ordered


def _temporary_object(bm: Any) -> Any:
    holder = bpy.data.objects.new("temporary", _mesh(bm, "temporary"))
    bpy.context.scene.collection.objects.link(holder)
    return holder


def _drop(holder: Any) -> None:
    mesh = holder.data
    bpy.data.objects.remove(holder)
    bpy.data.meshes.remove(mesh)


def _outward(bm: Any, material: Material) -> Part:
    bmesh.ops.recalc_face_normals(bm, faces=bm.faces)
    return Part(bm, material)


def _lathe_points(radius: float, z: float, sides: int) -> list[Vec3]:
    return [(0.0, 0.0, z)] if radius == 0 else circle(radius, sides, z)


def _ring(bm: Any, points: Iterable[Any]) -> list[Any]:
    return [bm.verts.new(point) for point in points]


def _bridge(bm: Any, rings: Sequence[list[Any]]) -> None:
    """Faces between neighbouring rings; a ring of one vertex is a tip."""
    for low, high in itertools.pairwise(rings):
        count = max(len(low), len(high))
        for k in range(count):
            after = (k + 1) % count
            corners = [low[k], low[after]] if len(low) > 1 else [low[0]]
            corners += [high[after], high[k]] if len(high) > 1 else [high[0]]
            if len(corners) > 2:
                bm.faces.new(corners)


def _frames(path: Sequence[Vec3], closed: bool, up: Vec3) -> list[tuple[Any, Any]]:
    """For each point two unit vectors across the path, the second as near to `up` as can be, without twist."""
    points = [Vector(p) for p in path]
    count = len(points)
    tangents = []
    for i in range(count):
        before = points[i - 1] if closed or i else points[i]
        after = points[(i + 1) % count] if closed or i < count - 1 else points[i]
        tangents.append((after - before).normalized())
    along = Vector(up) - Vector(up).dot(tangents[0]) * tangents[0]
    if along.length < 1e-3:  # the path starts along `up`: any other direction will do
        other = Vector((0.0, 1.0, 0.0)) if abs(tangents[0].y) < 0.9 else Vector((1.0, 0.0, 0.0))
        along = other - other.dot(tangents[0]) * tangents[0]
    frames = []
    for tangent in tangents:
        along = (along - along.dot(tangent) * tangent).normalized()
        frames.append((along.cross(tangent), along.copy()))
    return frames
