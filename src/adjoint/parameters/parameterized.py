"""Classes some of whose fields are parameters."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Self

from adjoint.parameters.aggregate import ClassValue, ParameterAggregate, field_types, is_uniform
from adjoint.parameters.iteration import copied, update_each, updated_each
from adjoint.parameters.layout import Layout
from adjoint.types.structure import set_field
from adjoint.types.vectors import tangent_class

_MARK = "parameter"


def parameter(*, group: str | None = None, **options: Any) -> Any:
    """Marks a field of a dataclass as a parameter of a :class:`Parameterized` class.

    Parameters
    ----------
    group
        The group that it belongs to, in a :class:`GroupParameterized` class.
    **options
        What :func:`dataclasses.field` takes: ``default``, ``default_factory``, ...
    """
    metadata = {**options.pop("metadata", {}), _MARK: group}
    return dataclasses.field(metadata=metadata, **options)


def _marked(cls: type) -> dict[str, str | None]:
    """The names of the fields that are marked, and their groups."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {field.name: field.metadata[_MARK] for field in fields if _MARK in field.metadata}


def _parameters_class(cls: type, names: tuple[str, ...] | None = None, called: str = "Parameters") -> Any:
    return _synthesized(cls, tuple(_marked(cls)) if names is None else names, called)


@functools.lru_cache(maxsize=1024)
def _synthesized(cls: type, names: tuple[str, ...], called: str) -> Any:
    types = field_types(cls)
    fields = [(name, getattr(types.get(name, Any), "Parameters", types.get(name, Any))) for name in names]
    is_aggregate = not getattr(cls, "_strict", False) or is_uniform([kind for _, kind in fields])
    made = dataclasses.make_dataclass(
        called,
        fields,
        bases=(ParameterAggregate,) if is_aggregate else (),
        namespace={"__doc__": f"The parameters of :class:`{cls.__qualname__}`."},
    )
    made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.{called}"
    return made


class _Marked:
    """What classes with marked fields have in common."""

    __slots__ = ()
    _strict = False

    def __init_subclass__(cls, strict: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._strict = strict or cls._strict

    def _bundle(self, names: tuple[str, ...], called: str = "Parameters", copied: bool = False) -> Any:
        """The parameters with these names, as a value of the synthesised class."""
        values = {}
        for name in names:
            value = getattr(self, name)
            if isinstance(value, Parameterized):
                value = value._bundle(value._names(), copied=copied)
            values[name] = _deepcopied(value) if copied else value
        return _parameters_class(type(self), names, called)(**values)

    def _put(self, bundle: Any, names: tuple[str, ...], write: Callable[[Any, str, Any], None] = setattr) -> None:
        """Puts parameters into their fields."""
        for name in names:
            value, own = getattr(bundle, name), getattr(self, name)
            if isinstance(own, Parameterized):
                own._put(value, own._names(), write)
            elif value is not own:
                write(self, name, value)

    def _update(self, names: tuple[str, ...], gradients: Any, fn: Callable[[Any, Any], Any], called: str) -> None:
        bundle = self._bundle(names, called)
        if not isinstance(bundle, ParameterAggregate):
            raise TypeError(
                f"{type(bundle).__qualname__} is no ParameterAggregate: its parameters have no type in common"
            )
        update_each(bundle, _gradients_of(self, bundle, gradients), fn=fn)
        self._put(bundle, names)


class Parameterized(_Marked):
    """A base for dataclasses some of whose fields are parameters: those that are declared by :func:`parameter`.

    Attributes
    ----------
    Parameters : type
        A dataclass with the marked fields. A field whose class is parameterized itself has that one's parameters
        there. It is a :class:`ParameterAggregate`; with ``strict=True`` (``class Model(ad.Parameterized,
        strict=True)``) only if all parameters have one type.

    Examples
    --------
    >>> import adjoint as ad
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Model(ad.Parameterized):
    ...     w: float = ad.parameter()
    ...     b: float = ad.parameter()
    ...     calls: int = 0
    >>> model = Model(1.0, 1.0)
    >>> model.all_parameters
    Model.Parameters(w=1.0, b=1.0)
    >>> model.update_parameters(Model.Parameters(w=0.5, b=0.5), lambda p, g: p - 0.1 * g)
    >>> model
    Model(w=0.95, b=0.95, calls=0)
    """

    Parameters: Any = ClassValue(_parameters_class)

    def register_parameter(self, *names: str) -> None:
        """Makes fields of this object parameters, in addition to those that are declared.

        So an object can decide when it is made what its parameters are: call it in ``__post_init__``.
        """
        for name in names:
            if not hasattr(self, name):
                raise AttributeError(f"{type(self).__qualname__} has no field {name!r}")
        registered = (*self.__dict__.get("_registered_parameters", ()), *names)
        self.__dict__["_registered_parameters"] = tuple(dict.fromkeys(registered))

    def _names(self) -> tuple[str, ...]:
        registered = getattr(self, "__dict__", {}).get("_registered_parameters", ())
        return tuple(dict.fromkeys((*_marked(type(self)), *registered)))

    @property
    def all_parameters(self) -> Any:
        """A copy of the parameters. What is assigned to it is written into the fields; others stay as they are."""
        return self._bundle(self._names(), copied=True)

    @all_parameters.setter
    def all_parameters(self, parameters: Any) -> None:
        self._put(_deepcopied(parameters), self._names())

    def with_parameters(self, parameters: Any) -> Self:
        """An object like this one with other parameters, made without the constructor of its class."""
        result: Self = _replaced(self, parameters)
        return result

    def update_parameters(self, gradients: Any, fn: Callable[[Any, Any], Any]) -> None:
        """Updates each parameter with its gradient, in place, in order of declaration.

        Parameters
        ----------
        gradients
            A value of ``Parameters``, or a gradient with respect to the object.
        fn
            Given a parameter and its gradient, it returns the new parameter; ``operator.isub`` will do.
        """
        self._update(self._names(), gradients, fn, "Parameters")

    def updated_parameters(self, gradients: Any, fn: Callable[[Any, Any], Any]) -> Self:
        """An object like this one with updated parameters."""
        bundle = self._bundle(self._names())
        result: Self = _replaced(self, updated_each(bundle, _gradients_of(self, bundle, gradients), fn))
        return result


class GroupParameterized(_Marked):
    """A base for dataclasses whose parameters come in groups: ``w: float = ad.parameter(group="base")``.

    Each group is a bundle of its own and is updated by itself; there is no bundle of all.

    Examples
    --------
    >>> import adjoint as ad
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Model(ad.GroupParameterized):
    ...     base: float = ad.parameter(group="base")
    ...     head: float = ad.parameter(group="head")
    >>> model = Model(1.0, 1.0)
    >>> gradient = ad.grad(lambda m: m.base + m.head)(model)
    >>> model.update_groups(gradient, base=lambda p, g: p - 0.01 * g, head=lambda p, g: p - 0.1 * g)
    >>> model
    Model(base=0.99, head=0.9)
    """

    @property
    def parameter_groups(self) -> Mapping[str, Any]:
        """Copies of the parameters of each group, by its name."""
        return {group: self._bundle(names, _called(group), copied=True) for group, names in self._groups().items()}

    def update_groups(self, gradients: Any, **fns: Callable[[Any, Any], Any]) -> None:
        """Updates groups of parameters in place, each with a function of its own.

        Parameters
        ----------
        gradients
            A gradient with respect to the object.
        **fns
            For each group to update, what gives the new parameter for a parameter and its gradient.
        """
        groups = self._groups()
        for group, fn in fns.items():
            if group not in groups:
                raise ValueError(f"{type(self).__qualname__} has no group {group!r}; it has {', '.join(groups)}")
            self._update(groups[group], gradients, fn, _called(group))

    def _groups(self) -> dict[str, tuple[str, ...]]:
        groups: dict[str, tuple[str, ...]] = {}
        for name, group in _marked(type(self)).items():
            key = name if group is None else group
            groups[key] = (*groups.get(key, ()), name)
        return groups


def _called(group: str) -> str:
    return f"Parameters_{group}"


def _gradients_of(model: Any, bundle: Any, gradients: Any) -> Any:
    """Gradients as a tangent of a bundle: what a gradient of the model has in the fields of the bundle."""
    if gradients is None or not isinstance(gradients, (type(model), tangent_class(type(model)))):
        return gradients
    parts = {}
    for name in (field.name for field in dataclasses.fields(bundle)):
        own, part = getattr(model, name), getattr(gradients, name, None)
        parts[name] = _gradients_of(own, getattr(bundle, name), part) if isinstance(own, Parameterized) else part
    return tangent_class(type(bundle))(**parts)


def _replaced(model: Any, parameters: Any) -> Any:
    result = object.__new__(type(model))
    for name, value in _stored(model).items():
        is_replaced = name in model._names()
        value = getattr(parameters, name) if is_replaced else value
        own = getattr(model, name)
        set_field(result, name, _replaced(own, value) if is_replaced and isinstance(own, Parameterized) else value)
    return result


def _stored(model: Any) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(model) if hasattr(model, field.name)]
    return {name: getattr(model, name) for name in dict.fromkeys((*names, *getattr(model, "__dict__", ())))}


def _deepcopied(value: Any) -> Any:
    layout = Layout(value)
    return layout.rebuilt(value, [copied(leaf) for leaf in layout.leaves(value)])
