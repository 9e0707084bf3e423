"""What tests of functions that stay functions share: with every call kept, as with the usual bound, and a closure."""

import math

import pytest

as_usual_and_kept = pytest.mark.parametrize("most", [None, 0], ids=["as usual", "kept"])
"""For ``fuzz.inlining.repeating``: with the usual bound, and with no call inlined."""


def layer(a, b):
    def run(y):
        if y < 0.5:
            y = a * math.sin(y) + b
        else:
            y = math.exp(-y) * a - b
        return y * a + b

    return run
