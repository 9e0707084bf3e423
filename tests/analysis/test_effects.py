"""What calls do besides computing their results."""

import cmath
from importlib import import_module

from adjoint.analysis import effects, known_effects


def test_functions_that_are_known_by_name_are_there():
    for home, functions in known_effects.KNOWN_BY_NAME.items():
        for name, found in functions.items():
            function = getattr(import_module(home), name)
            assert function.__module__ == home and effects.effects(function) is found
    of_complex_numbers = {name for name in dir(cmath) if not name.startswith("_") and callable(getattr(cmath, name))}
    assert of_complex_numbers == set(known_effects.KNOWN_BY_NAME["cmath"])
