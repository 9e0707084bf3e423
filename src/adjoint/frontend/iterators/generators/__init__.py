"""Generators: gone through where they stand, or kept as state machines."""
