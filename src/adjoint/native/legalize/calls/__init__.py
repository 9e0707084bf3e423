"""Calls of functions that stay functions: what their arguments have in common, and recursion in machine code."""
