"""Arrays, for a compiler of loops."""
