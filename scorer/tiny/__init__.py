"""The bundled tiny CLIP: its recipe (sprites, tokenizer, training) and, in model/, its weights.

A synthetic test encoder for tests, the quick start and teaching. It knows the bundled assets and nothing else.
"""
