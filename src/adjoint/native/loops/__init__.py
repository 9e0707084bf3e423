"""Loops as machine code likes them: nothing is made in them, indices are plain, order is kept only where it counts."""
