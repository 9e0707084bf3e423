"""Dataclasses that are defined in a fraction of the time, for the many small classes of the compiler.

To a type checker this is `dataclasses.dataclass`. When a program runs, nothing is compiled for a class: the methods of
classes with as many fields share their code, in which only the names differ. Nothing intercepts assignments to what is
frozen: that there are none is for the type checker to say. Instances are made faster, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from operator import attrgetter
    from types import FunctionType

    MISSING = object()

    class field:
        """What is said of a field: the parameters mean what they do for `dataclasses.field`."""

        __slots__ = ("compare", "default", "default_factory", "hash", "init", "repr")
        _field_type = None

        def __init__(self, *, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True):
            self.default, self.default_factory = default, default_factory
            self.init, self.repr, self.hash, self.compare = init, repr, hash, compare

    _PLAIN = field()

    def replace(record, /, **changes):
        """A record with other values in some fields."""
        for name in record.__dataclass_fields__:
            if name not in changes:
                changes[name] = getattr(record, name)
        return record.__class__(**changes)

    def dataclass(*, slots=False, frozen=False, eq=True, kw_only=False):
        """Makes a class a dataclass; the parameters mean what they do for `dataclasses.dataclass`."""
        return lambda cls: _make(cls, slots, frozen, eq, kw_only)

    def _make(cls, slots, frozen, eq, kw_only):
        fields = {}
        for base in cls.__mro__[-2:0:-1]:
            fields.update(base.__dict__.get("__dataclass_fields__", ()))
        inherited = set(fields)
        own = dict(cls.__dict__)
        fields.update(_own_fields(own))
        made = _methods(cls, own, fields, frozen, eq, kw_only)
        made |= {"__dataclass_fields__": fields, "__match_args__": () if kw_only else tuple(fields)}
        if not slots:
            for name, value in made.items():
                setattr(cls, name, value)
            return cls
        own |= made
        for name in (*fields, "__dict__", "__weakref__"):
            own.pop(name, None)
        own["__slots__"] = tuple(name for name in fields if name not in inherited)
        slotted = type(cls)(cls.__name__, cls.__bases__, own)
        slotted.__qualname__ = cls.__qualname__
        return slotted

    def _own_fields(own):
        for name, annotation in own.get("__annotations__", {}).items():
            if str(annotation).startswith("ClassVar"):
                continue  # as the annotations of the compiler are text
            default = own.get(name, MISSING)
            yield name, default if type(default) is field else field(default=default) if name in own else _PLAIN

    def _methods(cls, own, fields, frozen, eq, kw_only):
        """The methods that the class does not define itself."""
        methods = {"__init__": _init(fields, hasattr(cls, "__post_init__"), kw_only)}
        if eq and "__eq__" not in own:
            methods["__eq__"] = _eq(_values([name for name, spec in fields.items() if spec.compare]))
        if eq and own.get("__hash__") is None:
            methods["__hash__"] = _hash(fields) if frozen else None
        if "__repr__" not in own:
            methods["__repr__"] = _repr
        return methods

    def _init(fields, finish, kw_only):
        names = tuple(fields)
        made, given = {}, {}
        for name, spec in fields.items():
            if spec.default_factory is not MISSING:
                made[name] = spec.default_factory
            if spec.default_factory is not MISSING or spec.default is not MISSING:
                given[name] = spec.default
        make_init = _init_at_once if len(names) in _WRITTEN_OUT else _init_one_by_one
        init = make_init(names, given, kw_only)
        return _finishing(init, made, finish) if made or finish else init

    def _init_at_once(names, given, kw_only):
        template = _WRITTEN_OUT[len(names)]
        code = template.replace(
            co_name="__init__", co_qualname="__init__", co_names=names, co_varnames=("self", *names)
        )
        if kw_only:
            code = code.replace(co_argcount=1, co_kwonlyargcount=len(names))
        init = FunctionType(code, _GLOBALS)
        if kw_only:
            init.__kwdefaults__ = given
        else:
            init.__defaults__ = tuple(given.values())
        return init

    def _init_one_by_one(names, given, kw_only):
        """The initializer of records with as many fields as few have: they are made rarely."""
        known = frozenset(names)

        def __init__(self, *args, **kwargs):
            values = {**given, **dict(zip(names, args, strict=False)), **kwargs}
            if args and (kw_only or len(args) > len(names) or not kwargs.keys().isdisjoint(names[: len(args)])):
                raise TypeError(f"{type(self).__name__} was given more than its fields")
            if values.keys() != known:
                raise TypeError(f"{type(self).__name__} is not made of {', '.join(sorted(values.keys() ^ known))}")
            for name in names:
                setattr(self, name, values[name])

        return __init__

    def _finishing(init, made, finish):
        """An initializer that makes what was not given."""

        def __init__(self, *args, **kwargs):
            init(self, *args, **kwargs)
            for name, make in made.items():
                if getattr(self, name) is MISSING:
                    setattr(self, name, make())
            if finish:
                self.__post_init__()

        __init__.__wrapped__ = init
        return __init__

    _GLOBALS = {"__builtins__": __builtins__}

    # The code that fills in as many fields, for the numbers of fields that are common (the last are those of rules):
    # written out, as compiling it takes longer than all else here

    def _init_0(self):
        pass

    def _init_1(self, _0):
        self._0 = _0

    def _init_2(self, _0, _1):
        self._0, self._1 = _0, _1

    def _init_3(self, _0, _1, _2):
        self._0, self._1, self._2 = _0, _1, _2

    def _init_4(self, _0, _1, _2, _3):
        self._0, self._1, self._2 = _0, _1, _2
        self._3 = _3

    def _init_5(self, _0, _1, _2, _3, _4):
        self._0, self._1, self._2 = _0, _1, _2
        self._3, self._4 = _3, _4

    def _init_6(self, _0, _1, _2, _3, _4, _5):
        self._0, self._1, self._2 = _0, _1, _2
        self._3, self._4, self._5 = _3, _4, _5

    def _init_7(self, _0, _1, _2, _3, _4, _5, _6):
        self._0, self._1, self._2 = _0, _1, _2
        self._3, self._4, self._5 = _3, _4, _5
        self._6 = _6

    def _init_8(self, _0, _1, _2, _3, _4, _5, _6, _7):
        self._0, self._1, self._2 = _0, _1, _2
        self._3, self._4, self._5 = _3, _4, _5
        self._6, self._7 = _6, _7

    def _init_9(self, _0, _1, _2, _3, _4, _5, _6, _7, _8):
        self._0, self._1, self._2 = _0, _1, _2
        self._3, self._4, self._5 = _3, _4, _5
        self._6, self._7, self._8 = _6, _7, _8

    def _init_16(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15):
        self._0, self._1, self._2 = _0, _1, _2
        self._3, self._4, self._5 = _3, _4, _5
        self._6, self._7, self._8 = _6, _7, _8
        self._9, self._10, self._11 = _9, _10, _11
        self._12, self._13, self._14 = _12, _13, _14
        self._15 = _15

    def _init_17(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16):
        self._0, self._1, self._2 = _0, _1, _2
        self._3, self._4, self._5 = _3, _4, _5
        self._6, self._7, self._8 = _6, _7, _8
        self._9, self._10, self._11 = _9, _10, _11
        self._12, self._13, self._14 = _12, _13, _14
        self._15, self._16 = _15, _16

    def _init_18(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17):
        self._0, self._1, self._2 = _0, _1, _2
        self._3, self._4, self._5 = _3, _4, _5
        self._6, self._7, self._8 = _6, _7, _8
        self._9, self._10, self._11 = _9, _10, _11
        self._12, self._13, self._14 = _12, _13, _14
        self._15, self._16, self._17 = _15, _16, _17

    _WRITTEN_OUT = {
        init.__code__.co_argcount - 1: init.__code__
        for init in (
            *(_init_0, _init_1, _init_2, _init_3, _init_4, _init_5, _init_6, _init_7, _init_8, _init_9),
            *(_init_16, _init_17, _init_18),
        )
    }

    def _values(names):
        """The function that gives the values of some fields, as a tuple."""
        if len(names) > 1:
            return attrgetter(*names)
        return (lambda self: (getattr(self, names[0]),)) if names else lambda self: ()

    def _eq(values):
        def __eq__(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            return values(self) == values(other)

        return __eq__

    def _hash(fields):
        hashed = _values([name for name, spec in fields.items() if (spec.compare if spec.hash is None else spec.hash)])
        return lambda self: hash(hashed(self))

    def _repr(self):
        shown = (name for name, spec in self.__dataclass_fields__.items() if spec.repr)
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
