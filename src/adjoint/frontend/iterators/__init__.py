"""Iterables: items, iterators, generators, ``itertools``."""
