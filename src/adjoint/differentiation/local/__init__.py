"""Derivatives of loops whose iterations read a few elements and store a few: entry by entry."""
