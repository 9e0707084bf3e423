"""Python code for arrays of NumPy as code for arrays of another library.

Generated code, and the helpers that it calls, say ``np.sum(x)``, ``x.T``, ``x[1:]``, ``x[i] += y``. The names ``np``
and ``rt`` get other meanings. Where Python's syntax means an operation of an array, it becomes a call: libraries
differ there, in attributes and methods, in indices, and in what can be written. Lines stay what they are.

Where arrays cannot be written, a store rebinds the name of the array. That means the same only as long as no other name
can see the store: the function made the array itself, and nothing refers to it before the last store.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

from adjoint.types.array_libraries import words

ATTRIBUTES = frozenset({"T", "mT", "size", "flat", "real", "imag", "dtype", "kind", "type", "flags", "strides", "base"})
"""What arrays of NumPy, and their dtypes, have and arrays of other libraries have not, or in another way."""
METHODS = frozenset(
    words(
        "all any argmax argmin argsort astype clip conj copy cumprod cumsum diagonal dot fill flatten item max mean "
        "min nonzero prod ravel repeat reshape round sort squeeze std sum swapaxes take tolist trace transpose var"
    )
)
"""Methods of NumPy's arrays that have a function of the same name."""
DTYPES = frozenset(f"{kind}{bits}" for kind in ("int", "uint", "float", "complex") for bits in (8, 16, 32, 64, 128))
"""Names of dtypes, which convert what they are called with."""
OPERATIONS = "_op"
"""The name of the operations in a text."""

_FRESH = frozenset(
    words(
        "zeros zeros_like empty empty_like ones ones_like full full_like copy eye arange array zeros_as empty_as "
        "owned zeros_in_shape"
    )
)
"""Functions whose result nothing else refers to."""


class Refused(Exception):
    """A text that means something else for such arrays; the argument says what is in the way."""


def portable(
    tree: ast.Module, modules: Collection[str], writes: bool, containers: frozenset[str] = frozenset()
) -> ast.Module:
    """The same program for arrays of another library.

    Parameters
    ----------
    tree
        A module of functions. It is changed.
    modules
        The names that stand for modules.
    writes
        Whether arrays can be written.
    containers
        Variables that stand for no arrays, but for what holds them.

    Raises
    ------
    Refused
        Where arrays cannot be written, and somebody might see that they are not.
    """
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and not writes:
            refuse_visible_stores(function, containers)
    found: ast.Module = _Portable(modules, writes).visit(tree)
    return ast.fix_missing_locations(found)


class _Portable(ast.NodeTransformer):
    def __init__(self, modules: Collection[str], writes: bool) -> None:
        self.modules = modules
        self.writes = writes

    def _call(self, name: str, *args: ast.expr) -> ast.Call:
        return ast.Call(ast.Attribute(_load(OPERATIONS), name, ast.Load()), list(args), [])

    # Reads

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr not in ATTRIBUTES or not isinstance(node.ctx, ast.Load) or self._is_module(node.value):
            return node
        return ast.copy_location(self._call("attribute", node.value, ast.Constant(node.attr)), node)

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.modules

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in DTYPES and self._is_module(function.value):
            converted = self._call("converted", ast.Constant(function.attr), self.visit(node.args[0]))
            return ast.copy_location(converted, node)
        if isinstance(function, ast.Attribute) and function.attr in METHODS and not self._is_module(function.value):
            method = self._call("method", self.visit(function.value), ast.Constant(function.attr))
            arguments = [self.visit(argument) for argument in node.args]
            keywords = [ast.keyword(keyword.arg, self.visit(keyword.value)) for keyword in node.keywords]
            return ast.copy_location(ast.Call(method, arguments, keywords), node)
        if isinstance(function, ast.Name) and function.id == "len" and len(node.args) == 1:
            return ast.copy_location(self._call("length", self.visit(node.args[0])), node)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or _is_annotation(node) or self._is_module(node.value):
            return node
        return ast.copy_location(self._call("get", node.value, _as_value(node.slice)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        is_positive = isinstance(node.op, ast.UAdd)
        return ast.copy_location(self._call("positive", node.operand), node) if is_positive else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        symbol = ast.Constant(type(node.op).__name__)
        return ast.copy_location(self._call("binary", symbol, node.left, node.right), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        is_test = isinstance(node.ops[0], ast.NotEq) and len(node.ops) == 1
        if is_test and isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value == 0:
            return ast.copy_location(self._call("differs_from_zero", node.left), node)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        holder: Any = node
        name = "iter"
        drawn = holder.iter
        while isinstance(drawn, ast.Call) and isinstance(drawn.func, ast.Name) and drawn.args:
            if drawn.func.id not in ("enumerate", "reversed"):
                return node
            holder, name, drawn = drawn, "args", drawn.args[0]
        items = self._call("items", drawn)
        if name == "iter":
            holder.iter = items
        else:
            holder.args = [items, *holder.args[1:]]
        return node

    # Writes

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        if not isinstance(target, ast.Subscript):
            return self.generic_visit(node)
        base, index, value = self.visit(target.value), _as_value(self.visit(target.slice)), self.visit(node.value)
        return self._stored(node, target.value, self._call("put", base, index, value))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        value, symbol = self.visit(node.value), ast.Constant(type(node.op).__name__)
        target = node.target
        if isinstance(target, ast.Subscript):
            base, index = self.visit(target.value), _as_value(self.visit(target.slice))
            return self._stored(node, target.value, self._call("put_augmented", base, index, symbol, value))
        if isinstance(target, ast.Name):
            augmented = self._call("augmented", _load(target.id), symbol, value)
            return ast.copy_location(ast.Assign([target], augmented), node)
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "np.add.at":
            base, index, value = call.args
            added = self._call("add_at", self.visit(base), self.visit(index), self.visit(value))
            return self._stored(node, base, added)
        return self.generic_visit(node)

    def _stored(self, node: ast.stmt, base: ast.expr, call: ast.Call) -> ast.stmt:
        """A store; where arrays cannot be written, the name of the array gets a new one."""
        if self.writes or not isinstance(base, ast.Name):
            return ast.copy_location(ast.Expr(call), node)
        return ast.copy_location(ast.Assign([ast.Name(base.id, ast.Store())], call), node)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _is_annotation(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("tuple", "list", "dict", "type")


def _as_value(index: ast.expr) -> ast.expr:
    """What stands between brackets as an expression: ``slice(1, None)`` for ``1:``."""
    if isinstance(index, ast.Slice):
        parts = [ast.Constant(None) if part is None else part for part in (index.lower, index.upper, index.step)]
        return ast.Call(ast.Attribute(_load(OPERATIONS), "slice", ast.Load()), parts, [])
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_as_value(item) for item in index.elts], ast.Load())
    return index


# Stores that nobody else may see


def refuse_visible_stores(function: ast.FunctionDef, containers: frozenset[str] = frozenset()) -> None:
    """Raises where a store into an array could be seen by another name than that of the array."""
    stored: dict[str, list[int]] = {}
    for node in ast.walk(function):
        base = _base_of_store(node)
        if isinstance(base, ast.Name) and base.id in containers:
            continue
        if isinstance(base, ast.Name):
            stored.setdefault(base.id, []).append(node.lineno)  # type: ignore[attr-defined]
        elif base is not None:
            raise Refused(f"{ast.unparse(base)} is a part of something else")
    if not stored:
        return
    parameters = {argument.arg for argument in function.args.args}
    loops = [node for node in ast.walk(function) if isinstance(node, (ast.For, ast.While))]
    for node in ast.walk(function):
        for name, lines in stored.items():
            if name in parameters:
                raise Refused(f"{name} is an argument")
            own = not _binds_what_is_not_fresh(node, name)
            if own and not _refers_to(node, name):
                continue
            if any(_follows(line, node.lineno, loops) for line in lines):  # type: ignore[attr-defined]
                raise Refused(f"{name} has another name" if own else f"{name} is a part of something else")


def _base_of_store(node: ast.AST) -> ast.expr | None:
    """What a statement writes into."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=base)]) | ast.AugAssign(target=ast.Subscript(value=base)):
            return base
        case ast.AugAssign(target=ast.Name() as base):
            return base
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="at"), args=[base, *_])):
            return base
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr="fill"))):
            return base
    return None


def _binds_what_is_not_fresh(node: ast.AST, name: str) -> bool:
    """Whether a statement binds a name to an array that somebody else may have."""
    if isinstance(node, ast.For):
        return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node.target))
    if not isinstance(node, ast.Assign):
        return False
    for target in node.targets:
        if isinstance(target, ast.Name) and target.id == name:
            return not _is_fresh(node.value)
        if isinstance(target, ast.Tuple) and any(isinstance(t, ast.Name) and t.id == name for t in target.elts):
            return not (isinstance(node.value, ast.Tuple) and all(map(_is_fresh, node.value.elts)))
    return False


def _is_fresh(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _FRESH
        case ast.BinOp() | ast.Constant() | ast.List(elts=[]) | ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Call(func=ast.Name(id="abs")):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return _is_fresh(body) and _is_fresh(orelse)
    return False


def _refers_to(node: ast.AST, name: str) -> bool:
    """Whether a statement makes something else refer to what a name stands for, or may."""
    if isinstance(node, ast.AugAssign) and not isinstance(node.value, (ast.List, ast.Tuple)):
        return False  # what is added is copied
    if not isinstance(node, (ast.Assign, ast.Expr, ast.AugAssign)):
        return False
    return any(_is_name(part, name) for part in _lasting(node.value))


def _lasting(value: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that its value may refer to."""
    match value:
        case ast.Name():
            yield value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _lasting(part)
        case ast.Dict(values=parts):
            for part in parts:
                yield from _lasting(part)
        case ast.Subscript(value=base) | ast.Attribute(value=base, attr="T" | "mT" | "real" | "imag" | "flat"):
            yield from _lasting(base)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _lasting(body)
            yield from _lasting(orelse)
        case ast.Call(func=function, args=args, keywords=keywords):
            if isinstance(function, ast.Attribute):
                if function.attr in (*_FRESH, *_COMPUTING, "at"):
                    return
                yield from _lasting(function.value)
            for part in (*args, *[keyword.value for keyword in keywords]):
                yield from _lasting(part)


_COMPUTING = frozenset(
    words(
        "sum mean max min prod exp sin cos log sqrt tanh where outer matmul dot tensordot concatenate stack cumsum "
        "flip roll isnan any all equal divide times quotient product spread"
    )
)
"""Functions that compute new arrays."""


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _follows(line: int, other: int, loops: list[ast.For | ast.While]) -> bool:
    """Whether what stands on a line may run after what stands on another one."""
    if line > other:
        return True
    return any(loop.lineno <= min(line, other) and max(line, other) <= (loop.end_lineno or 0) for loop in loops)
