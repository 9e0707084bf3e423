"""Arithmetic of numbers beyond single instructions."""
