"""Functions that do something else when they run again: they draw random numbers, or items of iterators, or act.

What is printed is printed twice then, and what nobody looks into may give another number.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from types import MethodType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.called_functions import functions_run
from adjoint.analysis.effects import effects
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.rules.registry import declaration_for
from adjoint.runtime import display
from adjoint.types.classes.safe_lookups import asked

GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
"""Classes of generators of random numbers."""
_SEEDED = (np.random.default_rng, np.random.RandomState, random.Random)
"""What makes one of a seed."""


def draws(function: ir.Function) -> bool:
    """Whether a function may draw random numbers or items of iterators from outside, or calls one that may."""
    return any(map(_draws_itself, functions_run(function)))


def may_run_again(function: ir.Function) -> bool:
    """Whether nobody could tell that a function runs twice: it draws nothing, shows nothing, and keeps no count."""
    return not any(_draws_itself(each) or _acts_itself(each) for each in functions_run(function))


def has_function_values(function: ir.Function) -> bool:
    """Whether a function calls function values that are known only at run time."""
    return any(
        isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Applied)
        for each in functions_run(function)
        for statement in statements_in(each.body)
    )


def may_give_something_else(function: ir.Function) -> bool:
    """Whether a function that runs again may find another value: it draws, or calls what nobody looks into."""
    return any(_draws_itself(each) or _asks_unknown(each) for each in functions_run(function))


def _asks_unknown(function: ir.Function) -> bool:
    """Whether a function takes something from calls of what is not looked into."""
    calls = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]
    return any(call.targets and _acts(call.callee) for call in calls)


def _acts_itself(function: ir.Function) -> bool:
    return any(isinstance(statement, ir.Call) and _acts(statement.callee) for statement in statements_in(function.body))


def _acts(callee: Any) -> bool:
    """Whether a call may do anything beyond what it does to memory; declared functions and our own do nothing else."""
    if callee is display.call:
        return True
    is_own = str(asked(callee, "__module__")).startswith("adjoint.")
    if is_own or is_raised(callee) or declaration_for(callee) is not None:
        return False
    found = effects(callee)
    return not (found.pure or found.confined)


def is_raised(callee: Any) -> bool:
    """Whether a call makes an exception."""
    return isinstance(callee, type) and issubclass(callee, BaseException)


def is_iterator(cls: type | None) -> bool:
    """Whether objects of a class give each of their items once; files are not meant."""
    return cls is not None and issubclass(cls, Iterator) and not issubclass(cls, io.IOBase)


def _draws_itself(function: ir.Function) -> bool:
    if any(_is_of_iterator(param.type) for param in function.params):
        return True
    repeated = set(_methods_of_seeded(function))
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Load) and _is_of_iterator(statement.target.type):
            return True
        if isinstance(statement, ir.Call):
            asked = [each for each in (statement.callee, *statement.args) if each not in repeated]
            is_draw = statement.callee is display.draw and statement.args[0] in asked
            if is_draw or any(map(_is_of_generator, asked)):
                return True
    return False


def _methods_of_seeded(function: ir.Function) -> Iterator[ir.Var]:
    """The methods of generators that a function makes itself, and of which a whole number tells what they give."""
    seeded: set[ir.Atom] = set()
    for statement in statements_in(function.body):
        match statement:
            case ir.Call(targets=(target,), callee=callee, args=(seed,), kwargs=()) if callee in _SEEDED:
                is_whole = type_of_atom(seed) in (ir.Scalar("int"), ir.Scalar("int", np.dtype(np.int64)))
                seeded |= {target} if is_whole else set()
            case ir.Load(target=target, base=base, key=ir.Attribute()) if base in seeded:
                yield target


def _is_of_iterator(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Opaque) and is_iterator(type_.cls)


def _is_of_generator(called: Any) -> bool:
    if isinstance(called, ir.Var):
        return called.type == ir.Opaque(MethodType)
    found = called.value if isinstance(called, ir.Const) else called
    return isinstance(asked(found, "__self__"), GENERATORS)
