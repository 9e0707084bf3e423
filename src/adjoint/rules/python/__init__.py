"""Rules of Python's own functions and operators."""
