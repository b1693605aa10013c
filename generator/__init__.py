"""What to make, and the files it ends in: plans, captions, verification and shards of twin scenes."""

__version__ = "0.1.0"
