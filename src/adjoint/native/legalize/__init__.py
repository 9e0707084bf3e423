"""Rewriting what Numba does not take, or takes otherwise than Python means it."""
