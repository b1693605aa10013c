"""`python -m generator export DIR... --to FORMAT --out PATH`: finished runs in other tools' own forms."""

from generator.export.run import run_export

__all__ = ["run_export"]
