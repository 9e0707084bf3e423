"""Solvers and optimizers of SciPy: derivatives by what their results solve."""
