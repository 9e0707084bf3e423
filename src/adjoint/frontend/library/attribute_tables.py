"""What `vars` gives of an object and `globals` of a module: dicts that are attributes, whatever becomes of them."""

from __future__ import annotations

from typing import Any


def names_of(owner: Any) -> Any:
    return tuple(vars(owner))


def names_that_are_there(owner: Any, names: Any) -> Any:
    """Which of these an object has that exists at run time."""
    return [name for name in names if hasattr(owner, name)]


def own_attribute(owner: Any, name: Any) -> Any:
    return vars(owner)[name]


def put_own(owner: Any, name: Any, value: Any) -> None:
    vars(owner)[name] = value


def remove_own(owner: Any, name: Any) -> None:
    del vars(owner)[name]


def values_of(owner: Any) -> Any:
    return vars(owner).values()


def items_of(owner: Any) -> Any:
    return vars(owner).items()


class AttributeTable:
    """Stands for the ``__dict__`` of an object."""

    __adjoint_stands_for__ = dict

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __getitem__(self, name: Any) -> Any:
        if name not in names_of(self._owner):
            raise KeyError(name)
        return own_attribute(self._owner, name)

    def __setitem__(self, name: Any, value: Any) -> None:
        put_own(self._owner, name, value)

    def __delitem__(self, name: Any) -> None:
        if name not in names_of(self._owner):
            raise KeyError(name)
        remove_own(self._owner, name)

    def __contains__(self, name: Any) -> bool:
        return name in names_of(self._owner)

    def __len__(self) -> int:
        return len(names_of(self._owner))

    def __iter__(self) -> Any:
        return iter(names_of(self._owner))

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, dict) and self.copy() == dict(other)

    def keys(self) -> Any:
        return names_of(self._owner)

    def values(self) -> Any:
        return values_of(self._owner)

    def items(self) -> Any:
        return items_of(self._owner)

    def get(self, name: Any, default: Any = None) -> Any:
        return own_attribute(self._owner, name) if name in names_of(self._owner) else default

    def setdefault(self, name: Any, default: Any = None) -> Any:
        if name not in names_of(self._owner):
            put_own(self._owner, name, default)
        return own_attribute(self._owner, name)

    def pop(self, name: Any, *default: Any) -> Any:
        if name not in names_of(self._owner):
            if default:
                return default[0]
            raise KeyError(name)
        value = own_attribute(self._owner, name)
        remove_own(self._owner, name)
        return value

    def update(self, *tables: Any, **named: Any) -> None:
        for name, value in dict(*tables, **named).items():
            put_own(self._owner, name, value)

    def copy(self) -> Any:
        return {name: own_attribute(self._owner, name) for name in names_of(self._owner)}


def has_global(module: Any, name: Any) -> bool:
    return name in vars(module)


def refuse_whole(module: Any) -> Any:
    raise NotImplementedError


class ModuleTable:
    """Stands for the ``__dict__`` of a module, of which variables are read one by one."""

    __adjoint_stands_for__ = dict

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getitem__(self, name: Any) -> Any:
        if not has_global(self._module, name):
            raise KeyError(name)
        return getattr(self._module, name)

    def __contains__(self, name: Any) -> bool:
        return has_global(self._module, name)

    def get(self, name: Any, default: Any = None) -> Any:
        return getattr(self._module, name) if has_global(self._module, name) else default

    def __iter__(self) -> Any:
        return refuse_whole(self._module)

    def __len__(self) -> Any:
        return refuse_whole(self._module)

    def __setitem__(self, *given: Any) -> None:
        refuse_whole(self._module)

    def __delitem__(self, *given: Any) -> None:
        refuse_whole(self._module)

    def __eq__(self, *given: Any) -> Any:
        return refuse_whole(self._module)

    keys = values = items = setdefault = pop = update = copy = __or__ = __iter__
