"""What went into an export, counted pair by pair: what its card and its credits are made of."""

from collections import Counter
from dataclasses import dataclass, field

from generator.records import PairRecord


@dataclass
class Tally:
    """pairs: by split and task. assets: pairs that show the uid. photographs: ids. left_out: by reason."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    assets: Counter[str] = field(default_factory=Counter)
    photographs: set[str] = field(default_factory=set)
    backgrounds: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    first: PairRecord | None = None

    def add(self, record: PairRecord) -> None:
        """A pair that was written."""
        self.first = self.first or record
        self.pairs[record.split, record.task] += 1
        self.assets.update({item.uid for item in record.objects_0 + record.objects_1})
        self.photographs.update(record.image_ids)
        self.backgrounds.update({record.background} - {""})

    def written(self, split: str | None = None) -> int:
        """Pairs written, of a split or in all."""
        return sum(count for (of, _), count in self.pairs.items() if split in (None, of))
