"""The way into a derivative for operators that are given a function at each call, such as ``jvp`` and ``vjp``.

They keep nothing between their calls. So what a call found is kept here: the specialisation, by the function and by all
else that was asked for, where it has a door for calls such as this one.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

from adjoint.dispatch import specialize
from adjoint.dispatch.keys import MISS, Door
from adjoint.dispatch.options import MARK, Native
from adjoint.dispatch.specialize import Lower, Specialization
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.restarts import Entry
from adjoint.records import dataclass
from adjoint.target import Target

Way = tuple[Any, ...]
"""What an operator is asked for, besides the function and the arguments."""


@dataclass(frozen=True, slots=True)
class Request:
    """What an operator is asked for, once it has been looked at.

    Attributes
    ----------
    key
        What tells specialisations of a function apart, besides arguments.
    args, kwargs
        The arguments of the compiled function: tangents among them are checked.
    lower
        What writes it; None where ``again`` does.
    native
        Whether and how it is compiled.
    again
        As in :func:`~adjoint.dispatch.specialize.specialization`.
    """

    key: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    lower: Callable[[Target], Entry] | None
    native: Native
    again: Lower | None = None


@dataclass(frozen=True, slots=True)
class _Entrance:
    """A specialisation and the door that lets calls in; it may leave it to others to look at tangents before."""

    compiled: Specialization
    door: Door
    checks_all: bool


_Known = dict[int, tuple[ref[Any], dict[Any, _Entrance]]]
_known: _Known = {}
"""What was called last: by the identity of the function, as long as it is alive, and by what was asked for."""


def enter(
    function: Any, way: Way, given: tuple[Any, ...], ask: Callable[[], Request], run: bool = True
) -> tuple[Specialization, Any]:
    """The compiled derivative of a function for a call, and what it gives; its inputs, if it is not to be run.

    Parameters
    ----------
    function
        The function.
    way
        What it is entered for; another one where it is not run.
    given
        The arguments as they come. Where there is a door that lets them in, nothing else is asked.
    ask
        Looks at everything.
    run
        Whether it is run.
    """
    known = _known.get(id(function))
    entrance = None
    if known is not None and known[0]() is function:
        entrance = known[1].get((way, getattr(function, MARK, None)))
    root = function if type(function) is types.FunctionType else differentiated(function)
    if entrance is not None and entrance.checks_all:
        result = entrance.door(root, given)
        if result is not MISS:
            return entrance.compiled, result
    request = ask()
    if entrance is not None and not entrance.checks_all:
        result = entrance.door(root, request.args)
        if result is not MISS:
            return entrance.compiled, result
    args, kwargs = request.args, request.kwargs
    compiled = specialize.specialization(
        function, request.key, args, kwargs, request.lower, request.native, request.again
    )
    if compiled.door is not None and not kwargs and _is_steady(function):
        door = compiled.door if run else compiled.door_to_inputs(root, args)
        _ways_of(function)[way, getattr(function, MARK, None)] = _Entrance(compiled, door, compiled.door_checks_all)
    arguments = (*args, *kwargs.values())
    return compiled, compiled.run(root, arguments) if run else compiled.inputs(root, arguments)


def _is_steady(function: Any) -> bool:
    """Whether a function is what it is as long as it is alive."""
    return type(function) is types.FunctionType or hasattr(type(function), "__adjoint_operator__")


def _ways_of(function: Any) -> dict[Any, _Entrance]:
    identity = id(function)
    known = _known.get(identity)
    if known is None or known[0]() is not function:
        known = _known[identity] = (ref(function, partial(_forget, _known, identity)), {})
    return known[1]


def _forget(entrances: _Known, identity: int, gone: ref[Any]) -> None:
    """Handed what it forgets from: at the end of a process, functions may go after the names of this module."""
    known = entrances.get(identity)
    if known is not None and known[0] is gone:
        del entrances[identity]
