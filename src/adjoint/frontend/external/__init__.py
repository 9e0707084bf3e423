"""Objects of NumPy, SciPy and Numba that have a state of their own, read as Python where they vary."""
