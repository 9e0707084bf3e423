"""``with ad.backward(x) as x_bar``: the block as a function of the cotangent, at work where that passes this place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.declarations.surgery import backward
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import TupleValue, Value
from adjoint.frontend.surgery.surgery import altered
from adjoint.frontend.syntax import assign
from adjoint.frontend.syntax.expressions import make_closure
from adjoint.sources.scope import assigned_names, scope_of
from adjoint.sources.trees import children

_HELP = ("write a 'with' statement of its own: with ad.backward(x) as x_bar:",)
_functions: WeakKeyDictionary[ast.withitem, ast.FunctionDef] = WeakKeyDictionary()


@handles(backward)
def _refuse(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    raise lo.problem("AD0231", node, "this is no 'with' statement of its own", helps=_HELP)


def run_backward(lo: Lowerer, node: ast.With, item: ast.withitem) -> None:
    """Binds the variables anew, with the block at work on their cotangent."""
    call = item.context_expr
    assert isinstance(call, ast.Call)
    if len(node.items) > 1:
        _refuse(lo, [], {}, node)
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "x")]
    if len(given) != 1 or len(call.args) + len(call.keywords) != 1:
        raise lo.mistake(TypeError, call, "ad.backward takes one variable, or a tuple of them", code="AD0203")
    target = given[0]
    if not all(isinstance(part, ast.Name) for part in (target.elts if isinstance(target, ast.Tuple) else [target])):
        label = "this is no variable"
        raise lo.problem("AD0231", target, label, helps=("give it a name: w = self.w, and use w from there on",))
    if item.optional_vars is not None and not isinstance(item.optional_vars, ast.Name):
        label = "the cotangent is given to one variable"
        raise lo.problem("AD0231", item.optional_vars, label, helps=("take it apart in the block",))
    _refuse_effects_on_others(lo, node, item)
    function = make_closure(lo, _as_function(node, item), "backward")
    before = lo.evaluate(target)
    behind = altered(lo, before, function, call)
    if lo.settings.tracked:
        _note_same(lo, target, before, behind)
    assign.assign(lo, target, behind)


def _note_same(lo: Lowerer, target: ast.expr, before: Value, behind: Value) -> None:
    """Takes down that variables are not assigned: derivatives with respect to them are so from before the block."""
    if isinstance(target, ast.Tuple) and isinstance(before, TupleValue) and isinstance(behind, TupleValue):
        for part, was, now in zip(target.elts, before.items, behind.items, strict=True):
            _note_same(lo, part, was, now)
    elif isinstance(target, ast.Name):
        for was, now in zip(differentiable_leaves(lo, before), differentiable_leaves(lo, behind), strict=True):
            if isinstance(was, ir.Var) and isinstance(now, ir.Var) and was is not now:
                lo.run_data.behind_blocks[now] = was, target.id


def _as_function(node: ast.With, item: ast.withitem) -> ast.FunctionDef:
    """The block as a function of the cotangent that returns it."""
    known = _functions.get(item)
    if known is None:
        name = item.optional_vars.id if isinstance(item.optional_vars, ast.Name) else "cotangent"
        parameters = ast.arguments([], [ast.arg(name)], None, [], [], None, [])
        end = ast.copy_location(ast.Return(ast.copy_location(ast.Name(name, ast.Load()), node)), node.body[-1])
        made = ast.FunctionDef("backward", parameters, [*node.body, end], [], None, None)
        known = _functions[item] = ast.copy_location(made, node)
    return known


def _refuse_effects_on_others(lo: Lowerer, node: ast.With, item: ast.withitem) -> None:
    """Refuses to leave the block, and to assign variables that exist outside of it."""
    for way_out in _ways_out(node.body, in_loop=False):
        word = type(way_out).__name__.lower()
        label = f"the block runs in the reverse sweep, which {word!r} cannot leave"
        raise lo.problem("AD0231", way_out, label, helps=("raise an exception to stop",))
    frame = lo.frame
    assert frame is not None
    scope = scope_of(frame.source.node)
    own = item.optional_vars.id if isinstance(item.optional_vars, ast.Name) else None
    for statement in node.body:
        for name in assigned_names(statement):
            cell = frame.cells.get(name)
            exists = cell is not None and lo.store.get(cell, ir.UNDEFINED) is not ir.UNDEFINED
            if name != own and (exists or name in scope.globals | scope.nonlocals):
                label = f"{name!r} is a variable from outside the block, which runs later, in the reverse sweep"
                helps = ("use a name of its own", "or append to a list that is made outside of the function")
                raise lo.problem("AD0231", statement, label, helps=helps)


def _ways_out(statements: Iterable[ast.AST], *, in_loop: bool) -> Iterator[ast.AST]:
    """The statements that leave a block by other ways than its end."""
    for part in statements:
        if isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom)):
            yield part
        elif isinstance(part, (ast.Break, ast.Continue)):
            if not in_loop:
                yield part
        elif isinstance(part, (ast.For, ast.While)):
            yield from _ways_out(part.body, in_loop=True)
            yield from _ways_out(part.orelse, in_loop=in_loop)
        elif not isinstance(part, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _ways_out(children(part), in_loop=in_loop)
