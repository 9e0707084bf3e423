"""Results that are of no kind that is known, and results that were found."""

import fractions

import adjoint as ad
import numpy as np

SQUARES = {0.25: 0.0625}

#: ad.grad(simple_fraction)(0.3)
def simple_fraction(x):  # error[AD0407]: this returns an object of class 'Fraction' or a number
    for n in range(1, 5):
        if abs(n / 4 - x) < 1e-3:
            return fractions.Fraction(n, 4)
    return x


#: ad.grad(item_of_objects)(0.3)
def item_of_objects(x):
    row = np.array([x, "name"], dtype=object)  # error[AD0401]: items of an array of objects may be anything
    return row[0]


#: ad.grad(memoised)(0.3)
def memoised(x):
    if x in SQUARES:  # error[AD0302]: what an earlier call has kept for the same arguments is found here: it would count as a constant
        return SQUARES[x]
    SQUARES[x] = x * x
    return SQUARES[x]
