"""`python tests/golden/make.py`: write the golden captions and plan that the unit tests compare with.

Run it when captions or plans change on purpose, and look at the difference before committing it.
"""

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from worlds import context_of, options  # noqa: E402 - found through the line above

from generator.plan import parse_shares, shard_plans  # noqa: E402
from generator.specs import PairSpec, to_json  # noqa: E402
from generator.tasks import TASKS  # noqa: E402

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "spatial": ("spatial", {}),
    "spatial, other words": ("spatial", {"phrasing": "varied", "synonyms": True}),
    "attribute": ("attribute", {}),
    "attribute, sizes in other words": ("attribute", {"attributes": ("size",), "synonyms": True}),
    "negation": ("negation", {}),
    "negation, shared": ("negation", {"negation": "shared"}),
}


def specs(name: str, count: int) -> list[PairSpec]:
    """The first pairs of one of RUNS."""
    task, changes = RUNS[name]
    context = context_of(0, options(**changes))
    return [TASKS[task].sample(context, index, 0, "train") for index in range(count)]


def captions() -> dict[str, list[dict[str, Any]]]:
    """Captions and facts of six pairs of each run."""
    return {
        name: [
            {
                "key": spec.key,
                "captions_0": list(spec.captions_0),
                "captions_1": list(spec.captions_1),
                "template": spec.template,
                "words": list(spec.words),
                "fact": to_json(spec.fact),
            }
            for spec in specs(name, 6)
        ]
        for name in RUNS
    }


def plan() -> dict[str, Any]:
    """The shards of a small run, and the first pair of each of RUNS, numbers rounded and slabs by name alone."""
    shares = parse_shares("train=0.8,val=0.1,test=0.1")
    shards = [[item.split, item.number, list(item.indices)] for item in shard_plans(7, 40, shares, 8)]
    return {"shards": shards, "pairs": {name: pair(specs(name, 1)[0]) for name in RUNS}}


def pair(spec: PairSpec) -> dict[str, Any]:
    """A pair in short."""
    data: dict[str, Any] = rounded(to_json(spec))
    for scene in data["scenes"]:
        scene["slabs"] = [slab["name"] for slab in scene["slabs"]]
    return data


def rounded(data: Any) -> Any:
    """Floats to six digits: enough to notice a change, not a compiler."""
    if isinstance(data, dict):
        return {key: rounded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [rounded(value) for value in data]
    return round(float(data), 6) if isinstance(data, float) else data


if __name__ == "__main__":
    for file_name, content in (("captions.json", captions()), ("plan.json", plan())):
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (HERE / file_name).write_text(text + "\n", encoding="utf-8")
