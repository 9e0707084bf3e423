"""Numeric cases of a reference system: inputs and the numbers that are expected."""
