"""Rules of SciPy's convolutions, filters, spectra and sampling rates."""
