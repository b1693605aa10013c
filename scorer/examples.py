"""Examples under --help, by verb. Every one of them parses: tests/unit/test_command_line.py."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": (
        "train datasets_out/first --clip tiny --text-tokens 20 --out runs/first",
        "eval runs/first datasets_out/first",
        'score runs/first photo.jpg "a dog above a cat" "a cat above a dog"',
    ),
    "train": (
        "train datasets_out/first --clip tiny --text-tokens 20 --out runs/first",
        "train datasets_out/spatial-0 datasets_out/attribute-0 datasets_out/negation-0 --out runs/all --epochs 27",
        "train datasets_out/spatial-0 --clip ViT-L-14 --pretrained openai --model dcsm-vit --out runs/vit",
    ),
    "eval": (
        "eval runs/first datasets_out/first",
        "eval runs/all datasets_out/spatial-0 datasets_out/attribute-0 --split val --out runs/all/val",
        "eval runs/all --benchmark whatsup --benchmark sugarcrepe --root benchmarks/",
    ),
    "benchmarks": (
        "benchmarks",
        "benchmarks whatsup sugarcrepe --root benchmarks/",
    ),
    "score": (
        'score runs/first photo.jpg "a dog above a cat" "a cat above a dog"',
        'score runs/first photo.jpg "a mug but not a bowl" "a bowl but not a mug" --figure maps.png',
    ),
    "words": (
        "words captions.txt --out words.txt",
        "words datasets_out/spatial-0 --min-count 5",
        "words captions.txt --by llm --llm.url http://localhost:8000/v1 --llm.name my-model",
    ),
}  # fmt: skip
