"""How functions of numbers with several results are declared."""

# mypy: allow-untyped-defs, allow-untyped-calls

from adjoint.rules.declare import general
from adjoint.runtime.arithmetic.numbers import times
from adjoint.runtime.array_functions.arrays import unbroadcast


def of_one_argument(fn, slopes, results, cases):
    """Declares a function by the derivatives of its results: ``slopes(x, y)``, a tuple."""

    def jvp(dots, y, x):
        return tuple([times(dots[0], slope) for slope in slopes(x, y)])

    def vjp(ct, y, x):
        return (unbroadcast(sum([times(part, slope) for part, slope in zip(ct, slopes(x, y), strict=True)]), x),)

    general(fn, jvp, vjp, results=results, cases=cases)


def of_last_argument(fn, slopes, results, cases, **facts):
    """The same of a function whose first argument is taken as given: ``slopes(n, x, y)``."""

    def jvp(dots, y, n, x):
        return tuple([times(dots[1], slope) for slope in slopes(n, x, y)])

    def vjp(ct, y, n, x):
        return (
            None,
            unbroadcast(sum([times(part, slope) for part, slope in zip(ct, slopes(n, x, y), strict=True)]), x),
        )

    general(fn, jvp, vjp, results=results, fixed=(0,), cases=cases, **facts)
