"""Numbers as Python and NumPy mean them, for a compiler that computes otherwise."""
