"""Residuals of which only the shape is asked."""
