"""Recursive functions in machine code."""
