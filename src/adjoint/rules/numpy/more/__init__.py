"""Rules of NumPy's transforms, polynomials, quantiles and statistics."""
