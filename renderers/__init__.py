"""Pixels from jobs: Blender, and a fake renderer for fast tests."""
