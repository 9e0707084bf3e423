"""The functions of the runtime for Numba, decided by type."""
