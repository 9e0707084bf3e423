"""Rules of ``scipy.special``, by what its functions are for."""
