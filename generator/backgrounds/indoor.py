"""Surfaces of rooms: wood, stone, fabric, wall coverings. Each function paints one wrapping tile.

Some are near white on purpose: a surface's own colour multiplies them, so that one plaster serves many walls.
"""

import numpy as np

from generator.backgrounds.noise import (
    SIZE_PX,
    Image,
    Map,
    Rgb,
    axes,
    blur,
    cells,
    clouds,
    courses,
    flat,
    mix,
    per_cell,
    ramp,
    relief,
    shade,
    step,
    warp,
)

WHITE: Rgb = (1.0, 1.0, 1.0)


def grain(rng: np.random.Generator, rings: int) -> Map:
    """Wood grain along x in [0, 1]: growth rings cut lengthways, fine fibres over them."""
    _, y = axes()
    bend = clouds(rng, beta=3.0, finest=12, stretch=(5.0, 1.0))
    ring = 0.5 + 0.5 * np.sin(2 * np.pi * (rings * y + 0.9 * bend))
    fibres = clouds(rng, beta=0.8, coarsest=8, finest=250, stretch=(24.0, 1.0))
    tone = clouds(rng, beta=2.0, finest=10, stretch=(6.0, 1.0))
    wood: Map = np.clip(0.5 + 0.22 * (ring**2 - 0.4) + 0.13 * fibres + 0.10 * tone, 0.0, 1.0)
    return wood


def planks(rng: np.random.Generator, dark: Rgb, light: Rgb, rows: int, per_row: int, variety: float) -> Image:
    """Floorboards along x, each cut from another place of the grain. variety: how much their tones differ."""
    board, edge_px = courses(rng, rows, per_row, None)
    slide = ((per_cell(rng, board) + 1) * 255).astype(np.int64)
    rows_px, cols_px = np.indices(board.shape)
    wood = grain(rng, rings=3 * rows)[(rows_px + slide) % SIZE_PX, (cols_px + 3 * slide) % SIZE_PX]
    wood = np.clip(wood + variety * per_cell(rng, board), 0, 1)
    gap = step(2.6, 0.6, edge_px)
    return shade(ramp(wood, dark, light), 1 - 0.36 * gap)


def parquet(rng: np.random.Generator, dark: Rgb, light: Rgb, blocks: int, strips: int) -> Image:
    """Basket-weave parquet: squares of `strips` strips, turned by 90 degrees from one square to the next."""
    x, y = axes()
    col, row = (x * blocks).astype(np.int64), (y * blocks).astype(np.int64)
    turned = (col + row) % 2 == 1
    across = np.where(turned, x * blocks - col, y * blocks - row)
    strip = np.minimum((across * strips).astype(np.int64), strips - 1)
    number = (row * blocks + col) * strips + strip
    along = grain(rng, rings=24)
    slide = ((per_cell(rng, number) + 1) * 255).astype(np.int64)
    rows_px, cols_px = np.indices(number.shape)
    flat = along[(rows_px + slide) % SIZE_PX, (cols_px + slide) % SIZE_PX]
    upright = along.T[(rows_px + slide) % SIZE_PX, (cols_px + slide) % SIZE_PX]
    wood = np.clip(np.where(turned, upright, flat) + 0.16 * per_cell(rng, number), 0, 1)
    block_px = SIZE_PX / blocks
    from_strip = np.minimum(across * strips - strip, 1 - (across * strips - strip)) * block_px / strips
    inner = np.where(turned, y * blocks - row, x * blocks - col)
    edge_px = np.minimum(from_strip, np.minimum(inner, 1 - inner) * block_px)
    return shade(ramp(wood, dark, light), 1 - 0.34 * step(2.0, 0.4, edge_px))


def board(rng: np.random.Generator, dark: Rgb, light: Rgb) -> Image:
    """One wide board of solid wood, for furniture."""
    return ramp(grain(rng, rings=9), dark, light)


def slats(rng: np.random.Generator, dark: Rgb, light: Rgb, count: int) -> Image:
    """Upright boards with a groove between them, as on a panelled wall."""
    x, _ = axes()
    place = x * count - np.floor(x * count)
    edge_px = np.minimum(place, 1 - place) * SIZE_PX / count
    number = np.floor(x * count).astype(np.int64)
    slide = ((per_cell(rng, number) + 1) * 255).astype(np.int64)
    rows_px, cols_px = np.indices(number.shape)
    wood = grain(rng, rings=30).T[(rows_px + slide) % SIZE_PX, (cols_px + slide) % SIZE_PX]
    image = ramp(np.clip(wood + 0.12 * per_cell(rng, number), 0, 1), dark, light)
    return shade(image, (1 - 0.45 * step(4.0, 1.0, edge_px)) * (1 + 0.06 * step(8.0, 5.0, edge_px)))


def tiles(rng: np.random.Generator, glaze: Rgb, grout: Rgb, rows: int, per_row: int, shift: float) -> Image:
    """Ceramic tiles with a rounded edge, faint clouds in the glaze."""
    tile, edge_px = courses(rng, rows, per_row, shift)
    tone = 1 + 0.035 * per_cell(rng, tile) + 0.02 * clouds(rng, beta=2.2, coarsest=3, finest=60)
    bevel = relief(4 * step(2.0, 8.0, edge_px), 0.07)
    image = shade(flat(glaze), tone * bevel)
    return mix(image, grout, step(3.6, 2.0, edge_px))


def checker(rng: np.random.Generator, one: Rgb, other: Rgb, across: int) -> Image:
    """Floor tiles in two tones."""
    x, y = axes()
    odd = ((x * across).astype(np.int64) + (y * across).astype(np.int64)) % 2
    tile, edge_px = courses(rng, across, across, 0.0)
    veins: Map = 0.03 * clouds(rng, beta=2.4, coarsest=2, finest=80) + 0.02 * per_cell(rng, tile)
    image = shade(ramp(odd.astype(np.float64), one, other), 1 + veins)
    return shade(image, 1 - 0.22 * step(2.8, 1.0, edge_px))


def terrazzo(rng: np.random.Generator, ground: Rgb, chips: tuple[Rgb, ...]) -> Image:
    """Chips of stone of two sizes in a polished ground."""
    image = shade(flat(ground), 1 + 0.015 * clouds(rng, beta=1.0))
    for across, share in ((48, 0.40), (22, 0.26)):
        first, second, owner = cells(rng, across)
        kept = per_cell(rng, owner) < 2 * share - 1
        inside = step(0.16, 0.22, second - first) * kept * step(0.75, 0.65, first)
        colour = np.array(chips)[((per_cell(rng, owner) + 1) / 2 * len(chips)).astype(np.int64) % len(chips)]
        image = mix(image, colour, 0.8 * inside)
    return image


def marble(rng: np.random.Generator, ground: Rgb, vein: Rgb, slabs: int) -> Image:
    """Polished stone: soft clouds, and veins that fade in and out along them; joints between `slabs` squares."""
    cloud = clouds(rng, beta=3.0, finest=40)
    strength = 0.10 + 0.07 * cloud
    for wide, finest, weight in ((0.16, 5, 0.34), (0.09, 9, 0.26), (0.10, 16, 0.14)):
        # Veins are the zero lines of a smooth noise; a rough one bends them, a third lets them come and go.
        bend = [7 * clouds(rng, beta=2.4, coarsest=3, finest=60) for _ in range(2)]
        lines = warp(clouds(rng, beta=3.2, finest=finest), bend[0], bend[1])
        strength = strength + weight * np.exp(-((lines / wide) ** 2)) * step(-0.3, 1.2, clouds(rng, beta=3.0, finest=8))
    image = mix(flat(ground), vein, np.clip(strength, 0, 1))
    if slabs:
        _, edge_px = courses(rng, slabs, slabs, 0.0)
        image = shade(image, 1 - 0.25 * step(2.4, 0.8, edge_px))
    return image


def concrete(rng: np.random.Generator, tone: Rgb, panels: int) -> Image:
    """Cast concrete: stains, fine sand, a few pits; joints and tie holes where it has `panels`."""
    stain = 0.045 * clouds(rng, beta=2.4, finest=40) + 0.018 * clouds(rng, beta=0.4, coarsest=40, finest=250)
    first, _, owner = cells(rng, 40)
    pits = step(0.16, 0.08, first) * (per_cell(rng, owner) < -0.76)
    factor = (1 + stain) * (1 - 0.22 * pits)
    if panels:
        x, y = axes()
        _, edge_px = courses(rng, panels, panels, 0.0)
        factor *= 1 - 0.25 * step(2.6, 1.0, edge_px)
        hole = np.hypot((x * panels % 1) - 0.5, (y * panels % 1) - 0.5) * SIZE_PX / panels
        factor *= 1 - 0.3 * step(7.0, 5.0, hole)
    return shade(flat(tone), factor)


def carpet(rng: np.random.Generator, dark: Rgb, light: Rgb) -> Image:
    """Cut pile: tufts, and the soft tracks of the last hoover."""
    tufts = clouds(rng, beta=0.6, coarsest=30, finest=170)
    tracks = clouds(rng, beta=3.0, coarsest=1, finest=9, stretch=(1.0, 2.0))
    return shade(ramp(np.clip(0.5 + 0.2 * tufts + 0.12 * tracks, 0, 1), dark, light), relief(1.2 * tufts, 0.05))


def rug(rng: np.random.Generator, ground: Rgb, line: Rgb, across: int) -> Image:
    """Flat-woven rug with a diamond lattice."""
    x, y = axes()
    wobble = 0.012 * clouds(rng, beta=1.6, coarsest=4, finest=80)
    lattice = np.abs(np.abs((x * across) % 1 - 0.5) + np.abs((y * across) % 1 - 0.5) - 0.5) + wobble
    core = step(0.11, 0.07, np.abs((x * across + 0.5) % 1 - 0.5) + np.abs((y * across + 0.5) % 1 - 0.5))
    weave = 0.5 + 0.5 * np.sin(2 * np.pi * 96 * y)
    image = mix(flat(ground), line, np.clip(step(0.07, 0.04, lattice) + core, 0, 1))
    return shade(image, 1 - 0.08 * weave + 0.04 * clouds(rng, beta=1.0, coarsest=20, finest=200))


def weave(rng: np.random.Generator, tone: Rgb, threads: int) -> Image:
    """Plain woven cloth: threads over and under, thick and thin."""
    x, y = axes()
    thick_x = clouds(rng, beta=0.8, coarsest=10, finest=120, stretch=(1.0, 60.0))
    thick_y = clouds(rng, beta=0.8, coarsest=10, finest=120, stretch=(60.0, 1.0))
    over = np.sin(2 * np.pi * threads * x) * np.sin(2 * np.pi * threads * y)
    factor = 1 + 0.06 * over + 0.045 * thick_x + 0.045 * thick_y + 0.02 * clouds(rng, beta=2.4, finest=8)
    return shade(flat(tone), factor)


def felt(rng: np.random.Generator, tone: Rgb) -> Image:
    """Felt or heavy paper: fibres in every direction, barely seen."""
    fibres = clouds(rng, beta=1.2, coarsest=12, finest=200, stretch=(3.0, 1.0))
    fibres = fibres + clouds(rng, beta=1.2, coarsest=12, finest=200, stretch=(1.0, 3.0))
    factor = 1 + 0.022 * fibres + 0.02 * clouds(rng, beta=2.6, finest=10)
    return shade(flat(tone), factor)


def bricks(rng: np.random.Generator, palette: tuple[Rgb, ...], mortar: Rgb, rows: int, per_row: int) -> Image:
    """A brick wall in running bond: every brick its own tone, worn edges, sandy mortar."""
    wobble = clouds(rng, beta=1.6, coarsest=8, finest=120)
    brick, edge_px = courses(rng, rows, per_row, 0.5)
    face = ramp((per_cell(rng, brick) + 1) / 2, *palette)
    grit = clouds(rng, beta=1.4, coarsest=6, finest=200)
    image = shade(face, 1 + 0.06 * per_cell(rng, brick) + 0.05 * grit)
    inside = step(2.6, 4.6, edge_px + 0.7 * wobble)
    joint = shade(flat(mortar), 1 + 0.05 * grit)
    return shade(mix(joint, image, inside), relief(3.0 * blur(inside, 1.0) + 0.12 * grit, 0.14))


def plaster(rng: np.random.Generator, rough: float) -> Image:
    """Painted wall, near white: trowel marks and roller nap. rough: 0 smooth paint, 1 rustic."""
    waves = clouds(rng, beta=2.6, coarsest=2, finest=40)
    nap = clouds(rng, beta=0.8, coarsest=30, finest=220)
    factor = 0.94 * relief((1.2 + 4.0 * rough) * waves + (0.4 + 0.5 * rough) * nap, 0.035 + 0.05 * rough)
    factor = factor * (1 + (0.008 + 0.02 * rough) * clouds(rng, beta=3.0, finest=8))
    return shade(flat(WHITE), factor)


def stripes(rng: np.random.Generator, one: Rgb, other: Rgb, count: int, share: float) -> Image:
    """Striped wallpaper. share: width of the second stripe."""
    x, _ = axes()
    place = np.abs((x * count) % 1 - 0.5) * 2
    band = step(share + 0.02, share - 0.02, place)
    image = mix(flat(one), other, band)
    return shade(image, 1 + 0.012 * clouds(rng, beta=1.0, coarsest=10, finest=200))


def dots(rng: np.random.Generator, ground: Rgb, dot: Rgb, across: int, radius: float) -> Image:
    """Wallpaper with dots in a staggered grid. radius: in grid squares."""
    x, y = axes()
    distance = np.minimum(
        np.hypot((x * across) % 1 - 0.5, (y * across) % 1 - 0.5),
        np.hypot((x * across + 0.5) % 1 - 0.5, (y * across + 0.5) % 1 - 0.5),
    )
    share = step(radius + 0.02, radius - 0.02, distance)
    image = mix(flat(ground), dot, share)
    return shade(image, 1 + 0.012 * clouds(rng, beta=1.0, coarsest=10, finest=200))


def damask(rng: np.random.Generator, ground: Rgb, figure: Rgb, across: int) -> Image:
    """Damask-like wallpaper: a mirrored ornament in a half-drop repeat."""
    x, y = axes()
    column = np.floor(x * across)
    u = np.abs((x * across) % 1 - 0.5)
    v = (y * across / 1.5 * 1.5 + 0.5 * (column % 2)) % 1
    angle, radius = np.arctan2(v - 0.5, u), np.hypot(u, (v - 0.5) * 0.8)
    petals = 0.26 + 0.10 * np.cos(4 * angle) + 0.05 * np.cos(8 * angle + 1.0)
    flower = step(0.02, -0.01, radius - petals) * step(-0.02, 0.01, np.abs(radius - 0.62 * petals) - 0.025)
    bud = step(0.02, -0.01, radius - 0.07 - 0.02 * np.cos(6 * angle))
    stem = np.abs(u - 0.16 - 0.10 * np.cos(2 * np.pi * v))
    scroll = step(0.03, 0.012, stem) * step(0.15, 0.2, np.abs(v - 0.5))
    share = np.clip(flower + bud + scroll, 0, 1)
    image = mix(flat(ground), figure, share)
    return shade(image, 1 + 0.012 * clouds(rng, beta=1.0, coarsest=10, finest=200))


def leaves(rng: np.random.Generator, ground: Rgb, leaf: Rgb, across: int) -> Image:
    """Wallpaper with sprigs: pairs of leaves up a wavy stem."""
    x, y = axes()
    column = np.floor(x * across)
    v = (y * across * 2 + 0.5 * (column % 2)) % 1 - 0.5
    u = (x * across) % 1 - 0.5 - 0.06 * np.sin(2 * np.pi * y * across)
    share = step(0.018, 0.008, np.abs(u))
    for side in (-1.0, 1.0):
        along, aside = (side * u * 0.8 - v * 0.6), (side * u * 0.6 + v * 0.8)
        share = np.maximum(share, step(1.05, 0.9, np.hypot((along - 0.17) / 0.16, aside / 0.062)))
    image = mix(flat(ground), leaf, share)
    return shade(image, 1 + 0.012 * clouds(rng, beta=1.0, coarsest=10, finest=200))


def wainscot(rng: np.random.Generator, across: int) -> Image:
    """Painted panelling, near white: a raised frame in every square."""
    x, y = axes()
    u, v = (x * across) % 1, (y * across) % 1
    inset_px = np.minimum(np.minimum(u, 1 - u), np.minimum(v, 1 - v)) * SIZE_PX / across
    profile = 5 * step(24.0, 29.0, inset_px) - 7 * step(33.0, 39.0, inset_px) + 3 * step(44.0, 62.0, inset_px)
    factor = 0.93 * relief(profile, 0.13) * (1 + 0.008 * clouds(rng, beta=2.0, finest=60))
    return shade(flat(WHITE), factor)


def beadboard(rng: np.random.Generator, count: int) -> Image:
    """Painted tongue-and-groove boards, near white: upright grooves with a bead beside them."""
    x, _ = axes()
    edge_px = np.abs((x * count + 0.5) % 1 - 0.5) * SIZE_PX / count
    factor = 0.94 * (1 - 0.16 * step(3.4, 1.0, edge_px)) * (1 + 0.03 * step(3.0, 0.0, np.abs(edge_px - 6)))
    brush = clouds(rng, beta=1.0, coarsest=6, finest=200, stretch=(1.0, 24.0))
    return shade(flat(WHITE), factor * (1 + 0.010 * brush))


def cork(rng: np.random.Generator) -> Image:
    """Corkboard: pressed granules."""
    fine_first, fine_second, fine = cells(rng, 90)
    _, _, coarse = cells(rng, 44)
    tone = 0.5 + 0.28 * per_cell(rng, fine) + 0.16 * per_cell(rng, coarse) + 0.06 * clouds(rng, beta=2.0, finest=20)
    image = ramp(np.clip(tone, 0, 1), (0.52, 0.41, 0.30), (0.66, 0.54, 0.41), (0.74, 0.63, 0.50))
    return shade(image, 1 - 0.10 * step(0.10, 0.0, fine_second - fine_first))


def chalkboard(rng: np.random.Generator, tone: Rgb) -> Image:
    """A wiped board: clouds of old chalk."""
    wipes = clouds(rng, beta=2.6, coarsest=1, finest=60, stretch=(3.0, 1.0))
    dust = clouds(rng, beta=0.8, coarsest=20, finest=250)
    share = np.clip(0.10 + 0.05 * wipes + 0.012 * dust, 0, 0.4)
    return mix(flat(tone), (0.86, 0.87, 0.85), share)


def linoleum(rng: np.random.Generator, dark: Rgb, light: Rgb) -> Image:
    """Marbled sheet flooring."""
    smear = clouds(rng, beta=1.6, coarsest=4, finest=120, stretch=(2.5, 1.0))
    smear = warp(smear, 10 * clouds(rng, beta=2.6, finest=20), 10 * clouds(rng, beta=2.6, finest=20))
    return ramp(np.clip(0.5 + 0.22 * smear, 0, 1), dark, light)
