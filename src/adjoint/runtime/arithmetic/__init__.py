"""Arithmetic of generated code: numbers that never raise, checks, loops, several numbers side by side, series."""
