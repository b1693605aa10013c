"""Examples under --help, by verb. Every one of them parses: tests/unit/test_command_line.py."""

_COCO = "--captions captions_train2017.json --instances instances_train2017.json --images train2017"

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": (
        "render --task spatial --n 32 --out datasets_out/first",
        "render --help",
        "doctor",
    ),
    "render": (
        "render --task spatial --n 32 --out datasets_out/first",
        "render --task attribute --n 10000 --attributes colour --colours red,green,blue --masks",
        "render --task spatial --n 100000 --engine sprites --views 24 --plates 400",
        "render --task negation --negation shared --n 10000 --split-by noun --assets models/",
    ),
    "status": (
        "status datasets_out/first",
        "status datasets_out/spatial-0",
    ),
    "validate": (
        "validate datasets_out/first",
        "validate datasets_out/spatial-0 datasets_out/attribute-0 --workers 8",
    ),
    "merge": (
        "merge datasets_out/spatial-0 datasets_out/spatial-1 --out datasets_out/spatial",
        "merge datasets_out/spatial-0 datasets_out/attribute-0 datasets_out/negation-0 --out datasets_out/all",
    ),
    "audit": (
        "audit datasets_out/first",
        "audit datasets_out/spatial-0 datasets_out/attribute-0 --strict",
    ),
    "preview": (
        "preview datasets_out/first",
        "preview datasets_out/first --contact-sheet sheet.png",
        "preview datasets_out/spatial-0 --limit 1000",
    ),
    "export": (
        "export datasets_out/first --to imagefolder --out first-imagefolder",
        "export datasets_out/spatial-0 datasets_out/attribute-0 --to clip-csv --split train --out twins-csv",
        "export datasets_out/spatial-0 --to hf --out twins-hf --push me/twins --private",
    ),
    "doctor": (
        "doctor",
    ),
    "assets": (
        "assets list",
        "assets vet --assets models/",
        "assets show --assets models/ --out sheet.png",
    ),
    "assets fetch": (
        "assets fetch --categories mug,banana,guitar --per-category 5",
        "assets fetch --licences cc0 --per-category 1 --root objaverse/",
    ),
    "assets vet": (
        "assets vet --assets models/",
        "assets vet --assets models/ --time-limit-s 600 --memory-limit-gb 16",
    ),
    "assets list": (
        "assets list",
        "assets list --assets models/",
    ),
    "assets show": (
        "assets show --assets models/ --out sheet.png",
        "assets show --nouns mug,chair --columns 2 --size 320",
    ),
    "sprites": (
        "sprites build --views 12 --plates 200",
        "sprites list",
    ),
    "sprites build": (
        "sprites build",
        "sprites build --assets models/ --views 24 --plates 600 --size 336 --bank-gb 60",
    ),
    "sprites list": (
        "sprites list",
    ),
    "sprites clean": (
        "sprites clean --days 30",
        "sprites clean --days 0 --yes",
    ),
    "coco": (
        f"coco spatial {_COCO} --n 5700",
        f"coco attribute {_COCO} --n 8500",
    ),
    "coco attribute": (
        f"coco attribute {_COCO} --n 8500",
        f"coco attribute {_COCO} --n 1000 --attributes colour,material --licenses free",
    ),
    "coco spatial": (
        f"coco spatial {_COCO} --n 5700",
        f"coco spatial {_COCO} --n 1000 --paste mask --balance",
    ),
    "coco negation": (
        f"coco negation {_COCO} --n 5000",
        f"coco negation {_COCO} --n 1000 --phrasing varied --min-area 0.05",
    ),
    "coco swap-noun": (
        f"coco swap-noun {_COCO} --n 10000",
        "coco swap-noun --captions captions_val2017.json --images val2017 --n 500 --out datasets_out/swapped",
    ),
}  # fmt: skip
