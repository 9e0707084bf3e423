"""What array statements do to elements: nodes over axes, recognized in the IR."""
