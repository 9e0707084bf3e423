"""``grad`` and its family, but for the products that :mod:`adjoint.api.jvp_vjp` gives."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from adjoint import keypaths
from adjoint.api import shape_errors
from adjoint.diagnostics import DifferentiationError, error
from adjoint.diagnostics.entrances import entrance, hand_over
from adjoint.dispatch.keys import MISS, Door
from adjoint.dispatch.options import Native, resolve
from adjoint.dispatch.specialize import Specialization, specialization
from adjoint.frontend.entry.captured import differentiated
from adjoint.keypaths.parts import PartOf, as_part
from adjoint.sources.definitions import text_to_send

if TYPE_CHECKING:
    from adjoint.api.primal_adjoint import Adjoint, Canonical, Primal
    from adjoint.frontend.entry.entry import Entry
    from adjoint.target import Target

WrtOne = Union[int, str, "keypaths.KeyPath[Any, Any]"]  # whose class is loaded by those who have one
Wrt = WrtOne | tuple[WrtOne, ...]
Mode = Literal["forward", "reverse"] | None


class LikeFunction:
    """What Python's tools ask of functions: a name, a signature, a text, and the function that it is made of."""

    kind: str
    function: Any

    def _describe(self) -> None:
        """Takes over what there is to be read of the function."""
        what, text = _WORDS.get(self.kind, "What is made"), getattr(self.function, "__doc__", None)
        self.__doc__ = f"{what} of {name_of(self.function)}." + (f"\n\n{text}" if text else "")
        self.__module__ = getattr(self.function, "__module__", __name__)
        self.__qualname__ = self.__name__

    @property
    def __name__(self) -> str:
        return f"{_plain_name(self.function)}_{self.kind}"

    @property
    def __wrapped__(self) -> Any:
        return self.function

    @property
    def __signature__(self) -> inspect.Signature:
        try:
            found = inspect.signature(self.function)
        except ValueError as error:  # nobody knows it
            raise AttributeError(str(error)) from None
        return found.replace(return_annotation=inspect.Signature.empty)


_WORDS = {
    "grad": "The gradient",
    "value_and_grad": "The value and the gradient",
    "jacobian": "The Jacobian",
    "hessian": "The Hessian",
    "compile": "The compiled form",
}


class Derivative(LikeFunction):
    """A derivative of a function: compiled at its first call for each kind of arguments.

    It can be pickled when the function can, and printed by :func:`source`.
    """

    def __init__(self, kind: str, function: Callable[..., Any], native: Native = None, **options: Any) -> None:
        self.kind = kind
        self.function = function
        self.native = resolve(native, function)
        self.options = tuple(sorted(options.items()))
        self._root = differentiated(function)
        self._door: Door | None = None
        self._keeps_shapes = kind == "grad"
        self._wrt, self._has_aux = options.get("wrt"), bool(options.get("has_aux"))
        self._places = self._wrt if type(self._wrt) is tuple else (self._wrt,)
        are_plain = all(type(place) is int and place >= 0 for place in self._places)
        self._last = max(self._places, default=0) if are_plain else sys.maxsize
        self._describe()

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.kind, self.function, self.options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._door is not None and not kwargs:
                result = self._door(self._root, args)
                if result is not MISS:
                    if type(result) is not float and self._keeps_shapes:
                        self._check_shapes(result, args, kwargs)
                    return result
            compiled = self.specialized(args, kwargs)
            if compiled.door is not None:
                self._door = compiled.door
                self._keeps_shapes = self.kind == "grad" and not compiled.writes_containers
            result = compiled.run(self._root, (*args, *kwargs.values()))
            if self.kind == "grad" and not compiled.writes_containers:
                self._check_shapes(result, args, kwargs)
            return result
        except Exception as failure:
            hand_over(failure)
            raise

    def _check_shapes(self, result: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Raises if a gradient has not the shape of its argument: the function raises there, and was not needed."""
        gradient = result[0] if self._has_aux else result
        if len(args) > self._last:
            parts = gradient if type(self._wrt) is tuple else (gradient,)
            for place, part in zip(self._places, parts, strict=True):  # a loop without calls, as most calls end here
                if type(part) is np.ndarray and type(args[place]) is np.ndarray and part.shape == args[place].shape:
                    continue
                if type(part) is not float:
                    break
            else:
                return
        shape_errors.check_shapes(gradient, self._wrt, self.function, args, kwargs)

    def specialized(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Specialization:
        """The compiled form for these arguments."""
        return specialization(
            self.function,
            (self.kind, self.options),
            args,
            kwargs,
            lambda target: self._lowered(args, kwargs, target),
            self.native,
            self._lowered,
        )

    def _lowered(self, args: Sequence[Any], kwargs: Mapping[str, Any], target: Target) -> Entry:
        from adjoint.frontend.entry.entry import lower_operator  # lazy

        return lower_operator(self.kind, self.function, self.options, args, kwargs, target)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """The type that Numba gives it in functions that call it."""
        from adjoint.api.tools.calls_from_numba import DerivativeType  # lazy

        return DerivativeType(self)

    @functools.cached_property
    def primal(self) -> Primal:
        """The forward sweep: ``df.primal(*args)`` gives ``(checkpoints, value)``; :mod:`adjoint.api.primal_adjoint`."""
        from adjoint.api import primal_adjoint  # lazy

        return primal_adjoint.Primal(self)

    @functools.cached_property
    def adjoint(self) -> Adjoint:
        """The reverse sweep: ``df.adjoint(checkpoints, value, seed)`` gives the gradient."""
        from adjoint.api import primal_adjoint  # lazy

        return primal_adjoint.Adjoint(self)

    @functools.cached_property
    def canonical(self) -> Canonical:
        """Both: ``df.canonical(*args, seed=1.0)`` gives ``(value, gradient)``."""
        from adjoint.api import primal_adjoint  # lazy

        return primal_adjoint.Canonical(self)

    @property
    def checkpoints(self) -> type:
        """The dataclass of what the forward sweep hands to the reverse sweep.

        It is that of the types that annotations tell, or else of the latest call of :attr:`primal`.
        """
        return self.primal.checkpoints

    def __repr__(self) -> str:
        given = (*self.options, *([("native", self.native)] if self.native else []))
        options = "".join(f", {key}={value!r}" for key, value in given if (key, value) not in _DEFAULTS)
        return f"{self.kind}({name_of(self.function)}{options})"

    def _repr_html_(self) -> str | None:
        """How notebooks show it: its source in colours, once the types of the arguments are known."""
        from adjoint.api.tools.inspection import html  # lazy

        return html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        text = text_to_send(self._root)
        return _restore, (type(self), self.kind, self.function, self.options, self.native, text)


_DEFAULTS = (("wrt", 0), ("has_aux", False))


def _plain_name(function: Any) -> str:
    """A name of letters only, whatever a function is called."""
    inner = function.func if isinstance(function, functools.partial) else function
    name = str(getattr(inner, "__name__", type(inner).__name__))
    return name if name.isidentifier() else "function"


def name_of(function: Any) -> str:
    """What to call a function: never with an address or with data."""
    if isinstance(function, functools.partial):
        return f"partial({name_of(function.func)})"
    if hasattr(function, "__adjoint_operator__"):
        return repr(function)
    return str(getattr(function, "__name__", type(function).__name__))


def _restore(
    cls: type[Derivative],
    kind: str,
    function: Any,
    options: tuple[tuple[str, Any], ...],
    native: Native = None,
    text: str | None = None,
) -> Derivative:
    if text is not None:
        from adjoint.sources import unfiled  # lazy

        unfiled.receive(text)
    return cls(kind, function, native, **dict(options))


def function_of(f: Any, operator: str) -> Any:
    if not callable(f):
        kind = type(f).__name__
        helps = None
        if hasattr(f, "__dict__") and not isinstance(f, np.ndarray):
            helps = (f"hand over a method of it, or give the class {kind} a method __call__",)
        raise error("AD0103", None, f"ad.{operator} was given a value of type '{kind}'", helps=helps, name=kind)
    return f


def no_derivative(tool: str, given: Any) -> DifferentiationError:
    """The refusal of what a tool for derivatives is handed instead of one."""
    label = f"ad.{tool} takes what ad.grad and ad.value_and_grad return"
    target = '"derivative.py", ' if tool == "export" else ""
    way = f"ad.{tool}({target}ad.grad({_shown(given)}), 1.0)"
    helps = (f"take the derivative first: {way}, with arguments of the kinds that are meant",)
    name = getattr(given, "__name__", type(given).__name__)
    return error("AD0105", None, label, helps=helps if callable(given) else (), name=name)


def _wrt(wrt: Any, operator: str, f: Any) -> Any:
    """What ``wrt`` means; anything else is most likely an argument that belongs into a second call."""
    if isinstance(wrt, (list, tuple)):
        return tuple([_wrt(choice, operator, f) for choice in wrt])
    part = as_part(int(wrt) if isinstance(wrt, np.integer) else wrt)
    if isinstance(part, bool) or not isinstance(part, (int, str, PartOf)):
        given = repr(wrt) if isinstance(wrt, (bool, float, complex)) else "x"
        call = f"to differentiate there, call what comes back: ad.{operator}({_shown(f)})({given})"
        shown = f"wrt={wrt!r}" if given != "x" else f"an object of class {type(wrt).__name__!r}"
        label = f"{shown} is no index, name or key path"
        raise error("AD0405", None, label, helps=(call, "wrt takes the index or the name of a parameter"))
    return part


def _shown(f: Any) -> str:
    name = str(getattr(f, "__name__", "f"))
    return name if name.isidentifier() else "f"


def _component(result: Any, has_aux: bool) -> dict[str, Any]:
    """The option ``result``, where it is given."""
    if result is None:
        return {}
    if has_aux:
        label = "with has_aux=True the first of the pair is differentiated"
        raise error("AD0421", None, label, helps=("leave out has_aux: ad.value_and_grad(f, result=0)",))
    return {"result": as_part(result)}


def _writes(keep_writes: Any) -> dict[str, Any]:
    """The option ``keep_writes``, where it is given."""
    if keep_writes not in (True, False):
        raise ValueError(f"keep_writes={keep_writes!r}: it is True or False")
    return {} if keep_writes else {"keep_writes": False}


@entrance
def grad(
    f: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    result: WrtOne | None = None,
    keep_writes: bool = True,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
    threads: int = 1,
    debug: bool = False,
) -> Derivative:
    """The gradient of a function that returns a number.

    Parameters
    ----------
    f
        The function: plain, method, partial, callable object, or one that has a rule.
    wrt
        The argument to differentiate with respect to, by index or name, or a part of an argument, by a key path
        from its class; a tuple for several.
    has_aux
        The function returns ``(value, aux)``; the derivative returns ``(gradient, aux)``.
    result
        The component of the result to differentiate, where the function returns a structure: the index of an item,
        a key, the name of a field, or a key path. The others count as constants.
    keep_writes
        Whether the derivative writes to arguments what the function writes to them. With ``False`` arrays, lists and
        objects that are handed over stay as they are, and what is computed for such writes only is left out.
    native
        Whether Numba compiles the derivative. What it cannot compile runs as Python, with a warning that says why;
        ``"strict"`` makes that an error. Without it, derivatives of ``@njit`` functions are compiled. Whole
        numbers of machine code have 64 bits, and its indices are not checked; else it gives what Python gives.
    fastmath
        Compiled sums may be added up in another order, and products and sums joined; arithmetic refuses nothing, as
        that of NumPy.
    boundscheck
        Whether compiled code raises an IndexError for an index out of range.
    threads
        In how many chunks outermost loops of the compiled derivative run side by side, if their iterations share
        nothing but what they add to. The result depends on this number, by roundings, and not on timing.
    debug
        Raises a FloatingPointError where the gradient is infinite or not a number, which names the first line of the
        function at which a cotangent becomes so, with the values there. The derivative runs as Python, and slowly.

    Returns
    -------
    Derivative
        Takes the arguments of ``f``. The gradient has the structure of the argument: float for float, array of
        the same shape and dtype, tuple, list, dict (None at what cannot be differentiated), tangent object.

    Raises
    ------
    DifferentiationError
        At the first call with a kind of arguments: if anything on the way cannot be differentiated.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     return x * x
    >>> ad.grad(f)(3.0)
    6.0
    """
    native = resolve(native, function_of(f, "grad"), fastmath, boundscheck, threads)
    options = {"wrt": _wrt(wrt, "grad", f), "has_aux": has_aux, **_component(result, has_aux), **_writes(keep_writes)}
    return _debugged("grad", f, options) if debug else Derivative("grad", f, native, **options)


def _debugged(kind: str, f: Callable[..., Any], options: dict[str, Any]) -> Derivative:
    """A derivative that says where it stops being finite."""
    from adjoint.api.tools.nonfinite import Debugged  # lazy

    return Debugged(kind, f, False, **options)


@entrance
def value_and_grad(
    f: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    result: WrtOne | None = None,
    keep_writes: bool = True,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
    threads: int = 1,
    debug: bool = False,
) -> Derivative:
    """The value of a function and its gradient; parameters as those of :func:`grad`.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     return x * x
    >>> ad.value_and_grad(f)(3.0)
    (9.0, 6.0)
    """
    native = resolve(native, function_of(f, "value_and_grad"), fastmath, boundscheck, threads)
    options = {
        "wrt": _wrt(wrt, "value_and_grad", f),
        "has_aux": has_aux,
        **_component(result, has_aux),
        **_writes(keep_writes),
    }
    return _debugged("value_and_grad", f, options) if debug else Derivative("value_and_grad", f, native, **options)


@entrance
def compile(f: Callable[..., Any], *, native: Native = True) -> Derivative:
    """The function itself, as derivatives are compiled: with the derivatives that it takes inside of it.

    Parameters
    ----------
    f
        The function; it may call other functions, and operators such as :func:`grad`.
    native
        Whether Numba compiles it; see :func:`grad`.

    Returns
    -------
    Derivative
        Takes the arguments of ``f`` and gives its result.

    Raises
    ------
    DifferentiationError
        At the first call with a kind of arguments: if anything in the function cannot be compiled by Adjoint.

    Examples
    --------
    >>> import adjoint as ad
    >>> def energy(x):
    ...     return x * x * x
    >>> def slopes(xs):
    ...     return [ad.grad(energy)(x) for x in xs]
    >>> ad.compile(slopes, native=False)([1.0, 2.0])
    [3.0, 12.0]
    """
    return Derivative("compile", function_of(f, "compile"), native)


@entrance
def jacobian(
    f: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    mode: Mode = None,
    sparsity: Any = None,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> Callable[..., Any]:
    """The matrix of first derivatives, by forward or reverse mode, whichever needs fewer sweeps.

    Parameters
    ----------
    f, wrt, has_aux
        As those of :func:`grad`; the function returns a number, an array, or a structure of these.
    mode
        ``"forward"`` or ``"reverse"``: a sweep for each number of the argument, or of the result. Without it, the mode
        that needs fewer sweeps.
    sparsity
        Where entries may be other than zero: a matrix of SciPy, or an array, with a row for each number of the result
        and a column for each of the argument. Columns without a common row then share a sweep forwards, or rows without
        a common column a sweep backwards, or some of both are made, whichever is cheapest; the Jacobian is a
        ``scipy.sparse.csr_array``. The first call tries the pattern in a random direction. ``"auto"`` finds the pattern
        (:func:`sparsity`), once for calls that are alike; ``jacobian(...).at(*args)`` has it, and fills in entries.
    native, fastmath, boundscheck
        Whether and how Numba compiles the sweeps; see :func:`grad`.

    Returns
    -------
    callable
        Takes the arguments of ``f``. For an argument of shape ``s`` and a result of shape ``r`` the Jacobian has
        shape ``r + s``. Where the argument, or the result, is a tuple, list, dict or object, so is the Jacobian: the
        structure of the result, with that of the argument at each of its leaves, and a block at each leaf of that.

    Raises
    ------
    DifferentiationError
        If ``sparsity`` does not fit the function (AD0412).

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def f(x):
    ...     return x * x
    >>> ad.jacobian(f)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    native = resolve(native, function_of(f, "jacobian"), fastmath, boundscheck)
    if sparsity is not None:
        return _sparse("jacobian", f, wrt, native, sparsity, has_aux, mode)
    from adjoint.api.jacobians import Jacobian  # lazy

    return Jacobian("jacobian", f, _wrt(wrt, "jacobian", f), native, has_aux, _mode(mode))


@entrance
def hessian(
    f: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    mode: Mode = None,
    sparsity: Any = None,
    native: Native = None,
    fastmath: bool = False,
    boundscheck: bool = False,
) -> Callable[..., Any]:
    """The matrix of second derivatives of a function that returns a number, forward over reverse.

    Parameters
    ----------
    f, wrt, has_aux
        As those of :func:`grad`.
    mode
        Of the sweeps over the gradient, as for :func:`jacobian`: forward, where nothing else is said.
    sparsity
        Where entries may be other than zero, or ``"auto"``, as for :func:`jacobian`: a few sweeps then
        give all of them. Of an entry and its mirror image one is enough, which saves up to half of the sweeps, and more
        where a row is full: a star colouring (Gebremedhin et al., SIAM J. Sci. Comput. 29, 2007) tells which.
    native, fastmath, boundscheck
        Whether and how Numba compiles the sweeps; see :func:`grad`.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def f(x):
    ...     return np.sum(x * x * x)
    >>> ad.hessian(f)(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    native = resolve(native, function_of(f, "hessian"), fastmath, boundscheck)
    if sparsity is not None:
        return _sparse("hessian", f, wrt, native, sparsity, has_aux, mode)
    from adjoint.api.jacobians import Jacobian  # lazy

    return Jacobian("hessian", f, _wrt(wrt, "hessian", f), native, has_aux, _mode(mode))


@entrance
def sparsity(
    f: Callable[..., Any],
    wrt: int | str = 0,
    *,
    kind: Literal["jacobian", "hessian"] = "jacobian",
    native: Native = None,
    max_entries: int = 100_000_000,
) -> Callable[..., Any]:
    """Where the entries of a Jacobian, or a Hessian, may be other than zero.

    The function is run on sets of elements of the argument (activity analysis element by element). The pattern is
    structural: it does not depend on the values of floats. Where floats choose a branch it is that of both sides.

    Parameters
    ----------
    f
        A function that returns a number or an array of floats; for a Hessian a number.
    wrt
        The argument, by its index or its name: a float, or an array of these.
    kind
        ``"jacobian"`` or ``"hessian"``: the pattern of the first or of the second derivatives.
    native
        Whether machine code finds it.
    max_entries
        How many entries there may be at most.

    Returns
    -------
    callable
        Takes the arguments of ``f``, and returns a ``scipy.sparse.csr_array`` of truths, of shape ``(m, n)`` for a
        result of ``m`` numbers and an argument of ``n``, in the order of ``ravel``. Its method ``explain`` takes them
        too, and says in words for which other calls the pattern holds.

    Raises
    ------
    DifferentiationError
        AD0412 if the argument or the result is something else, or if there are more than ``max_entries``.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def f(x):
    ...     return x[1:] * x[:-1]
    >>> ad.sparsity(f)(np.ones(3)).toarray()
    array([[ True,  True, False],
           [False,  True,  True]])
    """
    from adjoint.api.sparse.patterns import Sparsity  # lazy

    if kind not in ("jacobian", "hessian"):
        raise ValueError(f"kind={kind!r}: it is 'jacobian' or 'hessian'")
    if isinstance(wrt, tuple):
        raise error("AD0412", None, "several arguments share it: give one in wrt")
    return Sparsity(f, _wrt(wrt, "sparsity", f), kind, resolve(native, function_of(f, "sparsity")), max_entries)


def _mode(mode: Any) -> Mode:
    if mode not in (None, "forward", "reverse"):
        raise ValueError(f"mode={mode!r}: it is 'forward', 'reverse' or None")
    return mode  # type: ignore[no-any-return]


def _sparse(
    kind: str, f: Callable[..., Any], wrt: Wrt, native: Native, sparsity: Any, has_aux: bool, mode: Mode
) -> Callable[..., Any]:
    if has_aux or mode is not None:
        raise error("AD0412", None, "has_aux= and mode= are not for sparse matrices", helps=("leave one of them out",))
    from adjoint.api.sparse.derivatives import SparseDerivative  # lazy

    if isinstance(wrt, tuple):
        raise error("AD0412", None, "several arguments share it: give one in wrt")
    return SparseDerivative(kind, f, _wrt(wrt, kind, f), native, sparsity)


for _operator in (grad, value_and_grad, jacobian, hessian):
    _operator.__adjoint_operator__ = _operator.__name__  # type: ignore[union-attr]
