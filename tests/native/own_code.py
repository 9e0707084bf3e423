"""Functions that are compiled as helpers are."""

from adjoint.native.helpers.lowering import lowered
from adjoint.native.llvm.rules.helpers import type_of
from adjoint.native.llvm.signatures import kinds_of
from adjoint.native.llvm.unit import compiled
from adjoint.native.options import PLAIN
from adjoint.passes import Context
from adjoint.pipeline import run as run_passes
from adjoint.target import MACHINE


def own_code(function, options=PLAIN, passes=()):
    """The function as machine code, for the kinds of arguments that it is given; ``passes`` run on its loops before."""
    known = {}

    def run(*args):
        kinds = kinds_of(args)
        given = [arg for arg in args if arg is not None]
        if kinds not in known:
            form = run_passes(passes, lowered(function, list(map(type_of, kinds))), Context(MACHINE))
            unit = compiled(form, kinds_of(given), options)
            known[kinds] = unit.load()
        return known[kinds](*given)

    return run
