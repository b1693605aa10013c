"""A contact sheet: pairs with their captions under them, as one picture for a README or for checking by eye."""

import io
import math
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps

from generator.errors import ConfigError, DataError, OutputError
from generator.preview.choice import choose_samples, read_run
from generator.preview.wording import Marked, fact_words, mark_captions
from generator.records import Sample

IMAGE_PX = 224
GAP_PX = 6
MARGIN_PX = 20
FONT_PX = 14
LINE_PX = 18
PAPER, INK, FAINT, MARK = "#ffffff", "#1b1f24", "#6b7280", "#b3261e"

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Word = tuple[str, bool]


def contact_sheet(out: Path, png: Path, count: int) -> Path:
    """Write `count` pairs of a run, evenly chosen, to `png`; the words that carry the fact are coloured.

    Raises DataError where the run has no accepted pair yet, ConfigError on a count below 1, OutputError.
    """
    if count < 1:
        raise ConfigError(f"a contact sheet needs at least 1 pair, not {count}")
    samples = choose_samples(read_run(out), count)
    if not samples:
        raise DataError(f"{out}: no accepted pair to show yet")
    font = ImageFont.load_default(FONT_PX)
    cards = [_card(sample, font) for sample in samples]
    columns = min(3, len(cards))
    rows = [cards[start : start + columns] for start in range(0, len(cards), columns)]
    heights = [max(card.height for card in row) for row in rows]
    width = columns * (cards[0].width + MARGIN_PX) + MARGIN_PX
    sheet = Image.new("RGB", (width, sum(heights) + MARGIN_PX * (len(rows) + 1)), PAPER)
    y = MARGIN_PX
    for row, height in zip(rows, heights, strict=True):
        for column, card in enumerate(row):
            sheet.paste(card, (MARGIN_PX + column * (card.width + MARGIN_PX), y))
        y += height + MARGIN_PX
    try:
        png.parent.mkdir(parents=True, exist_ok=True)
        sheet.save(png, "PNG", optimize=True)
    except OSError as error:
        raise OutputError(f"cannot write {png}: {error.strerror or error}") from error
    return png


def _card(sample: Sample, font: Font) -> Image.Image:
    record = sample.record
    words = fact_words(record.fact.kind, record.fact.value_0, record.fact.value_1)
    marked = mark_captions(record.captions_0, record.captions_1, words)
    blocks = [[_wrap(caption, font) for caption in side] for side in marked]
    height = IMAGE_PX + max(sum(GAP_PX + LINE_PX * len(lines) for lines in side) for side in blocks)
    card = Image.new("RGB", (2 * IMAGE_PX + GAP_PX, height), PAPER)
    draw = ImageDraw.Draw(card)
    for side in (0, 1):
        left = side * (IMAGE_PX + GAP_PX)
        data = sample.image(side)
        if data is None:
            draw.rectangle((left, 0, left + IMAGE_PX - 1, IMAGE_PX - 1), outline=FAINT)
            draw.text((left + IMAGE_PX / 2, IMAGE_PX / 2), "no second image", FAINT, font, anchor="mm")
        else:
            image = Image.open(io.BytesIO(data)).convert("RGB")
            image = ImageOps.pad(image, (IMAGE_PX, IMAGE_PX), Image.Resampling.LANCZOS, color=PAPER)
            card.paste(image, (left, 0))
        y = IMAGE_PX
        for lines in blocks[side]:
            y += GAP_PX
            for line in lines:
                _write(draw, (left, y), line, font)
                y += LINE_PX
    return card


def _wrap(caption: Marked, font: Font) -> list[list[Word]]:
    """Lines of words no wider than an image."""
    lines: list[list[Word]] = [[]]
    width = 0.0
    space = font.getlength(" ")
    for text, changed in caption:
        for word in text.split():
            advance = font.getlength(word) + space
            if lines[-1] and math.ceil(width + advance - space) > IMAGE_PX - GAP_PX:
                lines.append([])
                width = 0.0
            lines[-1].append((word, changed))
            width += advance
    return lines


def _write(draw: ImageDraw.ImageDraw, place: tuple[float, float], line: list[Word], font: Font) -> None:
    x, y = place
    for word, changed in line:
        draw.text((x, y), word, MARK if changed else INK, font)
        x += font.getlength(word + " ")
