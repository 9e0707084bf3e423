"""Jacobians and Hessians of which it is known where they are zero."""
