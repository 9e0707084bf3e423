"""Shadows, overwritten values, and stores in reverse mode."""
