"""Machine code: what Numba does not take is rewritten, loops are made faster, and Numba is told of the runtime."""
