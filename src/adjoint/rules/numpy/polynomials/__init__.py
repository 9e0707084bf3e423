"""Rules of NumPy's polynomials."""
