"""Calls of SciPy and NumPy as people write them: one function for each, with what it is called with."""
