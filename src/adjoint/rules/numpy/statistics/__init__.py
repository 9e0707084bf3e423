"""Rules of NumPy's statistics and quantiles."""
