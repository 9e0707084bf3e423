"""Probabilities and quantiles of ``scipy.special``, and their derivatives by the parameters."""
