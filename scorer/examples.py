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
    "tables": (
        "tables DCSM=runs/all runs/vit --root benchmarks/ --out runs/tables --published",
        "tables runs/n1000 runs/n5000 runs/n20000 --root benchmarks/ --table table-2 --scale pairs",
        "tables --clip ViT-B-32 --clip ViT-B-16 --pretrained openai --root benchmarks/ --table table-2 --table table-5",
    ),
    "score": (
        'score runs/first photo.jpg "a dog above a cat" "a cat above a dog"',
        'score runs/first photo.jpg "a mug but not a bowl" "a bowl but not a mug" --figure maps.png',
    ),
    "superposition": (
        "superposition datasets_out/spatial-0 --clip tiny",
        "superposition --coco annotations/instances_val2017.json --images val2017 --clip ViT-B-32 --pretrained openai",
    ),
    "noise": (
        "noise",
        "noise --dim 768 --attribute 0.05 0.1 0.3 --noise 0 0.01 0.02 --trials 5000",
    ),
    "maps": (
        'maps photo.jpg "a dog above a cat" "a cat above a dog" --true 1 --clip tiny',
        'maps photo.jpg "a dog and a cat" --region dog=10,20,90,120 --region cat=100,30,200,150 --clip ViT-B-16',
    ),
    "words": (
        "words captions.txt --out words.txt",
        "words datasets_out/spatial-0 --min-count 5",
        "words captions.txt --by llm --llm.url http://localhost:8000/v1 --llm.name my-model",
    ),
}  # fmt: skip
