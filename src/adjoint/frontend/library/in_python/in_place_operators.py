"""The functions of ``operator`` that work in place, in Python."""

from __future__ import annotations

from typing import Any


def iadd(a: Any, b: Any) -> Any:
    a += b
    return a


def isub(a: Any, b: Any) -> Any:
    a -= b
    return a


def imul(a: Any, b: Any) -> Any:
    a *= b
    return a


def itruediv(a: Any, b: Any) -> Any:
    a /= b
    return a


def ifloordiv(a: Any, b: Any) -> Any:
    a //= b
    return a


def imod(a: Any, b: Any) -> Any:
    a %= b
    return a


def ipow(a: Any, b: Any) -> Any:
    a **= b
    return a


def imatmul(a: Any, b: Any) -> Any:
    a @= b
    return a


def ior(a: Any, b: Any) -> Any:
    a |= b
    return a


def iand(a: Any, b: Any) -> Any:
    a &= b
    return a


def ixor(a: Any, b: Any) -> Any:
    a ^= b
    return a
