"""Sparse Jacobians and Hessians of plain loops, beside CasADi."""
