"""3D models: where they come from, what they are called, whether they can be used."""
