"""Arrays of records in Python, by an array for each field: read by the compiler where what varies is written there."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import functools

import numpy as np

from adjoint.declarations.implicit import refused


class RecordArray:
    """Stands for an array of records; attributes hold the arrays of its fields.

    There is a class for each type of records: that knows the ``names`` and the ``dtype``, itself as ``own``, and the
    class of one ``record``.
    """

    __adjoint_stands_for__ = np.ndarray
    names: tuple[str, ...]

    def __init__(self, shape):
        self.shape = shape

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape))

    def __len__(self):
        if len(self.shape) == 0:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return iter([self[place] for place in range(len(self))])

    def __getitem__(self, key):
        if isinstance(key, str):
            return getattr(self, field(key))
        if isinstance(key, list):
            return refused("[[...]]", "one field of an array of records that varies: a['name']")
        if _is_place(key, len(self.shape)):
            return self.record(self, key)
        return self._each(np.shape(np.empty(self.shape)[key]), lambda part: part[key])

    def __setitem__(self, key, value):
        if isinstance(key, str):
            getattr(self, field(key))[...] = value
        elif isinstance(value, tuple):
            for name, part in zip(self.names, value, strict=True):
                getattr(self, field(name))[key] = part
        elif isinstance(value, (RecordArray, RecordRow)):
            for name in self.names:
                getattr(self, field(name))[key] = value[name]
        else:
            raise NotImplementedError("records that are written at once: write each field, a['name'] = values")

    def copy(self):
        return self._each(self.shape, lambda part: part.copy())

    def _each(self, shape, of_part):
        made = self.own(shape)
        for name in self.names:
            setattr(made, field(name), of_part(getattr(self, field(name))))
        return made

    def __eq__(self, other):
        raise NotImplementedError("a comparison of records")

    def __ne__(self, other):
        raise NotImplementedError("a comparison of records")

    def __getattr__(self, name):
        return refused(name, "the fields of an array of records that varies: a['name']")


class RecordRow:
    """Stands for one record in such an array."""

    __adjoint_stands_for__ = np.void
    names: tuple[str, ...]

    def __init__(self, records, place):
        self.records = records
        self.place = place

    def __len__(self):
        return len(self.names)

    def __getitem__(self, key):
        name = key if isinstance(key, str) else self.names[key]
        return getattr(self.records, field(name))[self.place]

    def __setitem__(self, key, value):
        name = key if isinstance(key, str) else self.names[key]
        getattr(self.records, field(name))[self.place] = value

    def __eq__(self, other):
        raise NotImplementedError("a comparison of records")

    def __ne__(self, other):
        raise NotImplementedError("a comparison of records")

    def __getattr__(self, name):
        return refused(name, "the fields of a record that varies: a[i]['name']")


@functools.lru_cache(maxsize=256)
def class_of(dtype):
    """The class that stands for arrays of a type of records."""
    known = {"names": dtype.names, "dtype": dtype}
    record = type("RecordRow", (RecordRow,), {**known, "__adjoint_stands_for__": np.void})
    cls = type("RecordArray", (RecordArray,), {**known, "__adjoint_stands_for__": np.ndarray, "record": record})
    setattr(cls, "own", cls)  # noqa: B010
    return cls


def made(cls, maker, shape, fields):
    """``maker(shape, dtype)``, of fields by their names, types and extents."""
    extents = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    records = cls(extents)
    for name, kind, inner in fields:
        setattr(records, field(name), maker((*extents, *inner), dtype=kind))
    return records


def of_rows(cls, rows, fields):
    """``np.array(rows, dtype)`` of a list of tuples."""
    records = cls((len(rows),))
    for place, (name, kind, _) in enumerate(fields):
        setattr(records, field(name), np.array([row[place] for row in rows], dtype=kind))
    return records


def field(name):
    """The attribute that holds a field."""
    return "field_" + name


def _is_place(key, ndim):
    """Whether a key names one record."""
    if isinstance(key, (int, np.integer)):
        return ndim == 1
    return isinstance(key, tuple) and len(key) == ndim and all(isinstance(each, (int, np.integer)) for each in key)
