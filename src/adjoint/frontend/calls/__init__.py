"""Calls: of a user's functions, of what has rules, of Python's own functions, of what cannot be seen."""
