"""From a text to machine code: units, boundaries, caches, what cannot be compiled."""
