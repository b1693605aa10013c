"""Blender behind one door: the only package that imports bpy."""
