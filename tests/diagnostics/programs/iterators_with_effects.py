"""Iterators whose items are computed beforehand, by code that others notice."""

import itertools

import adjoint as ad


#: ad.grad(drawn_beside_what_it_changes)([0.9, 0.6, 1.0])
def drawn_beside_what_it_changes(y):
    def lowered(v):
        y[2] -= v
        return v

    total = 0.0
    for a, b in zip(map(lowered, y), map(lowered, y)):  # error[AD0305]: what computes the items changes what is used between them
        total += a * b
    return total


#: ad.grad(drawn_further_than_needed)([0.9, 0.6, 1.0])
def drawn_further_than_needed(y):
    seen = [0.0]

    def noted(v):
        seen[0] += v
        return v

    first = 0.0
    for v, _ in itertools.zip_longest(map(noted, y), y):  # error[AD0305]: what computes the items changes what is used between them
        first += v
    return first * seen[0]
