"""Rules of ``np.linalg``."""
