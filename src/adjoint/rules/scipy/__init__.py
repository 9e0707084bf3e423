"""Rules of SciPy."""
