"""Arithmetic of arrays without a question, for as long as nothing is infinite or not a number.

The products and quotients of derivatives (:mod:`adjoint.runtime.arithmetic.numbers`) never warn, and some of them are
zero where their first operand is, whatever the other. On arrays each pays for that by setting NumPy's error state, and
by looking for what is not a number: seven to thirteen times what ``*`` takes on a few elements. A derivative may run
with ``*`` and ``/``, speculatively, under one error state that takes note of what happens
(:mod:`adjoint.dispatch.speculative`); where anything did, or a result is not a number, it is computed again.

It is legal where nobody notices that the derivative runs twice, where the program sets no error state of its own, and
for those that are zero where their first operand is: where what is not a number ends in the results.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.differentiation.definitions import everywhere, with_called
from adjoint.differentiation.zeros.speculation import end_in_results, is_noticed
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, map_statements
from adjoint.ir.walk import statements_in
from adjoint.runtime.arithmetic.numbers import divide, product, quotient, times

_PLAIN: dict[Any, Any] = {product: operator.mul, quotient: operator.truediv}
_MASKING: dict[Any, Any] = {times: operator.mul, divide: operator.truediv}
"""Those that are zero where their first operand is."""
_ERROR_STATES = (np.errstate, np.seterr, np.seterrcall, np.geterr)
_FEWEST = 2
"""Of fewer, the error state around the whole derivative takes as long as theirs; those that mask count twice."""


def with_plain_arithmetic(function: ir.Function) -> ir.Function:
    """A derivative with ``*`` and ``/`` of arrays.

    Parameters
    ----------
    function
        A derivative, before it is finished.

    Returns
    -------
    Function
        It gives what ``function`` gives, or something that is not a number, or NumPy notes an error. The very function
        where that might not be so, or there is nothing to gain.
    """
    functions = with_called(function)
    if sum(map(_count, functions)) < _FEWEST or any(map(_sets_errors, functions)) or is_noticed(function):
        return function
    masked = {id(each): _masked(each) for each in functions}
    plain = _PLAIN | _MASKING if end_in_results(functions, masked) else _PLAIN
    return everywhere(function, lambda each: _with(each, plain))


def _calls(function: ir.Function) -> list[ir.Call]:
    return [statement for statement in statements_in(function.body) if type(statement) is ir.Call]


def _count(function: ir.Function) -> int:
    asked = (call for call in _calls(function) if _is_asked(call) and any(map(_is_of_numpy, call.args)))
    return sum(2 if call.callee in _MASKING else 1 for call in asked)


def _sets_errors(function: ir.Function) -> bool:
    return any(call.callee is state for call in _calls(function) for state in _ERROR_STATES)


def _masked(function: ir.Function) -> list[ir.Var]:
    return [call.targets[0] for call in _calls(function) if _is_asked(call) and call.callee in _MASKING]


def _is_asked(call: ir.Call) -> bool:
    """Whether a call may be plain: a division of Python's numbers would raise."""
    callee = call.callee
    if callee is product or callee is times:
        return True
    return (callee is quotient or callee is divide) and any(map(_is_of_numpy, call.args))


def _is_of_numpy(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Array) or (isinstance(type_, ir.Scalar) and type_.dtype is not None)


def _with(function: ir.Function, plain: dict[Any, Any]) -> ir.Function:
    def statement(old: ir.Statement) -> ir.Statement:
        if type(old) is ir.Call and _is_asked(old) and old.callee in plain:
            return ir.Call(old.targets, plain[old.callee], old.args, (), old.span)
        return map_blocks(old, lambda block: map_statements(block, statement))

    body = map_statements(function.body, statement)
    return function if body is function.body else ir.Function(function.name, function.params, body, function.doc)
