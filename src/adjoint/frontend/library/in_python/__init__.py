"""What functions and classes of Python's library do, in Python: read by the compiler, lowered like a user's code."""
