"""Zeros that nobody reads."""
