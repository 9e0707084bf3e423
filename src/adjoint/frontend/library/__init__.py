"""What functions of Python's library and of NumPy do, in Python that is lowered like a user's."""
