"""A world that needs no Blender and no files: a catalog of boxes, plain places, and contexts made of them."""

from generator.assets.catalog import Asset, Catalog
from generator.backgrounds import Background
from generator.specs import PaintPlan, SurfaceSpec
from generator.tasks import Context, TaskOptions
from generator.vocabulary import load_vocabulary

# One of each kind of grammar (an, plural, mass), and pairs that must never meet (mug/bowl, car/police car, can/candle).
NOUNS = (
    "apple", "backpack", "bowl", "bread", "can", "candle", "car", "chair", "clock", "dog", "guitar", "hourglass",
    "lamp", "mug", "piano", "police car", "rocket", "scissors", "sofa", "turtle", "umbrella", "unicorn",
)  # fmt: skip
EXTENTS = ((1.0, 1.0, 1.0), (1.0, 0.4, 0.6), (0.5, 0.3, 1.0), (0.8, 1.0, 0.25))


def asset_of(noun: str, number: int = 0) -> Asset:
    """Asset `number` of a noun; its proportions follow from both."""
    uid = f"test/{noun.replace(' ', '_')}/{number}"
    return Asset(
        uid=uid,
        noun=noun,
        source="test",
        path=f"{uid}.glb",
        sha256=uid.encode().hex().ljust(64, "0")[:64],
        model=f"/nowhere/{uid}/model.npz",
        extent=EXTENTS[(len(noun) + number) % len(EXTENTS)],
        coverage=(0.5, 0.5, 0.5),
        triangles=12,
        paint_plan=PaintPlan("material", "paint", 0.5, 0.9),
        title=noun,
        author="nobody",
        licence="CC0-1.0",
        url="https://example.org",
    )


def catalog_of(nouns: tuple[str, ...] = NOUNS, each: int = 2) -> Catalog:
    """`each` paintable assets of every noun."""
    assets = sorted((asset_of(noun, number) for noun in nouns for number in range(each)), key=lambda item: item.uid)
    return Catalog(tuple(assets), ())


def places() -> tuple[Background, ...]:
    """Two places of plain colours."""

    def plain(red: float, green: float, blue: float) -> SurfaceSpec:
        return SurfaceSpec((red, green, blue), 0.6)

    hall = Background("hall", "indoor", plain(0.8, 0.8, 0.75), plain(0.5, 0.4, 0.3), plain(0.6, 0.5, 0.4), (1, 1, 1))
    yard = Background("yard", "outdoor", plain(0.6, 0.7, 0.9), plain(0.4, 0.5, 0.3), plain(0.7, 0.7, 0.7), (1, 1, 1))
    return (hall, yard)


def options(
    phrasing: str = "paper",
    synonyms: bool = False,
    negation: str = "paper",
    attributes: tuple[str, ...] = ("colour", "size"),
) -> TaskOptions:
    """The command line's defaults."""
    return TaskOptions(phrasing, synonyms, negation, attributes, tuple(load_vocabulary().colours))


def context_of(seed: int = 0, chosen: TaskOptions | None = None, catalog: Catalog | None = None) -> Context:
    """What a run over this world gives to every pair."""
    return Context(seed, catalog or catalog_of(), places(), load_vocabulary(), chosen or options())
