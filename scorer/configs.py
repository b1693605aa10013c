"""What can be asked of the scorer. Each dataclass is the command line of its verb and the recorded config at once.

No heavy import: `--help` must be instant.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

RowScale = Literal["gaussian", "reference"]
Placement = Literal["tokens", "word-index", "none"]
ZScore = Literal["map", "batch", "none"]
Precision = Literal["auto", "fp32", "bf16"]
Provider = Literal["rules", "llm"]
Simplify = Literal["none", "rules", "llm"]


@dataclass(frozen=True)
class ModelConfig:
    """The scorer itself.

    Attributes:
        model: dcsm-cnn (the paper's), dcsm-vit, pooled-mlp, cosine (plain CLIP) or projections (fine-tuned).
        rows: Scale of the functional rows: gaussian is N(0, row-std^2); reference is the published one, whose rows are
            nearly equal.
        row_std: Standard deviation of gaussian rows.
        placement: Where rows go: tokens finds phrases among the tokenizer's tokens; word-index is the published
            placement (for comparison); none leaves the map as it is (the ablation without functional rows).
        z_score: Normalise each map alone, or over the batch as the published code does.
        text_tokens: Rows of a map; longer captions are cut.
        simplify: Shorten every caption before it is read: rules (spaCy) or llm (an OpenAI-compatible endpoint). The
            run remembers it.
        channels: Channels of both convolutions.
        hidden: Hidden width of the network's head (of the whole network for dcsm-vit).
        dropout: Dropout before the last layer.
    """

    model: str = "dcsm-cnn"
    rows: RowScale = "gaussian"
    row_std: float = 0.25
    placement: Placement = "tokens"
    z_score: ZScore = "map"
    text_tokens: int = 30
    simplify: Simplify = "none"
    channels: int = 4
    hidden: int = 128
    dropout: float = 0.0


@dataclass(frozen=True)
class ClipConfig:
    """The frozen towers.

    Attributes:
        clip: An open_clip model name, tiny (the bundled synthetic test encoder), local-dir:PATH or hf-hub:NAME.
        pretrained: An open_clip weights tag or a weights file (named models only), or random (untrained, a control).
    """

    clip: str = "ViT-B-16"
    pretrained: str = "openai"


@dataclass(frozen=True)
class LlmConfig:
    """An OpenAI-compatible endpoint.

    Attributes:
        url: Base address, up to and without /chat/completions.
        name: Model name to ask for.
        key_env: Environment variable that holds the key; may be unset for local servers.
        temperature: Sampling temperature.
        timeout_s: Seconds to wait for one answer.
        answers: File that keeps the answers; the same question is asked once.
    """

    url: str = "http://localhost:8000/v1"
    name: str = "gpt-4o-mini"
    key_env: str = "OPENAI_API_KEY"
    temperature: float = 0.7
    timeout_s: float = 60.0
    answers: Path | None = None


@dataclass(frozen=True)
class TrainConfig:
    """Train a scorer on shards of twin scenes. Running the same command again goes on where it stopped.

    Attributes:
        data: Run directories, split directories or single tars.
        out: Directory of the run.
        clip: The frozen towers.
        model: The scorer itself.
        epochs: Passes over the training pairs.
        batch_size: Pairs of one family in a step; each makes two images and two texts.
        lr: Learning rate of Adam.
        weight_decay: Decoupled weight decay (0 is plain Adam).
        epoch_length: An epoch ends when the smallest family is used up (as in the paper), or the largest.
        max_pairs: Use at most so many training pairs of each family, 0 for all.
        val_fraction: Share of the training pairs held out when the data has no val split.
        patience: Stop after so many epochs without a better validation accuracy, 0 for never.
        seed: Seed of the weights, the functional rows and the order.
        precision: auto is bf16 where the device computes with it, else fp32.
        device: auto, cpu, cuda, cuda:1, ...
        augment: Perspective, rotation and noise on every image at every step, as in the published code. The towers then
            run at every step and the cache is bypassed.
        control_epochs: Also train a copy on shuffled labels for so many epochs, the control that eval prints beside.
        cache: Where token features are kept between runs; default: $TWINSCENE_CACHE or ~/.cache/twinscene.
        words: A file with functional words to add, one a line (see the words verb).
        log_every: Steps between two log entries.
        llm: Where the language model answers (--simplify llm).
    """

    data: tyro.conf.Positional[tuple[Path, ...]]
    out: Path = Path("runs/scorer")
    clip: Annotated[ClipConfig, tyro.conf.OmitArgPrefixes] = field(default_factory=ClipConfig)
    model: Annotated[ModelConfig, tyro.conf.OmitArgPrefixes] = field(default_factory=ModelConfig)
    epochs: int = 27
    batch_size: int = 8
    lr: float = 1e-3
    weight_decay: float = 0.0
    epoch_length: Literal["smallest", "largest"] = "smallest"
    max_pairs: int = 0
    val_fraction: float = 0.05
    patience: int = 0
    seed: int = 0
    precision: Precision = "auto"
    device: str = "auto"
    augment: bool = False
    control_epochs: int = 0
    cache: Path | None = None
    words: Path | None = None
    log_every: int = 20
    llm: LlmConfig = field(default_factory=LlmConfig)


@dataclass(frozen=True)
class EvalConfig:
    """Judge a trained run on held-out pairs, with controls, or on public benchmarks; writes reports and figures.

    Running the same benchmarks again goes on where it stopped: features and scores are kept.

    Attributes:
        run: Directory of a run, or one checkpoint file. Benchmarks also judge plain CLIP alone (--clip).
        data: Run directories, split directories or single tars; none for benchmarks.
        out: Where the report goes; default: RUN/eval, and RUN/benchmarks or runs/benchmarks/CLIP for benchmarks.
        split: Which split to use where the data has one: test, val, train or all.
        resamples: Bootstrap resamples for the intervals.
        seed: Seed of the resampling, of the controls and of the order in which options are shown.
        device: auto, cpu, cuda, ...
        cache: Where token features are kept; default: $TWINSCENE_CACHE or ~/.cache/twinscene.
        llm: Where the language model answers (runs trained with --simplify llm).
        benchmark: A public benchmark by name, or all; may be given several times (see the benchmarks verb).
        root: Where the benchmarks' annotations and images are.
        clip: Benchmarks only: judge plain CLIP of these towers as well: an open_clip model name, tiny,
            local-dir:PATH or hf-hub:NAME.
        pretrained: The weights of --clip.
    """

    run: tyro.conf.Positional[Path | None] = None
    data: tyro.conf.Positional[tuple[Path, ...]] = ()
    out: Path | None = None
    split: Literal["test", "val", "train", "all"] = "test"
    resamples: int = 1000
    seed: int = 0
    device: str = "auto"
    cache: Path | None = None
    llm: LlmConfig = field(default_factory=LlmConfig)
    benchmark: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    root: Path | None = None
    clip: str | None = None
    pretrained: str = "openai"


@dataclass(frozen=True)
class BenchmarksConfig:
    """List the public benchmarks: their parts, where each comes from, its licence, and what is found under a root.

    Attributes:
        root: Where the benchmarks' annotations and images are.
        names: Only these; default: all.
    """

    names: tyro.conf.Positional[tuple[str, ...]] = ("all",)
    root: Path | None = None


@dataclass(frozen=True)
class ScoreConfig:
    """Score captions against one image with a trained run.

    Attributes:
        run: Directory of a run, or one checkpoint file.
        image: The picture.
        captions: Two captions or more.
        figure: Also draw the maps into this file (png, pdf or svg).
        simplify: Shorten the captions first: none, rules (spaCy) or llm; default: as the run was trained.
        llm: Where the language model answers.
        device: auto, cpu, cuda, ...
    """

    run: tyro.conf.Positional[Path]
    image: tyro.conf.Positional[Path]
    captions: tyro.conf.Positional[tuple[str, ...]]
    figure: Path | None = None
    simplify: Simplify | None = None
    llm: LlmConfig = field(default_factory=LlmConfig)
    device: str = "auto"


@dataclass(frozen=True)
class WordsConfig:
    """Find functional words in captions that the lexicon does not have yet (method 5.3); one a line, for train --words.

    Attributes:
        data: Run directories, split directories, single tars, or text files with one caption a line.
        out: Where the words go; default: standard output.
        by: rules (spaCy, offline) or llm (an OpenAI-compatible endpoint).
        min_count: Leave out words seen in fewer captions.
        llm: Where the language model answers.
    """

    data: tyro.conf.Positional[tuple[Path, ...]]
    out: Path | None = None
    by: Provider = "rules"
    min_count: int = 2
    llm: LlmConfig = field(default_factory=LlmConfig)


@dataclass(frozen=True)
class TablesConfig:
    """Remake Tables 2 to 5 of the DCSM paper, and its scaling figure, from runs: Markdown, LaTeX, CSV, JSON.

    Running the same command again goes on where it stopped: features and scores are kept.

    Attributes:
        runs: Directories of runs or checkpoint files, each a row; NAME=RUN names the row. Plain CLIP of their towers
            is a row, too.
        root: Where the benchmarks' annotations and images are (see the benchmarks verb).
        out: Where everything goes.
        clip: Also plain CLIP of these towers; may be given several times.
        pretrained: The weights of --clip: once, or once for each; default: openai.
        table: Only these: table-2, table-3, table-4, table-5; may be given several times.
        published: Print the paper's own figures as well, marked as such.
        scale: What the scaling figure goes by: training pairs, categories (nouns) or parameters of the runs.
        resamples: Bootstrap resamples for the intervals.
        seed: Seed of the resampling and of the order in which options are shown.
        device: auto, cpu, cuda, ...
        cache: Where token features are kept; default: $TWINSCENE_CACHE or ~/.cache/twinscene.
        llm: Where the language model answers (runs trained with --simplify llm).
    """

    root: Path
    runs: tyro.conf.Positional[tuple[str, ...]] = ()
    out: Path = Path("runs/tables")
    clip: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    pretrained: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    table: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    published: bool = False
    scale: Literal["pairs", "nouns", "parameters"] = "pairs"
    resamples: int = 1000
    seed: int = 0
    device: str = "auto"
    cache: Path | None = None
    llm: LlmConfig = field(default_factory=LlmConfig)


@dataclass(frozen=True)
class SuperpositionConfig:
    """Plot CLIP's cosine of a picture and its labels against their number (Fig. 9 of the DCSM paper).

    Pictures are photographs with COCO annotations (--coco, as in the paper), or are made: objects cut out of runs
    rendered with --masks are pasted on grey, one more at each step.

    Attributes:
        data: Run directories, split directories or single tars with masks; none with --coco.
        coco: An instances file in COCO's format.
        images: The folder of its photographs.
        clip: The towers: an open_clip model name, tiny, local-dir:PATH or hf-hub:NAME.
        pretrained: Their weights.
        prompt: What is said of an object, {} stands for its label.
        most: Show so many object categories at most; photographs with more of them are left out.
        count: Made pictures for each number of categories; of photographs at most so many.
        noise_images: Pictures of random pixels for the baseline.
        out: Where figure and numbers go.
        seed: Seed of the pictures and of the noise.
        device: auto, cpu, cuda, ...
    """

    data: tyro.conf.Positional[tuple[Path, ...]] = ()
    coco: Path | None = None
    images: Path | None = None
    clip: Annotated[ClipConfig, tyro.conf.OmitArgPrefixes] = field(default_factory=ClipConfig)
    prompt: str = "{}"
    most: int = 10
    count: int = 200
    noise_images: int = 5
    out: Path = Path("runs/superposition")
    seed: int = 0
    device: str = "auto"


@dataclass(frozen=True)
class NoiseConfig:
    """Simulate Lemma 2 with noise (Fig. 10 of the DCSM paper): can two bindings of attributes be told apart?

    i(x_a) = ((1 - d) i(x) + d t(a) + w e) / norm with random unit vectors and e drawn from a standard normal
    distribution; i(x_a, y_b) is the normalised sum of i(x_a) and i(y_b). No CLIP is asked.

    Attributes:
        dim: Dimensions of the joint space.
        trials: How often all vectors are drawn anew.
        attribute: Weights d of the attributes; objects weigh 1 - d.
        noise: Weights w of the noise.
        unit: Scale e to length 1, as all other vectors are; a standard normal vector is about sqrt(dim) long.
        out: Where figure and numbers go.
        seed: Seed of all vectors.
    """

    dim: int = 512
    trials: int = 1000
    attribute: tuple[float, ...] = (0.1, 0.3, 0.5)
    noise: tuple[float, ...] = (0.0, 0.01, 0.05)
    unit: bool = False
    out: Path = Path("runs/noise")
    seed: int = 0


@dataclass(frozen=True)
class MapsConfig:
    """Draw CLIP's dense cosine similarity maps of a picture and captions (Fig. 3 of the DCSM paper), without a run.

    Attributes:
        image: The picture.
        captions: One caption or more.
        clip: The towers: an open_clip model name, tiny, local-dir:PATH or hf-hub:NAME.
        pretrained: Their weights.
        true: Which captions are true of the picture, by number from 1; the others are marked as false.
        region: Columns are sorted by these parts of the picture, NAME=x0,y0,x1,y1 in its pixels; may be given several
            times.
        text_tokens: Rows of a map; longer captions are cut.
        out: Where figure and numbers go.
        device: auto, cpu, cuda, ...
    """

    image: tyro.conf.Positional[Path]
    captions: tyro.conf.Positional[tuple[str, ...]]
    clip: Annotated[ClipConfig, tyro.conf.OmitArgPrefixes] = field(default_factory=ClipConfig)
    true: tuple[int, ...] = ()
    region: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    text_tokens: int = 30
    out: Path = Path("runs/maps")
    device: str = "auto"


Config = (
    TrainConfig
    | EvalConfig
    | BenchmarksConfig
    | TablesConfig
    | ScoreConfig
    | SuperpositionConfig
    | NoiseConfig
    | MapsConfig
    | WordsConfig
)
