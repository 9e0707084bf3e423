"""Calls of functions whose derivatives are declared."""
