"""Functions that are compiled as helpers are: by Adjoint's own back end alone."""

from adjoint.native.helpers.lowering import lowered
from adjoint.native.llvm.rules.helpers import type_of
from adjoint.native.llvm.signatures import kinds_of
from adjoint.native.llvm.unit import compiled


def own_code(function):
    """The function as machine code, for the kinds of arguments that it is given; it must have a form."""
    known = {}

    def run(*args):
        kinds = kinds_of(args)
        if kinds not in known:
            unit = compiled(lowered(function, list(map(type_of, kinds))), kinds)
            assert unit is not None
            known[kinds] = unit.load()
        return known[kinds](*args)

    return run
