"""Generators of random numbers, of NumPy and of Python."""
