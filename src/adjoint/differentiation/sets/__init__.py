"""Patterns of zeros: beside every statement the statement of its sets of elements."""
