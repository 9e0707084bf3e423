"""Numbers as Python and NumPy mean them, where instructions of processors compute otherwise."""
