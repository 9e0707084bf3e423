"""The functions that a gradient is made of: the primal, the adjoint, and both as one.

For a function ``f`` of arguments ``T`` and with a result ``U``:

* the *primal* runs ``f`` and keeps what the reverse sweep needs: ``T -> (checkpoints, U)``;
* the *adjoint* takes that and the cotangent of the result, the seed: ``(checkpoints, U, seed) -> gradient``;
* the *canonical* gradient is one behind the other: ``(T, seed) -> (U, gradient)``.

The gradient itself is the canonical one with the seed 1. In it nothing is kept that need not be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjoint.api.derivative import Derivative
from adjoint.api.jvp_vjp import leaf_seed
from adjoint.api.tools.inspection import specialization_to_show
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance
from adjoint.dispatch.specialize import Specialization, specialization
from adjoint.frontend.differentiation.primal_adjoint import lower_artifacts
from adjoint.frontend.entry.captured import differentiated
from adjoint.runtime.boundary import check_cotangent
from adjoint.runtime.objects import Checkpoints

_KINDS = ("grad", "value_and_grad")


class Primal(Derivative):
    """The forward sweep of a gradient: gives checkpoints and the value.

    Examples
    --------
    >>> import adjoint as ad, math
    >>> def f(x: float, y: float) -> float:
    ...     return math.exp(x) * y
    >>> df = ad.grad(f, wrt=(0, 1))
    >>> checkpoints, value = df.primal(0.0, 3.0)
    >>> checkpoints, value
    (FCheckpoints(y=3.0, t=1.0), 3.0)
    >>> df.adjoint(checkpoints, value, 2.0)
    (6.0, 2.0)
    >>> df.canonical(0.0, 3.0, seed=2.0)
    (3.0, (6.0, 2.0))
    >>> print(ad.source(df.primal), ad.source(df.adjoint), sep="")
    def f_primal(x, y):
        t = math.exp(x)
        checkpoints = FCheckpoints(y=y, t=t)
        return checkpoints, t * y
    def f_adjoint(checkpoints, value, seed):
        y = checkpoints.y
        t = checkpoints.t
        return seed * y * t, seed * t
    <BLANKLINE>
    """

    def __init__(self, derivative: Derivative) -> None:
        if derivative.kind not in _KINDS:
            label = f"{derivative.kind!r} has no primal and no adjoint: ad.grad and ad.value_and_grad have"
            raise error("AD0103", None, label, name=repr(derivative), helps=("take them of the gradient: ad.grad(f)",))
        super().__init__("primal", derivative.function, derivative.native, **dict(derivative.options))
        self.derivative = derivative

    def specialized(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Specialization:
        """The compiled form for these arguments."""
        key = self.kind, self.options
        lower = lambda target: lower_artifacts(self.function, dict(self.options), args, kwargs, target)
        found = specialization(self.function, key, args, kwargs, lower, self.native)
        assert found.checkpoints is not None
        found.checkpoints.compiled = found
        found.checkpoints.made_for = _identity(self)
        return found

    @property
    def checkpoints(self) -> type[Checkpoints]:
        """The class of what it keeps, for the types that annotations tell, or else for those of the latest call."""
        found = specialization_to_show(self, (), {})[0].checkpoints
        assert found is not None
        return found

    def __adjoint_text__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        return specialization_to_show(self, args, kwargs)[0].emitted.text

    def __repr__(self) -> str:
        return f"{self.derivative!r}.primal"

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.derivative, "primal")


def _identity(derivative: Derivative) -> Any:
    """What tells derivatives apart whose checkpoints must not be mixed up."""
    root = differentiated(derivative.function)
    function = getattr(root, "__func__", root)
    return getattr(function, "__code__", function), repr(derivative.function), derivative.options


class _Part:
    """One of the functions that a gradient is made of, beside the primal."""

    name: str

    def __init__(self, derivative: Derivative) -> None:
        self.derivative = derivative
        self._primal = derivative.primal

    def __repr__(self) -> str:
        return f"{self.derivative!r}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.derivative, self.name)

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.name, self._primal.function, self._primal.options


class Adjoint(_Part):
    """The reverse sweep of a gradient: takes the checkpoints and the value that the primal gave, and the seed.

    It may be called any number of times. See :class:`Primal`.
    """

    name = "adjoint"

    @entrance
    def __call__(self, checkpoints: Any, value: Any, seed: Any = 1.0) -> Any:
        """The gradient.

        Parameters
        ----------
        checkpoints, value
            What ``df.primal`` returned.
        seed
            The cotangent of the value, or of the component of it that is differentiated: the same structure, numbers
            of the same type, arrays of the same shape and dtype. None, whole or in part, is zero.

        Raises
        ------
        DifferentiationError
            AD0422 for checkpoints of another derivative; AD0409 for a seed of another structure than the value.
        """
        compiled = getattr(type(checkpoints), "compiled", None)
        if not isinstance(checkpoints, Checkpoints) or compiled is None:
            kind = type(checkpoints).__name__
            raise error("AD0422", None, f"the first argument is of class {kind!r}, and no checkpoints")
        if type(checkpoints).made_for != _identity(self._primal):
            raise error("AD0422", None, f"these are {type(checkpoints).__name__} of another derivative")
        return compiled.adjoint(checkpoints, value, *_seeds(compiled, value, seed))

    def __adjoint_text__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        emitted = specialization_to_show(self._primal, args, kwargs)[0].adjoint_emitted
        assert emitted is not None
        return emitted.text


def _seeds(compiled: Specialization, value: Any, seed: Any) -> list[Any]:
    """The cotangents that a compiled adjoint takes, from the one that a user gives."""
    for key in compiled.component:
        named = isinstance(key, str) and key.startswith(".")
        value = getattr(value, key[1:]) if named else value[key]
    checked = check_cotangent(seed, value, "the seed")
    return [leaf_seed(checked, value, path) for path in compiled.seeds]


class Canonical(_Part):
    """The primal and the adjoint, one behind the other. See :class:`Primal`."""

    name = "canonical"

    @entrance
    def __call__(self, *args: Any, seed: Any = 1.0, **kwargs: Any) -> tuple[Any, Any]:
        """The value and the gradient.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the function.
        seed
            As for :class:`Adjoint`.
        """
        checkpoints, value = self._primal(*args, **kwargs)
        return value, self.derivative.adjoint(checkpoints, value, seed)

    def __adjoint_text__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        compiled = specialization_to_show(self._primal, args, kwargs)[0]
        primal, adjoint = compiled.emitted, compiled.adjoint_emitted
        assert adjoint is not None
        head = primal.text.partition("(")[2].partition("):")[0]
        name = primal.name.removesuffix("_primal")
        return (
            f"def {name}_canonical({head}, seed):\n"
            f"    checkpoints, value = {primal.name}({head})\n"
            f"    return value, {adjoint.name}(checkpoints, value, seed)\n\n\n"
            f"{primal.text}\n\n{adjoint.text}"
        )


__all__ = ["Adjoint", "Canonical", "Primal"]
