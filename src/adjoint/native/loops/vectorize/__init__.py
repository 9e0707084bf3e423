"""Iterations side by side: unroll and jam, vectorisation of outer loops, chunks for threads."""
