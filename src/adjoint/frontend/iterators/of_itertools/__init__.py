"""The functions of `itertools`."""
