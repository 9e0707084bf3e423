"""Rules of ``scipy.linalg``."""
