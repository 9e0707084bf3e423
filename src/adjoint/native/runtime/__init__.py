"""What Numba is told of the runtime."""
