"""Rules of the NumPy functions that make arrays, and move or choose their elements."""
