"""Distributions of ``scipy.stats``, by their formulas."""
