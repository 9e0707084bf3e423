"""Loops that stand for functions of the runtime in machine code: plain Python, which both back ends compile."""
