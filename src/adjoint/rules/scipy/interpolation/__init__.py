"""Rules of SciPy's curves and surfaces through samples."""
