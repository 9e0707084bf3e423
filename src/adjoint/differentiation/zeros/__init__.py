"""Zeros that were left out, told from zeros that were computed."""
