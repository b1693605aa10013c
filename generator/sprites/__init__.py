"""The sprite bank from the outside: which layers a plan needs, having them rendered, keeping house."""
