"""Gradients of programs on arrays, beside JAX's. Nothing here may import NumPy before the threads are set."""
