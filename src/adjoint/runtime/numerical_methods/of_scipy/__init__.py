"""What derivatives of SciPy's functions are made of; all that needs SciPy."""
