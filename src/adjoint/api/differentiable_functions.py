"""``@differentiable`` on functions and methods: what is declared is checked where it stands, as far as types tell.

A function with annotated parameters is lowered and reversed at once; nothing of it runs, and nothing is compiled. What
cannot be told from annotations, or needs a name that is defined later, is told where it is differentiated.
"""

from __future__ import annotations

import ast
import itertools
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

import numpy as np

from adjoint import ir
from adjoint.declarations.asserted import Assertion, assertion_of, behind, lacking, mark, overridden
from adjoint.declarations.function_values import Fn, dtype_of, shown, signature_of
from adjoint.diagnostics import Diagnostic, DifferentiationError, Span, error, warn
from adjoint.dispatch import options
from adjoint.frontend.differentiation.refusals.trial import look
from adjoint.records import dataclass
from adjoint.sources import definitions
from adjoint.types.classes.annotations import annotations_of, field_types, plain, signature
from adjoint.types.classes.constant_types import never_varies
from adjoint.types.classes.dataclass_fields import is_dataclass

SURE = {
    *("AD0103", "AD0104", "AD0201", "AD0202", "AD0204", "AD0206"),
    *("AD0301", "AD0302", "AD0303", "AD0305", "AD0306", "AD0307", "AD0407"),
}
"""What is refused whatever the arguments are, if it is refused for arrays of all ranks."""
ALL = SURE | {"AD0203", "AD0211", "AD0212", "AD0304", "AD0310", "AD0403", "AD0404", "AD0405", "AD0406"}
"""What is refused as surely, once all names are defined."""
RANKS = (2, 1, 3)


def declare(
    member: Any, wrt: Any = None, result: int | None = None, scope: dict[str, Any] | None = None, **native: Any
) -> Any:
    """Declares a function or a method to be differentiable; gives it back."""
    function = behind(member)
    if type(function).__name__ == "CPUDispatcher":
        function = function.py_func
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"@differentiable is for classes, functions and methods, not for {member!r}")
    if native:
        setattr(function, options.MARK, _compiling(**native))
        if wrt is None and result is None:
            return member
    subject = _Subject(member, function, scope or {})
    assertion = Assertion(subject.places(wrt), result)
    earlier = assertion_of(function)
    if earlier is not None and earlier.wrt == assertion.wrt and earlier.result == result:
        raise subject.refusal("it is declared twice, with the same parameters", "leave out one of the declarations")
    subject.check_result(result)
    mark(function, assertion)
    if not subject.is_method and not is_abstract(function):
        check(function, subject.hints)
    return member


def _compiling(native: Any = True, fastmath: bool = False, boundscheck: bool = False) -> Any:
    return options.Compiling(native, fastmath, boundscheck) if native else False


def is_abstract(member: Any) -> bool:
    """Whether a function, or a member of a class, has no body to check: of a protocol, or abstract."""
    function = behind(member)
    if getattr(function, "__isabstractmethod__", False):
        return True
    try:
        body = definitions.find(function).node.body
    except DifferentiationError:
        return False
    return isinstance(body, list) and all(_says_nothing(statement) for statement in body)


def _says_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
        case _:
            return False


class _Subject:
    """What is declared, by its signature."""

    def __init__(self, member: Any, function: types.FunctionType, scope: dict[str, Any]) -> None:
        self.function = function
        self.name = function.__name__
        self.parameters = list(signature(function).parameters.values())
        owner = function.__qualname__.rpartition(".")[0]
        in_class = bool(owner) and not owner.endswith("<locals>")
        self.is_method = in_class and not isinstance(member, (staticmethod, classmethod))
        self.hints = hints_of(function, scope)
        self.is_of_class = isinstance(member, classmethod)

    def refusal(self, label: str, *helps: str) -> DifferentiationError:
        try:
            place: Span | None = definitions.find(self.function).heading
        except DifferentiationError:
            place = None
        return error("AD0430", place, label, helps=helps or None, name=self.name)

    def places(self, wrt: Any) -> tuple[int, ...] | None:
        """The positions of the parameters that ``wrt`` names, all of which can vary."""
        first = 1 if self.is_of_class else 0
        own = self.parameters[first:]
        if not own:
            raise self.refusal("it has no parameters to differentiate for", "let it take what it depends on")
        if wrt is None:
            if not self.is_method and all(never_varies(self.hints.get(p.name, Any)) for p in own):
                raise self.refusal("none of its parameters can vary", "annotate those that vary: float, np.ndarray")
            return None
        found = [self.place(one) for one in (wrt if isinstance(wrt, (tuple, list)) else (wrt,))]
        if not found:
            raise self.refusal("wrt names no parameter", "name those that vary: wrt=('x', 'y')")
        if any(later <= earlier for earlier, later in itertools.pairwise(found)):
            if self.is_method and 0 in found[1:]:
                raise self.refusal("'self' stands behind others in wrt", "name 'self' first: wrt=('self', 'x')")
            raise self.refusal("wrt names parameters in another order, or twice", "name them in their order")
        return tuple(found)

    def place(self, one: Any) -> int:
        names = [parameter.name for parameter in self.parameters]
        if isinstance(one, int) and not isinstance(one, bool):
            if one < 0:
                raise self.refusal(f"wrt={one}: indices of parameters start at 0", _WRT)
            if one >= len(names):
                raise self.refusal(f"wrt={one}: it has {len(names)} parameters, the first is 0", _WRT)
            place = one
        elif not isinstance(one, str):
            raise self.refusal(f"wrt={one!r} is neither an index nor a name", _WRT)
        elif one == "self" and not self.is_method:
            raise self.refusal("wrt names 'self', and it is no method of an object", _WRT)
        elif one not in names:
            raise self.refusal(f"wrt names {one!r}, which is not among its parameters", _WRT)
        else:
            place = names.index(one)
        hint = self.hints.get(names[place], Any)
        if signature_of(hint) is not None or never_varies(hint):
            raise self.refusal(f"the parameter {names[place]!r} of type {shown(hint)!r} cannot vary", _WRT)
        return place

    def check_result(self, result: int | None) -> None:
        returned = self.hints.get("return", Any)
        if returned in (None, types.NoneType) or (returned is Any and _returns_nothing(self.function)):
            raise self.refusal("it returns nothing", "return what shall be differentiated")
        parts = get_args(returned) if get_origin(returned) is tuple else ()
        if result is not None and parts and Ellipsis not in parts:
            if not 0 <= result < len(parts):
                raise self.refusal(f"result={result}: it returns {len(parts)} values, the first is 0")
            returned = parts[result]
        if never_varies(returned):
            raise self.refusal(f"its result of type {shown(returned)!r} cannot vary", "return a float or an array")


_WRT = "wrt takes the index or the name of a parameter that varies, or a tuple of them"


def _returns_nothing(function: types.FunctionType) -> bool:
    """Whether there is no ``return`` with a value in a function whose body can be read, and is not empty."""
    try:
        node = definitions.find(function).node
    except DifferentiationError:
        return False
    if isinstance(node, ast.Lambda) or all(map(_says_nothing, node.body)):
        return False
    leaves = (ast.Return, ast.Yield, ast.YieldFrom, ast.Raise)
    return not any(isinstance(item, leaves) for item in ast.walk(node))


def hints_of(function: Any, scope: dict[str, Any]) -> dict[str, Any]:
    """The annotations of a function, as far as their names are defined by now."""
    found = {}
    for name, annotation in annotations_of(function).items():
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, dict(function.__globals__), scope)
            except Exception:  # defined later, or known to a type checker only
                continue
        found[name] = annotation
    return found


# -- what the body does -----------------------------------------------------------------------------------------------


class _Untold(Exception):
    """The annotations do not tell what an argument is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a declared function: refused, or why it could not be checked."""

    problems: tuple[Diagnostic, ...] = ()
    untold: str = ""


def check(function: Any, hints: dict[str, Any] | None = None) -> None:
    """Raises if a declared function surely cannot be differentiated."""
    found = verdict(function, hints)
    if found.problems:
        raise DifferentiationError(found.problems)


def verdict(
    function: Any,
    hints: dict[str, Any] | None = None,
    owner: type | None = None,
    tried: Callable[[Any, tuple[Any, ...], tuple[int, ...]], object] | None = None,
) -> Checked:
    """Whether a function can be differentiated, as far as its annotations tell.

    It is one that is declared; or else ``tried`` lowers the derivative that is asked for, where all names are defined.
    """
    sure, open_ = (SURE, "what it needs is not defined yet, or") if tried is None else (ALL, "whether it can")
    declared = f"declared: @ad.differentiable, {behind(function).__name__}" if tried is None else ""
    assertion = assertion_of(function) or Assertion()
    function = behind(function)
    hints = hints_of(function, {}) if hints is None else hints
    problems: list[Diagnostic] = []
    for rank in RANKS:
        try:
            args = tuple(_arguments(function, hints, owner, rank))
        except _Untold as missing:
            return Checked(untold=str(missing))
        places = assertion.wrt if assertion.wrt is not None else tuple(range(len(args)))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (tried or look)(function, args, tuple(place for place in places if place < len(args)))
            return Checked()
        except DifferentiationError as refusal:
            if any(problem.code not in sure for problem in refusal.diagnostics):
                return Checked(untold=f"{open_} depends on its arguments")
            problems = problems or list(refusal.diagnostics)
        except Exception:  # of the function's own making, as of a property that is asked for at once
            return Checked(untold="it cannot be looked at before it runs")
    return Checked(tuple(problem.with_notes(declared) if declared else problem for problem in problems))


def _arguments(function: Any, hints: dict[str, Any], owner: type | None, rank: int) -> Iterator[Any]:
    for place, parameter in enumerate(signature(function).parameters.values()):
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
                raise _Untold(f"{parameter.name!r} is given by name only")
            continue
        if place == 0 and owner is not None:
            yield example(owner, rank, owner.__name__)
        elif parameter.name in hints:
            yield example(hints[parameter.name], rank, repr(parameter.name))
        else:
            raise _Untold(f"the parameter {parameter.name!r} has no annotation")


def example(kind: Any, rank: int, what: str) -> Any:
    """A value of a declared type, of which only the kind counts: arrays have a rank."""
    signature = signature_of(kind)
    if signature is not None:
        return Stand(ir.Opaque(Fn, signature))
    kind = plain(kind)
    origin, args = get_origin(kind) or kind, get_args(kind)
    if origin in _NUMBERS:
        return _NUMBERS[origin]
    if not isinstance(origin, type):
        raise _Untold(f"the annotation of {what} does not tell its kind")
    if issubclass(origin, np.ndarray):
        return np.ones((3,) * rank, dtype_of(kind) or float)
    if issubclass(origin, np.inexact) and origin not in (np.inexact, np.floating, np.complexfloating):
        return origin(1.0)
    if origin is list and args:
        return [example(args[0], rank, what)]
    if origin is tuple and args and Ellipsis not in args:
        return tuple([example(arg, rank, what) for arg in args])
    if is_dataclass(origin) or (field_types(origin) and origin.__init__ is object.__init__):
        return _object(origin, rank)
    raise _Untold(f"the annotation of {what} does not tell its kind")


_NUMBERS: dict[Any, Any] = {float: 1.5, int: 2, bool: True, complex: 1.5 + 0.5j}


def _object(cls: Any, rank: int) -> Any:
    value = object.__new__(cls)
    for name, kind in field_types(cls).items():
        object.__setattr__(value, name, example(kind, rank, f"{cls.__name__}.{name}"))
    return value


class Stand:
    """Stands for an argument of which only the type is known."""

    def __init__(self, type_: Any) -> None:
        self.__adjoint_type__ = type_


# -- classes and modules ----------------------------------------------------------------------------------------------


def check_class(cls: type) -> None:
    """Checks the declared methods of a class, once it is whole; warns of members that lack the declaration."""
    for name, member in list(vars(cls).items()):
        if assertion_of(member) is not None and not is_abstract(member):
            found = verdict(member, None, None if isinstance(member, staticmethod) else cls)
            if found.problems:
                raise DifferentiationError(found.problems)
        base = overridden(cls, name)
        if base is not None:
            warn(lacking(cls, name, base))


def declared_in(module: types.ModuleType) -> Iterator[tuple[str, Any, type | None]]:
    """The declared functions and methods of a module: names, members, and the classes that have these."""
    for name, value in vars(module).items():
        if isinstance(value, type) and value.__module__ == module.__name__:
            for part, member in vars(value).items():
                if assertion_of(member) is not None:
                    yield f"{name}.{part}", member, value
        elif assertion_of(value) is not None and value.__module__ == module.__name__:
            yield name, value, None


def lacking_in(module: types.ModuleType) -> Iterator[Diagnostic]:
    """Members of classes of a module that override declared ones and are not declared."""
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__module__ == module.__name__:
            for name in vars(cls):
                base = overridden(cls, name)
                if base is not None:
                    yield lacking(cls, name, base)
