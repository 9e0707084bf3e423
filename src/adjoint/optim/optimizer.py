"""What all optimizers have in common: hyperparameters, groups, state."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from adjoint import tangents
from adjoint.diagnostics import error
from adjoint.diagnostics.other_names import keyword
from adjoint.keypaths import KeyPath, keypath
from adjoint.optim.clipping import clipped_by_norm, clipped_by_value
from adjoint.optim.schedules import Rate, rate_at
from adjoint.optim.state import State
from adjoint.optim.unmarked import warn_of_unmarked
from adjoint.parameters import CompiledLoop, Layout, Leaves, NotNative, Parameter, Places, StepPlan, Unrolled
from adjoint.parameters.iteration import copied

Model = TypeVar("Model")
Where = str | KeyPath[Any, Any] | type | np.dtype[Any] | Callable[[KeyPath[Any, Any]], bool]
Native = bool | str | None


class Group:
    """Parameters that have hyperparameters of their own.

    Parameters
    ----------
    where
        Which parameters: those under a key path or its text (``".encoder"``), those of a dtype, or those for whose
        key path a function is true.
    frozen
        Whether they are left as they are.
    **hyperparameters
        What differs from the optimizer's: ``learning_rate=1e-3``.

    Examples
    --------
    >>> import adjoint as ad
    >>> model = {"base": np.ones(1), "head": np.ones(1)}
    >>> optimizer = ad.optim.SGD(0.1, groups=[ad.optim.Group("['head']", learning_rate=0.01)])
    >>> optimizer.update(model, along=model)
    >>> model
    {'base': array([0.9]), 'head': array([0.99])}
    """

    def __init__(self, where: Where | tuple[Where, ...], *, frozen: bool = False, **hyperparameters: Any) -> None:
        self.where = where
        self.frozen = frozen
        self.hyperparameters = hyperparameters

    def __repr__(self) -> str:
        options = {**({"frozen": True} if self.frozen else {}), **self.hyperparameters}
        return f"Group({self.where!r}{''.join(f', {name}={value!r}' for name, value in options.items())})"


def selects(where: Where | tuple[Where, ...], parameter: Parameter) -> bool:
    """Whether a choice of parameters holds one."""
    if isinstance(where, tuple):
        return any(selects(option, parameter) for option in where)
    if isinstance(where, (str, KeyPath)):
        path = keypath(where) if isinstance(where, str) else where
        return parameter.key_path.starts_with(path)
    if isinstance(where, np.dtype) or (isinstance(where, type) and issubclass(where, np.generic)):
        return parameter.type is not float and parameter.dtype == np.dtype(where)
    if isinstance(where, type):
        return parameter.type is where
    return bool(where(parameter.key_path))


class Options:
    """The hyperparameters of a group: its own, and for the rest the optimizer's, as they are now."""

    def __init__(self, optimizer: Optimizer, group: Group) -> None:
        self._optimizer = optimizer
        self._group = group

    def __getattr__(self, name: str) -> Any:
        own = self._group.hyperparameters
        return own[name] if name in own else getattr(self._optimizer, name)


@dataclass
class _Memory:
    """What an optimizer keeps for the structure that it works on."""

    layout: Layout
    zero: Any
    step: int
    parts: dict[str, Leaves]
    groups: list[tuple[Any, Places | None]]


def _not_negative(name: str, value: Any) -> str | None:
    return None if callable(value) or value >= 0 else f"{name} must be non-negative, not {value!r}"


def _between_0_and_1(name: str, value: Any) -> str | None:
    return None if 0 <= value <= 1 else f"{name} must be between 0 and 1, not {value!r}"


_CHECKS = {
    "learning_rate": _not_negative,
    "momentum": _not_negative,
    "decay": _not_negative,
    "weight_decay": _not_negative,
    "epsilon": _not_negative,
    "trust_coefficient": _not_negative,
    "initial_accumulator": _not_negative,
    "beta1": _between_0_and_1,
    "beta2": _between_0_and_1,
    "rho": _between_0_and_1,
}


class Answering(type):
    """The class of optimizers: says of hyperparameters of other systems what they are called here."""

    def __call__(cls, *args: Any, **hyperparameters: Any) -> Any:
        try:
            return super().__call__(*args, **hyperparameters)
        except TypeError as failure:
            answer = keyword(cls.__init__, hyperparameters)  # type: ignore[misc]
            if answer is not None:
                failure.args = (f"{failure}: {answer}",)
                failure.__traceback__ = None
            raise


@dataclass(kw_only=True, eq=False)
class Optimizer(metaclass=Answering):
    """The base of all optimizers.

    An optimizer is made of a rule for one parameter, written as an :func:`adjoint.unrolled` function, and of the
    constants for it. To write one, derive a dataclass and give it ``parts``, ``rule`` and ``constants``.

    Parameters
    ----------
    groups
        Parameters with hyperparameters of their own; the first group that holds a parameter counts.
    only
        Which parameters are updated at all, said as in a :class:`Group`; by default all.
    clip_norm, clip_value
        Bounds for the gradient: for its norm over all parameters, and for each component.
    native
        Whether arrays are updated by machine code.
    """

    groups: Sequence[Group] = ()
    only: Where | tuple[Where, ...] | None = None
    clip_norm: float | None = None
    clip_value: float | None = None
    native: Native = None
    _memory: _Memory | None = field(default=None, init=False, repr=False, compare=False)
    _pending: State | None = field(default=None, init=False, repr=False, compare=False)

    settings: ClassVar[tuple[str, ...]] = ()
    """Hyperparameters that the rule is given as they are."""

    # -- what an optimizer says of itself

    def parts(self) -> dict[str, float]:
        """What it keeps of each parameter: names, and the values to start from."""
        return {}

    def rule(self, options: Any) -> Unrolled:
        """What happens to one parameter: an update of the parameter, its gradient, and the parts in their order."""
        raise NotImplementedError

    def constants(self, options: Any, step: int) -> dict[str, Any]:
        """The constants of the rule at a step, counted from 1: its rate and the settings, unless one says otherwise."""
        return {"rate": self.rate_of(options, step), **self.settings_of(options)}

    def rate_of(self, options: Any, step: int) -> float:
        """The rate at a step."""
        return decayed_rate(options, step)

    def settings_of(self, options: Any) -> dict[str, Any]:
        """The constants that are the same at all steps: the settings, the weight decay, and whether there is any."""
        decay = {"weight_decay": options.weight_decay, "decays": bool(options.weight_decay != 0)}
        return {name: getattr(options, name) for name in self.settings} | decay

    # -- updates

    def update(self, model: Any, along: Any) -> None:
        """Improves a model in place.

        Parameters
        ----------
        model
            A structure of numbers and arrays. What holds them must be mutable.
        along
            The gradient of what is to become small, as :func:`adjoint.grad` gives it for this model. At points of
            curved spaces the tangent that their class makes of it by ``tangent_from`` counts.
        """
        self._run(model, along, functional=False)

    def updated(self, model: Model, along: Any) -> Model:
        """An improved copy of a model, which stays as it is; so it may be immutable.

        Parameters
        ----------
        model, along
            As for :meth:`update`.
        """
        result: Model = self._run(model, along, functional=True)
        return result

    def _run(self, model: Any, along: Any, functional: bool) -> Any:
        memory = self._current(model)
        if self.clip_value is not None:
            along = clipped_by_value(along, self.clip_value)
        if self.clip_norm is not None:
            along = clipped_by_norm(along, self.clip_norm)
        if memory.layout.ties or memory.layout.points:
            along = memory.layout.direction(model, along)
        step = memory.step + 1
        parts = memory.parts.values()
        for options, places in memory.groups:
            rule = self.rule(options).variant(self.native, places)
            constants = self.constants(options, step)
            if functional:
                model = rule.applied(model, along, *parts, **constants)
            else:
                rule(model, along, *parts, **constants)
        memory.step = step
        return model

    def _current(self, model: Any) -> _Memory:
        memory = self._memory
        if memory is None:
            return self._start(model)
        wanted = self.parts()
        if len(wanted) != len(memory.parts):
            kept = memory.parts
            memory.parts = {name: kept.get(name) or memory.layout.filled(start) for name, start in wanted.items()}
        return memory

    def run_compiled(self, loop: CompiledLoop, model: Any, args: tuple[Any, ...], steps: int) -> np.ndarray[Any, Any]:
        """Takes steps in a compiled loop, and gives the losses before them; see :class:`Training`."""
        memory = self._current(model)
        if self.clip_norm is not None or self.clip_value is not None or memory.groups != [(self, None)]:
            raise NotNative("groups and clipping are not compiled")
        numbers = range(memory.step + 1, memory.step + steps + 1)
        if type(self).constants is Optimizer.constants:
            plan = StepPlan(steps, self.settings_of(self), {"rate": [self.rate_of(self, number) for number in numbers]})
        else:
            rows = [self.constants(self, number) for number in numbers]
            plan = StepPlan(steps, {}, {name: [row[name] for row in rows] for name in (rows[0] if rows else ())})
        losses = loop.run(model, args, self.rule(self), list(memory.parts.values()), plan)
        memory.step += steps
        return losses

    def _start(self, model: Any) -> _Memory:
        layout = Layout(model)
        for parameter in layout.parameters:
            if parameter.dtype.kind == "c":
                raise error("AD0704", None, f"{parameter.path or 'the value itself'} is complex")
        groups = self._assigned(layout)
        every = range(len(layout))
        warn_of_unmarked(layout, {place for _, mine in groups for place in (every if mine is None else mine)})
        parts = {name: layout.filled(start) for name, start in self.parts().items()}
        memory = _Memory(layout, tangents.zero(model), 0, parts, groups)
        if self._pending is not None:
            _put(memory, self._pending)
            self._pending = None
        self._memory = memory
        return memory

    def _assigned(self, layout: Layout) -> list[tuple[Any, Places | None]]:
        """The hyperparameters of each group, and the places of its parameters."""
        rest = [
            place for place in range(len(layout)) if self.only is None or selects(self.only, layout.parameters[place])
        ]
        if self.only is not None and not rest:
            raise ValueError(f"only={self.only!r} leaves no parameter: there are {', '.join(layout.paths)}")
        if self.only is None and not self.groups:
            return [(self, None)]
        assigned: list[tuple[Any, Places | None]] = []
        for group in self.groups:
            mine = frozenset(place for place in rest if selects(group.where, layout.parameters[place]))
            if not mine:
                raise ValueError(f"{group!r} holds no parameter: there are {', '.join(layout.paths)}")
            rest = [place for place in rest if place not in mine]
            if not group.frozen:
                assigned.append((Options(self, group), Places(layout, mine)))
        return [*assigned, (self, Places(layout, frozenset(rest)))] if rest else assigned

    # -- state

    @property
    def state(self) -> State | None:
        """What was learnt so far, as a value: a copy; None before the first update."""
        memory = self._memory
        if memory is None:
            return self._pending
        copies = {
            name: memory.layout.rebuilt(memory.zero, [copied(value) for value in leaves])
            for name, leaves in memory.parts.items()
        }
        return State(memory.step, copies)

    @state.setter
    def state(self, state: State | None) -> None:
        if state is not None:
            state.check()
        if state is None or self._memory is None:
            self._memory = None
            self._pending = state
        else:
            _put(self._memory, state)

    # -- hyperparameters

    def __setattr__(self, name: str, value: Any) -> None:
        _check(name, value)
        if name == "groups":
            value = tuple(value)
            self._check_groups(value)
        object.__setattr__(self, name, value)
        memory = self.__dict__.get("_memory")
        if name in ("groups", "only") and memory is not None:
            memory.groups = self._assigned(memory.layout)

    def _check_groups(self, groups: tuple[Group, ...]) -> None:
        names = {field.name for field in dataclasses.fields(self) if field.init}
        names -= {"groups", "only", "clip_norm", "clip_value", "native"}
        for group in groups:
            unknown = sorted(group.hyperparameters.keys() - names)
            if unknown:
                raise TypeError(f"{type(self).__name__} has no hyperparameter {unknown[0]!r}")
            for name, value in group.hyperparameters.items():
                _check(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_memory": None, "_pending": self.state}


def _check(name: str, value: Any) -> None:
    check = _CHECKS.get(name)
    problem = None if check is None else check(name, value)
    if problem is not None:
        raise ValueError(problem)


def decayed_rate(options: Any, step: int) -> float:
    """The learning rate at a step: ``learning_rate / (1 + decay * step)``."""
    rate: Rate = options.learning_rate
    return rate_at(rate, step - 1) / (1.0 + float(options.decay) * step)


def _put(memory: _Memory, state: State) -> None:
    if state.parts.keys() != memory.parts.keys():
        wanted, given = ", ".join(memory.parts) or "nothing", ", ".join(state.parts) or "nothing"
        raise ValueError(f"the state holds {given}; this optimizer keeps {wanted}")
    copies = {name: memory.layout.copied(part) for name, part in state.parts.items()}
    for name, leaves in copies.items():
        memory.parts[name].assign(leaves)
    memory.step = state.step
