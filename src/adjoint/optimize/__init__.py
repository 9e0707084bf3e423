"""Simplification: dead code, value numbering, algebra, branches, and the last touches for readers."""
