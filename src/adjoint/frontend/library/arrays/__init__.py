"""NumPy's functions that make, shape or write arrays, as their calls are lowered."""
