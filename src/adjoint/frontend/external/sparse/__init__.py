"""Sparse matrices of SciPy."""
