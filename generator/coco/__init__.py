"""Hard negatives from real photographs: the official COCO annotation files -> pairs in the shards of `render`.

Paper B.2 (attribute, spatial, negation) and F (swapped nouns). The only package that imports spaCy and pycocotools.
"""
