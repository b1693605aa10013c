"""python -m scorer: train, eval, score, words."""

from scorer.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
