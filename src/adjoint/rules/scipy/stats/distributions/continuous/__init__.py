"""Continuous distributions of ``scipy.stats``, by their formulas."""
