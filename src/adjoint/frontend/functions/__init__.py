"""Functions whose source is at hand: binding of parameters, inlining, and those that stay functions."""
