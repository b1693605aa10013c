"""Which wall goes with which floor and which furniture: the bundled places, as data.

A surface is (texture, tint, tile_m, roughness). A row is (id, wall, floor, furniture, ambient light).
"""

from generator.specs import Rgb

Look = tuple[str, Rgb, float, float]
Row = tuple[str, Look, Look, Look, Rgb]

_PLAIN: Rgb = (1.0, 1.0, 1.0)

# Tints multiply near-white textures.
_CREAM: Rgb = (0.90, 0.85, 0.75)
_CHALK: Rgb = (0.88, 0.88, 0.86)
_DOVE: Rgb = (0.72, 0.73, 0.74)
_STONE: Rgb = (0.70, 0.66, 0.60)
_SAGE: Rgb = (0.66, 0.71, 0.63)
_SKY: Rgb = (0.67, 0.74, 0.80)
_SLATE: Rgb = (0.48, 0.53, 0.58)
_BLUSH: Rgb = (0.83, 0.73, 0.69)
_OCHRE: Rgb = (0.80, 0.72, 0.57)
_LILAC: Rgb = (0.73, 0.70, 0.77)
_TEAL: Rgb = (0.50, 0.61, 0.61)
_CLAY: Rgb = (0.72, 0.60, 0.52)
_GRAPHITE: Rgb = (0.42, 0.42, 0.43)
_LINEN: Rgb = (0.82, 0.78, 0.71)

# Furniture
_OAK: Look = ("board_oak", _PLAIN, 1.1, 0.45)
_ASH: Look = ("board_ash", _PLAIN, 1.1, 0.45)
_WALNUT: Look = ("board_walnut", _PLAIN, 1.1, 0.40)
_WHITE_PAINT: Look = ("board_painted", (0.96, 0.95, 0.92), 1.2, 0.45)
_CREAM_PAINT: Look = ("board_painted", (0.94, 0.87, 0.74), 1.2, 0.45)
_GREY_PAINT: Look = ("board_painted", (0.72, 0.73, 0.74), 1.2, 0.45)
_BLUE_PAINT: Look = ("board_painted", (0.58, 0.66, 0.74), 1.2, 0.45)
_NAVY_PAINT: Look = ("board_painted", (0.40, 0.46, 0.55), 1.2, 0.45)
_GREEN_PAINT: Look = ("board_painted", (0.62, 0.69, 0.61), 1.2, 0.45)
_TEAL_PAINT: Look = ("board_painted", (0.48, 0.60, 0.60), 1.2, 0.45)
_CLAY_PAINT: Look = ("board_painted", (0.76, 0.60, 0.51), 1.2, 0.45)
_TRAVERTINE: Look = ("travertine", _PLAIN, 1.6, 0.35)
_SLATE_STONE: Look = ("slate", _PLAIN, 1.6, 0.60)
_PALE_STONE: Look = ("marble_white", _PLAIN, 1.4, 0.30)
_DARK_STONE: Look = ("marble_grey", _PLAIN, 1.4, 0.30)
_CAST: Look = ("concrete", _PLAIN, 1.6, 0.80)
_WEATHERED: Look = ("planks_grey", _PLAIN, 1.6, 0.80)
_TERRAZZO: Look = ("terrazzo_warm", _PLAIN, 1.3, 0.35)

_DAY: Rgb = (1.0, 0.99, 0.97)
_WARM: Rgb = (1.0, 0.95, 0.88)
_COOL: Rgb = (0.93, 0.96, 1.0)


def _paint(tint: Rgb) -> Look:
    return ("plaster", tint, 2.4, 0.85)


def _rustic(tint: Rgb) -> Look:
    return ("plaster_rustic", tint, 2.2, 0.95)


def _wall(texture: str, tile_m: float, roughness: float = 0.85, tint: Rgb = _PLAIN) -> Look:
    return (texture, tint, tile_m, roughness)


_OAK_FLOOR: Look = ("planks_oak", _PLAIN, 1.7, 0.45)
_ASH_FLOOR: Look = ("planks_ash", _PLAIN, 1.7, 0.50)
_WALNUT_FLOOR: Look = ("planks_walnut", _PLAIN, 1.7, 0.45)
_GREY_FLOOR: Look = ("planks_grey", _PLAIN, 1.7, 0.55)
_LIMED_FLOOR: Look = ("planks_limed", _PLAIN, 1.8, 0.55)
_CARPET_GREY: Look = ("carpet_grey", _PLAIN, 1.2, 1.0)
_CARPET_BEIGE: Look = ("carpet_beige", _PLAIN, 1.2, 1.0)

INDOOR: tuple[Row, ...] = (
    ("cream_oak", _paint(_CREAM), _OAK_FLOOR, _NAVY_PAINT, _WARM),
    ("chalk_ash", _paint(_CHALK), _ASH_FLOOR, _OAK, _DAY),
    ("dove_walnut", _paint(_DOVE), _WALNUT_FLOOR, _ASH, _DAY),
    ("stone_limed", _paint(_STONE), _LIMED_FLOOR, _WALNUT, _WARM),
    ("sage_parquet", _paint(_SAGE), ("parquet_oak", _PLAIN, 1.8, 0.40), _CREAM_PAINT, _DAY),
    ("sky_ash", _paint(_SKY), _ASH_FLOOR, _WHITE_PAINT, _COOL),
    ("slate_oak", _paint(_SLATE), _OAK_FLOOR, _ASH, _DAY),
    ("blush_parquet", _paint(_BLUSH), ("parquet_ash", _PLAIN, 1.8, 0.40), _WALNUT, _WARM),
    ("ochre_tiles", _paint(_OCHRE), ("tiles_stone", _PLAIN, 1.6, 0.40), _TRAVERTINE, _WARM),
    ("lilac_carpet", _paint(_LILAC), _CARPET_GREY, _GREY_PAINT, _COOL),
    ("teal_limed", _paint(_TEAL), _LIMED_FLOOR, _OAK, _DAY),
    ("clay_carpet", _rustic(_CLAY), _CARPET_BEIGE, _WALNUT, _WARM),
    ("farmhouse", _rustic(_CHALK), ("tiles_terracotta", _PLAIN, 1.6, 0.60), _OAK, _WARM),
    ("cellar", _rustic(_LINEN), ("concrete_dark", _PLAIN, 2.2, 0.80), _SLATE_STONE, _COOL),
    ("hall", ("wainscot", _CHALK, 1.6, 0.60), ("checker_grey", _PLAIN, 1.8, 0.30), _WALNUT, _DAY),
    ("salon", ("wainscot", _SAGE, 1.6, 0.60), ("parquet_oak", _PLAIN, 1.8, 0.40), _PALE_STONE, _WARM),
    ("study", ("wainscot", _SLATE, 1.6, 0.60), _WALNUT_FLOOR, _OAK, _WARM),
    ("cottage", ("beadboard", _CREAM, 1.6, 0.60), _GREY_FLOOR, _BLUE_PAINT, _DAY),
    ("seaside_room", ("beadboard", _SKY, 1.6, 0.60), _LIMED_FLOOR, _BLUE_PAINT, _COOL),
    ("loft", _wall("brick_red", 1.6), _GREY_FLOOR, _SLATE_STONE, _DAY),
    ("white_brick", _wall("brick_white", 1.6), ("concrete", _PLAIN, 2.2, 0.75), _WALNUT, _DAY),
    ("vault", _wall("brick_sand", 1.7), ("tiles_stone", _PLAIN, 1.6, 0.50), _OAK, _WARM),
    ("gallery", _wall("concrete_panels", 2.2), ("terrazzo_grey", _PLAIN, 1.6, 0.35), _SLATE_STONE, _COOL),
    ("workshop", _wall("concrete", 2.4), _OAK_FLOOR, _GREY_PAINT, _DAY),
    ("bathroom", _wall("tiles_white", 1.4, 0.25), ("tiles_blue", _PLAIN, 1.4, 0.30), _ASH, _COOL),
    ("kitchen", _wall("tiles_metro", 1.5, 0.25), ("linoleum_sand", _PLAIN, 1.8, 0.45), _OAK, _DAY),
    ("sage_kitchen", _wall("tiles_sage", 1.4, 0.25), ("terrazzo_warm", _PLAIN, 1.5, 0.35), _PALE_STONE, _DAY),
    ("laundry", _wall("tiles_blue", 1.4, 0.25), ("tiles_white", _PLAIN, 1.6, 0.30), _TEAL_PAINT, _COOL),
    ("lobby", _wall("marble_white", 2.6, 0.30), ("marble_grey", _PLAIN, 2.4, 0.25), _WALNUT, _DAY),
    ("foyer", _wall("slats_ash", 1.6, 0.50), ("marble_tiles", _PLAIN, 2.1, 0.25), _DARK_STONE, _WARM),
    ("panelled", _wall("slats_walnut", 1.6, 0.50), _CARPET_BEIGE, _TERRAZZO, _WARM),
    ("striped_grey", _wall("stripes_grey", 1.4), _OAK_FLOOR, _NAVY_PAINT, _DAY),
    ("striped_blue", _wall("stripes_blue", 1.6), ("carpet_blue", _PLAIN, 1.2, 1.0), _ASH, _COOL),
    ("nursery", _wall("dots_cream", 1.5), ("rug_diamond", _PLAIN, 1.8, 1.0), _CREAM_PAINT, _WARM),
    ("dotted_slate", _wall("dots_slate", 1.6), _ASH_FLOOR, _CREAM_PAINT, _DAY),
    ("parlour", _wall("damask_sand", 1.3), ("parquet_ash", _PLAIN, 1.8, 0.40), _WALNUT, _WARM),
    ("library", _wall("damask_slate", 1.3), _WALNUT_FLOOR, _OAK, _WARM),
    ("garden_room", _wall("leaves_sage", 1.4), ("tiles_terracotta", _PLAIN, 1.6, 0.60), _GREEN_PAINT, _DAY),
    ("pinboard", _wall("cork", 1.4), ("carpet_moss", _PLAIN, 1.2, 1.0), _CLAY_PAINT, _DAY),
    ("classroom", _wall("chalkboard_green", 3.0), ("linoleum_green", _PLAIN, 1.8, 0.45), _ASH, _DAY),
    ("cafe", _wall("chalkboard_grey", 3.0), _OAK_FLOOR, _CLAY_PAINT, _WARM),
    ("linen_backdrop", _wall("weave", 1.3, 1.0, _LINEN), ("weave", _LINEN, 1.3, 1.0), _OAK, _DAY),
    ("graphite", _paint(_GRAPHITE), ("concrete", _PLAIN, 2.2, 0.75), _ASH, _DAY),
    (
        "studio_grey",
        _wall("studio_grey", 1.0, 1.0),
        ("felt", (0.66, 0.66, 0.66), 2.0, 1.0),
        _WHITE_PAINT,
        _DAY,
    ),
    ("studio_warm", _wall("studio_warm", 1.0, 1.0), ("felt", (0.68, 0.64, 0.59), 2.0, 1.0), _ASH, _WARM),
    (
        "studio_blue",
        _wall("studio_blue", 1.0, 1.0),
        ("felt", (0.54, 0.59, 0.64), 2.0, 1.0),
        _GREY_PAINT,
        _COOL,
    ),
    ("living_room", _wall("view_room", 1.0, 1.0), _OAK_FLOOR, _TEAL_PAINT, _WARM),
    ("office", _wall("view_office", 1.0, 1.0), _CARPET_GREY, _ASH, _COOL),
)

OUTDOOR: tuple[Row, ...] = (
    ("meadow", _wall("view_trees", 1.0, 1.0), ("grass", _PLAIN, 1.2, 0.9), _WEATHERED, _DAY),
    ("downs", _wall("view_hills", 1.0, 1.0), ("grass", _PLAIN, 1.2, 0.9), _CAST, _COOL),
    ("autumn_path", _wall("view_autumn", 1.0, 1.0), ("earth", _PLAIN, 1.5, 0.95), _OAK, _WARM),
    ("steppe", _wall("view_heath", 1.0, 1.0), ("grass_dry", _PLAIN, 1.2, 0.9), _WEATHERED, _WARM),
    ("dunes", _wall("view_dunes", 1.0, 1.0), ("sand_ripples", _PLAIN, 1.8, 0.95), _WEATHERED, _WARM),
    ("beach", _wall("view_sea", 1.0, 1.0), ("sand", _PLAIN, 1.6, 0.95), _WHITE_PAINT, _DAY),
    ("pier", _wall("view_sea", 1.0, 1.0), ("deck", _PLAIN, 1.7, 0.8), _WEATHERED, _COOL),
    ("winter", _wall("view_snow", 1.0, 1.0), ("snow", _PLAIN, 2.0, 0.7), _WALNUT, _COOL),
    ("terrace", _wall("view_garden", 1.0, 1.0), ("paving_sandstone", _PLAIN, 1.9, 0.8), _TRAVERTINE, _WARM),
    ("garden_path", _wall("view_garden", 1.0, 1.0), ("gravel_warm", _PLAIN, 1.3, 0.9), _OAK, _DAY),
    ("evening_city", _wall("view_city", 1.0, 1.0), ("asphalt", _PLAIN, 1.8, 0.85), _CAST, _COOL),
    ("square", _wall("view_town", 1.0, 1.0), ("cobbles", _PLAIN, 1.6, 0.8), _CAST, _DAY),
    ("market", _wall("view_town", 1.0, 1.0), ("paving", _PLAIN, 1.9, 0.8), _OAK, _WARM),
    ("rooftop", _wall("view_sky", 1.0, 1.0), ("concrete", _PLAIN, 2.2, 0.85), _WEATHERED, _COOL),
    ("rooftop_evening", _wall("view_evening", 1.0, 1.0), ("deck", _PLAIN, 1.7, 0.8), _WALNUT, _WARM),
    ("overcast_gravel", _wall("view_overcast", 1.0, 1.0), ("gravel", _PLAIN, 1.4, 0.9), _CAST, _COOL),
    ("yard", _wall("brick_sand", 1.7, 0.9), ("paving", _PLAIN, 1.9, 0.8), _WEATHERED, _DAY),
    ("lane", _wall("brick_red", 1.6, 0.9), ("cobbles", _PLAIN, 1.6, 0.8), _OAK, _COOL),
    ("courtyard", _rustic(_OCHRE), ("gravel_warm", _PLAIN, 1.3, 0.9), _TRAVERTINE, _WARM),
    ("shed", _wall("planks_grey", 1.7, 0.9), ("grass_dry", _PLAIN, 1.2, 0.9), _GREEN_PAINT, _DAY),
)
