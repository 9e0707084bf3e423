"""Differential operators inside functions, and the functions that they differentiate."""
