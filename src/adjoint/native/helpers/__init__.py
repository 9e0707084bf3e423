"""Loops that stand for functions of the runtime in machine code: plain Python, read as a user's program is."""
