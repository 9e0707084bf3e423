"""What definitions of SciPy's solvers have in common."""

# mypy: allow-untyped-defs, allow-untyped-calls

from adjoint.declarations.implicit import refused


def tupled(args):
    """The arguments that a solver hands on to the function that it is given."""
    return args if isinstance(args, tuple) else (args,)


def unknown(*args, **kwargs):
    """What is said of a function without a derivative: calls are refused by its name, and its source is not read."""
    raise NotImplementedError("any argument")


class Solution:
    """What a solver returns, without what tells how it went, which a derivative does not know."""

    def __getitem__(self, name):
        return getattr(self, name)

    def __getattr__(self, name):
        return refused(name)
