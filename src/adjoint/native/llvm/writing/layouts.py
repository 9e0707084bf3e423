"""How objects are laid out that machine code makes: what the attempts to write a module learn of their fields.

All objects of a class are laid out alike, in all parts of a module. A field has the kind that all values have in
common that are put into it. Where an attempt finds one that has not, the module is written once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adjoint import ir
from adjoint.native.llvm.values import (
    Kind,
    Known,
    LeftToPython,
    NothingKind,
    Object,
    SeveralKinds,
    StructKind,
    Unsupported,
    Value,
    joined,
    kinds_in,
    types_of_parts,
    width_of,
)
from adjoint.native.llvm.writing.emission import is_same_known, kind_of_object
from adjoint.runtime.tangents import shadow
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.vectors import TangentVector

Layout = dict[str, "Kind | Known"]


class Layouts:
    """The layouts of classes.

    Attributes
    ----------
    grown
        Whether this attempt has learnt something.
    """

    def __init__(self) -> None:
        self.grown = False
        self._layouts: dict[type, Layout] = {}
        self._left: set[type] = set()
        self._varied: set[tuple[type, str]] = set()
        self._told_fixed: set[tuple[type, str]] = set()

    def are_used(self) -> bool:
        """Whether machine code has made an object."""
        return bool(self._layouts)

    def of(self, cls: type) -> Layout:
        """The fields of objects of a class, in order; what is the same in all objects, and known, takes no room."""
        return self._layouts[cls]

    def of_new(self, cls: type, values: Mapping[str, Value], types: Mapping[str, ir.Type]) -> Layout:
        """The layout of an object that is made of these values, of these types as far as they are told.

        Raises
        ------
        Unsupported
            If objects of the class are Python's.
        LeftToPython
            If others have other fields.
        """
        if cls in self._left or not _is_plain(cls):
            raise Unsupported(f"an object of the class {cls.__qualname__}")
        layout = self._layouts.setdefault(cls, {name: _first_kind(value) for name, value in values.items()})
        if layout.keys() != values.keys():
            raise LeftToPython(cls)
        for name, value in values.items():
            self.put(cls, name, value, types.get(name))
        return layout

    def use_several_kinds(self) -> None:
        """Takes note of a list of several kinds.

        Raises
        ------
        Unsupported
            If these are Python's.
        """
        if SeveralKinds in self._left:
            raise Unsupported("a list of several kinds")
        self._layouts.setdefault(SeveralKinds, {})

    def put(self, cls: type, name: str, value: Value, type_: ir.Type | None = None) -> Kind | Known:
        """The kind of a field into which a value is put."""
        layout = self._layouts[cls]
        if name not in layout:
            raise LeftToPython(cls)
        if not _is_constant(value, type_) and (cls, name) not in self._varied:
            self._varied.add((cls, name))
            self.grown |= (cls, name) in self._told_fixed
        known = layout[name]
        if isinstance(known, Known) and is_same_known(known, value):
            return known
        found = _joined(cls, _kind(known), kind_of_object(value))
        if found != known:
            layout[name] = found
            self.grown = True
        if any(isinstance(each, str) and width_of(each) for each in kinds_in(found)):
            raise Unsupported("bundles in an object")
        if cls in self._reached(found):
            raise LeftToPython(cls)  # objects in a circle would never be given up
        return found

    def is_fixed(self, cls: type, name: str) -> bool:
        """Whether no derivative has to do with what is put into a field: it is a text, a function, ..."""
        if (cls, name) in self._varied:
            return False
        self._told_fixed.add((cls, name))
        return True

    def leave(self, cls: type | None) -> None:
        """Has Python make the objects of a class, and those that they hold; of all classes for None."""
        gone = set(self._layouts) if cls is None else {cls, *self._reached(StructKind(cls))}
        self._left |= gone
        self._layouts.clear()

    def place(self, cls: type, name: str) -> int:
        """At which of the words of an object a field begins."""
        place = 0
        for field, found in self._layouts[cls].items():
            if field == name:
                break
            place += words(found)
        return place

    def size(self, cls: type) -> int:
        """How many words the fields of an object have."""
        return sum(map(words, self._layouts[cls].values()))

    def _reached(self, found: Kind) -> set[type]:
        """The classes of objects in a value of a kind, and in these."""
        reached: set[type] = set()
        waiting = list(_classes_in(found))
        while waiting:
            cls = waiting.pop()
            if cls not in reached:
                reached.add(cls)
                fields = self._layouts.get(cls, {}).values()
                waiting += [each for field in fields if not isinstance(field, Known) for each in _classes_in(field)]
        return reached


def words(found: Kind | Known) -> int:
    """How many words a field has."""
    return 0 if isinstance(found, Known) else len(types_of_parts(found))


def _classes_in(found: Kind) -> Iterator[type]:
    return (each.cls for each in kinds_in(found) if isinstance(each, StructKind))


def _is_constant(value: Value, type_: ir.Type | None) -> bool:
    """Whether no derivative has to do with a value."""
    if isinstance(value, Known):
        return shadow(value.value) is None
    return isinstance(value, Object) and type_ is not None and not ir.may_vary(type_)


def _first_kind(value: Value) -> Kind | Known:
    return value if isinstance(value, Known) and value.value is not None else kind_of_object(value)


def _joined(cls: type, one: Kind, other: Kind) -> Kind:
    """The kind that two values of a field have in common; in a shadow, None is the zero of a number."""
    numbers = [each for each in (one, other) if isinstance(each, str) and each[0] in "fc"]
    if len({each[1] for each in numbers}) > 1:
        raise LeftToPython(cls)  # each object computes in its own precision
    if issubclass(cls, TangentVector) and len(numbers) == 1 and NothingKind() in (one, other):
        return numbers[0]
    return joined([one, other])


def _kind(found: Kind | Known) -> Kind:
    return kind_of_object(found) if isinstance(found, Known) else found


def _is_plain(cls: type) -> bool:
    """Whether objects of a class are their attributes, and nothing happens when they are made or given up."""
    if is_marked(cls, "__del__") or "__new__" in {name for base in cls.__mro__[:-1] for name in vars(base)}:
        return False
    return next(each for each in cls.__mro__ if not each.__flags__ & _ON_HEAP) is object


_ON_HEAP = 1 << 9
"""The flag of classes that a ``class`` statement made (``Py_TPFLAGS_HEAPTYPE``)."""
