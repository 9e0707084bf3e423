"""Derivatives of any order as series of Taylor."""
