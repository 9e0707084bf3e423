"""Residuals: what the reverse sweep reads of the forward sweep, and how it gets it."""
