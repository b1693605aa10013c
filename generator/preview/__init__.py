"""`python -m generator preview DIR`: a gallery that opens from disk, and contact sheets."""

from generator.cli import Preview
from generator.preview.gallery import write_preview
from generator.preview.sheet import contact_sheet

__all__ = ["contact_sheet", "run_preview", "write_preview"]

SHEET_PAIRS = 24


def run_preview(config: Preview) -> int:
    """Write the gallery, and the contact sheet when asked for; say where they are."""
    print(write_preview(config.out, config.limit))
    if config.contact_sheet is not None:
        print(contact_sheet(config.out, config.contact_sheet, min(config.limit, SHEET_PAIRS)))
    return 0
