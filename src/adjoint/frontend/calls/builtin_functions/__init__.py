"""Python's own functions that act on structure: on objects, their attributes and variables, rather than on numbers."""
