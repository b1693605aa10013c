"""Triangle soup of any origin into a clean unit-box mesh: plain numpy, so that it is tested without Blender.

Shapes: V vertices, T triangles. Corner k of triangle t is row [t, k] of the corner arrays.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Triangles with less area than this (in the unit box) cannot be seen and break normals.
MIN_AREA = 1e-12
# A box further from its origin than this many extents has lost its shape to float32 (2**24 steps in all).
MAX_OFFSET_EXTENTS = 1e5
# A flat part that alone makes the box this many times larger is ground or backdrop, not the object.
BACKDROP_GROWTH = 2.5
# ... where flat means thinner than this share of its own longest side.
BACKDROP_THICKNESS = 0.02
# Planes with more pairs of opposed triangles than this are left alone: finely cut ones are exact copies if anything.
MAX_COVER_PAIRS = 40_000
SILHOUETTE_PX = 64
SILHOUETTE_POINTS = 60_000


class Unusable(Exception):
    """The asset cannot be used; `reason` is from the closed list `generator.assets.reasons.REASONS`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class Soup:
    """A mesh under preparation: positions (V, 3), triangles (T, 3), normals (T, 3, 3), uv (T, 3, 2),
    rgba (T, 3, 4) linear, material (T,)."""

    positions: Floats
    triangles: Ints
    normals: Floats
    uv: Floats
    rgba: Floats
    material: Ints

    def keep(self, mask: NDArray[np.bool_]) -> "Soup":
        """The triangles under `mask` (T,); vertices stay as they are."""
        return replace(
            self,
            triangles=self.triangles[mask],
            normals=self.normals[mask],
            uv=self.uv[mask],
            rgba=self.rgba[mask],
            material=self.material[mask],
        )


def join(parts: list[Soup]) -> Soup:
    """All parts as one mesh."""
    starts = np.cumsum([0] + [len(part.positions) for part in parts[:-1]])
    return Soup(
        positions=np.concatenate([part.positions for part in parts]),
        triangles=np.concatenate([part.triangles + start for part, start in zip(parts, starts, strict=True)]),
        normals=np.concatenate([part.normals for part in parts]),
        uv=np.concatenate([part.uv for part in parts]),
        rgba=np.concatenate([part.rgba for part in parts]),
        material=np.concatenate([part.material for part in parts]),
    )


def to_unit_box(soup: Soup) -> Soup:
    """Longest side 1, base on z = 0, centred on x and y; vertices that no triangle uses do not count.

    Raises Unusable where there is nothing, no extent, a number that is not finite, or no precision left.
    """
    if len(soup.triangles) == 0:
        raise Unusable("no_geometry", "no triangles in the default scene")
    used, inverse = np.unique(soup.triangles, return_inverse=True)
    positions = soup.positions[used]
    if not np.isfinite(positions).all():
        raise Unusable("bad_numbers", "vertex positions that are not finite after the node transforms")
    low, high = positions.min(axis=0), positions.max(axis=0)
    side = float((high - low).max())
    offset = float(np.abs([low, high]).max())
    if offset > MAX_OFFSET_EXTENTS * (side or 1.0):
        raise Unusable("lost_precision", f"{offset:.3g} from the origin but only {side:.3g} across")
    if side == 0:
        raise Unusable("no_extent", "all vertices in one point")
    centre = (low + high) / 2
    centre[2] = low[2]
    return replace(soup, positions=(positions - centre) / side, triangles=inverse.reshape(-1, 3).astype(np.int64))


def drop_degenerate(soup: Soup) -> Soup:
    """Without the triangles that have no area. Raises Unusable when none is left."""
    kept = soup.keep(triangle_areas(soup) > MIN_AREA)
    if len(kept.triangles) == 0:
        raise Unusable("no_geometry", "all triangles have zero area")
    return kept


def drop_duplicates(soup: Soup) -> Soup:
    """One of each set of triangles on the same three points.

    Back-to-back pairs lie in each other's shadow and render black. Of a pair, the one that looks away from the middle
    of the object stays: its material is the one meant to be seen.
    """
    # Points equal to a millionth of the box are the same point, whatever vertices carry them.
    _, ids = np.unique(np.round(soup.positions * 1e6).astype(np.int64), axis=0, return_inverse=True)
    keys = np.sort(ids.reshape(-1)[soup.triangles], axis=1)
    corners = soup.positions[soup.triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    middle = (soup.positions.min(axis=0) + soup.positions.max(axis=0)) / 2
    inward = (facing * (corners.mean(axis=1) - middle)).sum(axis=1) < 0
    order = np.lexsort((inward, keys[:, 2], keys[:, 1], keys[:, 0]))
    ranked = keys[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    mask = np.zeros(len(order), dtype=bool)
    mask[order[first]] = True
    return soup if mask.all() else soup.keep(mask)


def drop_covered(soup: Soup) -> Soup:
    """Without the triangles that lie back to back on others which cover them whole, cut up differently.

    The pairs that `drop_duplicates` cannot see: two halves of one quad split along the other diagonal. The side that
    looks away from the middle stays.
    """
    corners = soup.positions[soup.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    # One key for a plane whichever way its triangles face: the first component that is not small is positive.
    leading = normals[np.arange(len(normals)), (np.abs(normals) > 1e-3).argmax(axis=1)]
    front = leading > 0
    axis = normals * np.sign(leading)[:, None]
    offset = (axis * corners[:, 0]).sum(axis=1)
    keys = np.round(np.column_stack([axis, offset]) * 1e4).astype(np.int64)
    _, plane = np.unique(keys, axis=0, return_inverse=True)
    plane = plane.reshape(-1)
    both = np.intersect1d(plane[front], plane[~front])
    middle = (soup.positions.min(axis=0) + soup.positions.max(axis=0)) / 2
    keep = np.ones(len(plane), dtype=bool)
    for number in both:
        members = np.flatnonzero(plane == number)
        outward = front[members] == (offset[members[0]] >= float(axis[members[0]] @ middle))
        outer, inner = members[outward], members[~outward]
        if len(outer) * len(inner) > MAX_COVER_PAIRS:
            continue
        keep[inner] = ~_covered(corners[inner], corners[outer], axis[members[0]])
        inner = inner[keep[inner]]
        keep[outer] = ~_covered(corners[outer], corners[inner], axis[members[0]])
    return soup if keep.all() else soup.keep(keep)


def _covered(lower: Floats, upper: Floats, axis: Floats) -> NDArray[np.bool_]:
    """Which triangles (N, 3, 3) lie within others (M, 3, 3) of the same plane: tested at four points of each."""
    if len(lower) == 0 or len(upper) == 0:
        return np.zeros(len(lower), dtype=bool)
    weights = np.array([[1, 1, 1], [0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
    weights /= weights.sum(axis=1, keepdims=True)
    points = np.einsum("pc,ncd->npd", weights, lower)[:, :, None, None, :]  # (N, 4, 1, 1, 3)
    edges = np.roll(upper, -1, axis=1) - upper  # (M, 3, 3)
    sides = (np.cross(edges[None, None], points - upper[None, None]) * axis).sum(axis=-1)  # (N, 4, M, 3)
    inside = (sides >= -1e-9).all(axis=-1) | (sides <= 1e-9).all(axis=-1)
    covered: NDArray[np.bool_] = inside.any(axis=-1).all(axis=-1)
    return covered


def triangle_areas(soup: Soup) -> Floats:
    """Areas (T,) of the triangles."""
    corners = soup.positions[soup.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas: Floats = np.linalg.norm(normals, axis=1) / 2
    return areas


def spread_points(soup: Soup, count: int) -> tuple[Ints, Floats]:
    """`count` points spread evenly over the surface: triangle index (N,) and barycentric weights (N, 3).

    A low-discrepancy sequence, so that no random numbers are needed.
    """
    cumulative = np.cumsum(triangle_areas(soup))
    index = np.arange(count)
    at = np.searchsorted(cumulative, (index + 0.5) / count * cumulative[-1])
    triangle = np.minimum(at, len(cumulative) - 1).astype(np.int64)
    u, v = np.modf(index * 0.7548776662466927)[0], np.modf(index * 0.5698402909980532)[0]
    fold = u + v > 1
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    return triangle, np.stack([1 - u - v, u, v], axis=1)


def coverage(points: Floats) -> tuple[float, float, float]:
    """Share of the object's bounding square that its visible points (N, 3) cover, seen from front, side and top.

    The square has the longest side of the unit box; each view is a grid of 64 x 64 cells.
    """
    if len(points) == 0:
        return (0.0, 0.0, 0.0)
    low = points.min(axis=0)
    cells = np.clip(((points - low) * SILHOUETTE_PX).astype(np.int64), 0, SILHOUETTE_PX - 1)
    shares = []
    for a, b in ((0, 2), (1, 2), (0, 1)):
        filled = np.unique(cells[:, a] * SILHOUETTE_PX + cells[:, b])
        shares.append(len(filled) / SILHOUETTE_PX**2)
    return (shares[0], shares[1], shares[2])


def components(soup: Soup) -> Ints:
    """Label (T,) of the connected part that each triangle belongs to; parts touch where they share a point."""
    _, ids = np.unique(np.round(soup.positions * 1e6).astype(np.int64), axis=0, return_inverse=True)
    triangles = ids.reshape(-1)[soup.triangles]
    labels = np.arange(int(ids.max()) + 1)
    # Label propagation with pointer jumping: few rounds, all of it in numpy.
    while True:
        lowest = labels[triangles].min(axis=1)
        updated = labels.copy()
        for corner in range(3):
            np.minimum.at(updated, triangles[:, corner], lowest)
            np.minimum.at(updated, labels[triangles[:, corner]], lowest)
        updated = updated[updated]
        if (updated == labels).all():
            break
        labels = updated
    parts: Ints = np.unique(labels[triangles[:, 0]], return_inverse=True)[1].reshape(-1).astype(np.int64)
    return parts


def find_backdrop(soup: Soup) -> str | None:
    """What gives the object away as standing on a ground plane or before a backdrop, or None.

    Such a part is flat, and without it the rest is several times smaller.
    """
    labels = components(soup)
    count = int(labels.max()) + 1
    if count == 1:
        return None
    corners = soup.positions[soup.triangles]
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, labels, corners.min(axis=1))
    np.maximum.at(high, labels, corners.max(axis=1))
    sides = high - low
    flat = sides.min(axis=1) <= BACKDROP_THICKNESS * sides.max(axis=1)
    wide = np.sort(sides, axis=1)[:, 1] * BACKDROP_GROWTH > 1.0  # A pole is thin along two axes, a ground along one.
    suspects = flat & wide
    if not suspects.any() or suspects.all():
        return None
    rest = float((high[~suspects].max(axis=0) - low[~suspects].min(axis=0)).max())
    if rest * BACKDROP_GROWTH < 1.0:
        return f"without its flat part the object is {rest:.1%} of the whole"
    return None
