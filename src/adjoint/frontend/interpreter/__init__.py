"""The abstract interpreter: its state, its values, joins of them, and what exists at run time."""
