"""Pictures put together in 2D from layers rendered before: a plate for the empty stage, sprites for the objects.

keys.py says which layers a scene needs, bank.py has them or has them made (renderers/blender/layers.py), composite.py
puts them together. Nothing here imports Blender.
"""
