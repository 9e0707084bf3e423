"""Containers, objects, and variables that outlive a call."""
