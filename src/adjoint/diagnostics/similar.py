"""*Did you mean*: what there is with a name much like the one that there is not."""

from __future__ import annotations

from collections.abc import Iterable


def similar(name: object, known: Iterable[object]) -> object | None:
    """What of ``known`` reads most like ``name``; None where nothing does."""
    if not isinstance(name, str) or not name:
        return None
    from difflib import get_close_matches  # lazy

    names = {each.lower(): each for each in known if isinstance(each, str)}
    found = get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def did_you_mean(name: object, known: Iterable[object], shown: str = "{!r}") -> tuple[str, ...]:
    """The help that says so, where there is something to be said; ``shown`` is how it is to be written."""
    found = similar(name, known)
    return () if found is None else (f"did you mean {shown.format(found)}?",)


def one_of(known: Iterable[object], most: int = 8) -> tuple[str, ...]:
    """What there is, where it is few."""
    names = [repr(each) for each in known]
    return (f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}",) if 0 < len(names) <= most else ()


_SHORT = {"np": "numpy", "sp": "scipy", "pd": "pandas", "plt": "matplotlib.pyplot", "nb": "numba", "ad": "adjoint"}


_INSTALLED = ("numpy", "scipy", "pandas", "numba", "adjoint", "matplotlib", "sklearn", "torch", "jax", "sympy")


def missing_import(name: str) -> tuple[str, ...]:
    """The help for a name that a program forgot to import."""
    import math  # lazy
    import sys  # lazy

    if name in _SHORT:
        return (f"import it: import {_SHORT[name]} as {name}",)
    if hasattr(math, name):
        return (f"write np.{name}, or math.{name} for numbers only, with the module imported",)
    if name in sys.stdlib_module_names or name in _INSTALLED:
        return (f"import it: import {name}",)
    return ()
