"""The last touches to a derivative: names become code, conversions that change nothing go."""

from __future__ import annotations

from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import Atom, Block, Call, Const, Function, Statement, Var
from adjoint.ir.types import Array, Scalar
from adjoint.ir.walk import map_blocks, read_counts, statements_in, substitute
from adjoint.rules.declare import Bilinear, Elementwise
from adjoint.rules.registry import rule_for
from adjoint.runtime.results import owned
from adjoint.transform.reverse import expand
from adjoint.transform.simplify import simplify


def finish(function: Function) -> Function:
    """A function that is ready to be printed."""
    function = simplify(expand(function))
    return simplify(_without_idle_conversions(function))


def _without_idle_conversions(function: Function) -> Function:
    """Drops ``float(x)`` of a Python float, and copies of memory that nobody else has."""
    made = {
        target: statement
        for statement in statements_in(function.body)
        if isinstance(statement, Call)
        for target in statement.targets
    }
    counts = read_counts(function.body)
    renamed: dict[Var, Atom] = {}
    idle: set[Statement] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, Call) and len(statement.args) == 1 and len(statement.targets) == 1:
            arg = statement.args[0]
            if (statement.callee is float and _is_float(arg)) or (
                statement.callee is owned and _is_own(arg, made, counts[arg] if isinstance(arg, Var) else 0)
            ):
                idle.add(statement)
                renamed[statement.targets[0]] = renamed.get(arg, arg) if isinstance(arg, Var) else arg
    if not idle:
        return function
    body = substitute(_without(function.body, idle), renamed)
    return Function(function.name, function.params, body, function.doc)


def _without(block: Block, idle: set[Statement]) -> Block:
    kept = tuple(map_blocks(s, lambda inner: _without(inner, idle)) for s in block.statements if s not in idle)
    return Block(kept, block.terminator)


def _is_float(atom: Atom) -> bool:
    if isinstance(atom, Const):
        return type(atom.value) is float
    return isinstance(atom, Var) and atom.type == Scalar("float")


def _is_own(atom: Atom, made: dict[Var, Call], reads: int) -> bool:
    """Whether an array was made here and is handed to nobody but the caller."""
    if isinstance(atom, Const):
        return not hasattr(atom.value, "__array__")
    if not isinstance(atom, Var):
        return False
    if isinstance(atom.type, Scalar):
        return True
    statement = made.get(atom)
    if statement is None or not isinstance(atom.type, Array):
        return False
    return reads <= 1 and _makes_memory(statement)


def _makes_memory(call: Call) -> bool:
    """Whether the result of a call is surely memory of its own."""
    facts = effects_of(call)
    if not facts.known or facts.view_of is not None:
        return False
    rule = rule_for(call.callee)
    return facts.fresh or isinstance(rule, (Elementwise, Bilinear)) or rule is None



