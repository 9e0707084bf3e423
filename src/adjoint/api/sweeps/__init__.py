"""Sweeps: derivatives in several directions, and of several cotangents, at a time."""
