"""Rules of NumPy."""
