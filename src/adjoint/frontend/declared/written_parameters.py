"""What a function with a declared derivative writes of what it is given, as far as its text says so.

What is declared tells how the value depends on the arguments, and nothing of what is in them afterwards. The text is
followed in its order: which variables hold an argument, or a part of one (alias analysis), and what is written into
them, by the function itself or by functions and methods that it calls and whose text is at hand.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from adjoint.diagnostics import DifferentiationError
from adjoint.records import dataclass, replace
from adjoint.sources.definitions import find, underlying
from adjoint.sources.library_folders import is_of_a_library

_OF_ARRAYS = {
    "sort",
    "fill",
    "put",
    "itemset",
    "resize",
    "partition",
    "setfield",
    "__setitem__",
    "__iadd__",
    "__imul__",
}
_OF_CONTAINERS = {
    *("append", "extend", "insert", "pop", "remove", "clear", "reverse", "update", "setdefault", "popitem"),
    *("add", "discard", "appendleft", "popleft", "extendleft", "rotate", "__delitem__"),
}
_METHODS = _OF_ARRAYS | _OF_CONTAINERS
"""Methods that write the array or the container that has them."""
_FUNCTIONS = {
    *("copyto", "putmask", "fill_diagonal", "put_along_axis", "shuffle", "at", "put", "place", "setitem", "delitem"),
    *("iadd", "isub", "imul", "itruediv", "ipow", "iconcat", "imatmul", "heappush", "heappop"),
}
"""Functions that write their first argument."""
_VIEWS = {
    *("asarray", "asanyarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "atleast_3d", "ravel", "reshape"),
    *("transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "view", "diagonal", "rollaxis", "flip"),
}
"""Functions and methods that may give the memory of the array that they are given first."""
_ITEMS = {"enumerate", "zip", "reversed", "iter", "next", "vars", "items", "values", "get"}
"""Functions and methods that give the items of what they are given."""
_SETTERS = {"setattr", "__setattr__", "delattr", "__delattr__"}


@dataclass(frozen=True, slots=True)
class Outside:
    """A variable outside of the function: a global one, by the names of its module, or the cell of a captured one."""

    home: int
    name: str


@dataclass(frozen=True, slots=True)
class Path:
    """A parameter or a variable outside, or what is behind some attributes of it; with ``inside``, anything there."""

    parameter: str | Outside
    fields: tuple[str, ...] = ()
    inside: bool = False

    def behind(self, other: Path) -> Path:
        """This path, where its parameter holds what is at another one."""
        if other.inside:
            return other
        return Path(other.parameter, other.fields + self.fields, self.inside)


@dataclass(frozen=True, slots=True)
class Write:
    """What is written: the array, container or object at a path; or only its last attribute, which is ``bound`` anew.

    ``counts`` says that an attribute which carries no derivative still carries none.
    """

    path: Path
    bound: bool = False
    counts: bool = False


Classes = Mapping[str, "type | None"]
_known: WeakKeyDictionary[FunctionType, dict[tuple[Any, ...], frozenset[Write]]] = WeakKeyDictionary()


def writes_of(fn: Any, classes: Classes) -> frozenset[Write]:
    """What a function writes of its parameters, which hold objects of these classes where that is known."""
    function = underlying(fn)
    if function is None:
        return frozenset()
    found = _writes_of(function, classes, ())
    if not is_of_a_library(function.__code__.co_filename):
        return found
    return frozenset(  # others are what the library remembers
        write for write in found if not write.path.fields and isinstance(write.path.parameter, str)
    )


def _writes_of(function: FunctionType, classes: Classes, active: tuple[CodeType, ...]) -> frozenset[Write]:
    code = function.__code__
    if code in active:
        return frozenset()
    known, key = _known.setdefault(function, {}), tuple(classes.items())
    if active or key not in known:
        try:
            body = _Body(function, find(function).node, classes, (*active, code))
        except DifferentiationError:
            return frozenset()
        if active:
            return frozenset(body.found)
        known[key] = frozenset(body.found)
    return known[key]


class _Body(ast.NodeVisitor):
    """Follows the text of one function."""

    def __init__(
        self,
        function: FunctionType,
        node: ast.FunctionDef | ast.Lambda,
        classes: Classes,
        active: tuple[CodeType, ...],
    ) -> None:
        self.function, self.classes, self.active = function, classes, active
        self.found: set[Write] = set()
        self.first = next((each.arg for each in (*node.args.posonlyargs, *node.args.args)), "")
        own = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        self.held = {name: frozenset({Path(name)}) for name in own}
        self.assigned_outside: set[str] = set()
        self.follow(node.body if isinstance(node.body, list) else [node.body])

    def follow(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    # -- what variables hold ---------------------------------------------------------------------------------------

    def paths(self, node: ast.AST | None) -> frozenset[Path]:
        """What of the parameters the value of an expression may be."""
        match node:
            case ast.Name(id=name):
                return self.held[name] if name in self.held else self.outside(name)
            case ast.Attribute(value=base, attr=name) if name != "__class__":
                return frozenset(each if each.inside else _with(each, name) for each in self.paths(base))
            case ast.Subscript(value=base):
                return _inside(self.paths(base))
            case ast.IfExp(body=one, orelse=other):
                return self.paths(one) | self.paths(other)
            case ast.BoolOp(values=values):
                return frozenset().union(*map(self.paths, values))
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.paths(value)
            case ast.Call(func=ast.Name(id="getattr"), args=[base, ast.Constant(value=str(name)), *_]):
                return self.paths(ast.Attribute(base, name, ast.Load()))
            case ast.Call(func=ast.Attribute(value=base, attr=name), args=args) if name in _VIEWS | _ITEMS:
                return _inside(frozenset().union(self.paths(base), *map(self.paths, args)))
            case ast.Call(func=ast.Name(id=name), args=args) if name in _VIEWS | _ITEMS:
                return _inside(frozenset().union(*map(self.paths, args)))
            case _:
                return frozenset()

    def bind(self, target: ast.AST, value: ast.AST | None, *, item: bool = False) -> None:
        """Assigns a value, or with ``item`` each of its items, to a target."""
        match target:
            case ast.Name(id=name):
                found = self.items(value) if item else self.paths(value)
                if name in self.assigned_outside:
                    self.found.update(Write(each, True) for each in self.outside(name))
                else:
                    self.held[name] = found
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) and not item else ()
                is_each = len(parts) == len(targets) and not any(isinstance(each, ast.Starred) for each in targets)
                for place, each in enumerate(targets):
                    self.bind(each, parts[place] if is_each else value, item=not is_each)
            case ast.Starred(value=inner):
                self.bind(inner, value, item=True)
            case _:
                self.write(target)

    def items(self, value: ast.AST | None) -> frozenset[Path]:
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            return frozenset().union(*[self.items(each) | self.paths(each) for each in value.elts])
        return _inside(self.paths(value))

    def forget(self, *names: str | None) -> None:
        for name in names:
            self.held[name or ""] = frozenset()

    def outside(self, name: str) -> frozenset[Path]:
        """The variable outside of the function that a name stands for, if it stands for one."""
        code = self.function.__code__
        if name in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
            return frozenset({Path(Outside(id(cell), ""))})
        if name in code.co_varnames or name in code.co_cellvars or name not in self.function.__globals__:
            return frozenset()
        return frozenset({Path(Outside(id(self.function.__globals__), name))})

    # -- what is written -------------------------------------------------------------------------------------------

    def contents(self, paths: Iterable[Path]) -> None:
        self.found.update(map(Write, paths))

    def write(self, target: ast.AST, value: ast.AST | None = None) -> None:
        """Writes an attribute or an item."""
        match target:
            case ast.Attribute(value=base, attr=name):
                self.put(self.paths(base), name, value)
            case ast.Subscript(value=base):
                self.contents(self.paths(base))
        self.generic_visit(target)

    def put(self, bases: Iterable[Path], name: str, value: ast.AST | None) -> None:
        counts = isinstance(value, ast.Constant) and isinstance(value.value, (int, str, type(None)))
        for base in bases:
            self.found.add(Write(base) if base.inside else Write(_with(base, name), True, counts))

    # -- statements ------------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                self.write(target, node.value)
            else:
                self.bind(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.bind(node.target, node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.bind(node.target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self.contents(self.paths(node.target))
        if not isinstance(node.target, ast.Name):
            is_whole = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
            self.write(node.target, node.value if is_whole else None)
        elif node.target.id in self.assigned_outside:
            self.bind(node.target, None)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.assigned_outside.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.forget(target.id)
            else:
                self.write(target)

    def branches(self, *bodies: Callable[[], object]) -> None:
        """Follows what runs in the place of each other."""
        before, after = self.held, list[dict[str, frozenset[Path]]]()
        for body in bodies:
            self.held = dict(before)
            body()
            after.append(self.held)
        names = {name for held in after for name in held}
        self.held = {name: frozenset().union(*[held.get(name, ()) for held in after]) for name in names}

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self.branches(lambda: self.follow(node.body), lambda: self.follow(node.orelse))

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)

        def once() -> None:
            self.bind(node.target, node.iter, item=True)
            self.follow(node.body)

        self.loop(once)
        self.follow(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.loop(lambda: self.follow([node.test, *node.body]))
        self.follow(node.orelse)

    def loop(self, once: Callable[[], None]) -> None:
        """Follows a body until variables hold no more than it is known that they do."""
        before: dict[str, frozenset[Path]] = {}
        while before != self.held:
            before = self.held
            self.branches(lambda: None, once)

    def visit_Try(self, node: ast.Try) -> None:
        self.branches(lambda: None, lambda: self.follow([*node.body, *node.orelse]))
        self.branches(lambda: None, *[lambda each=each: self.follow(each.body) for each in node.handlers])
        self.follow(node.finalbody)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, None)
        self.follow(node.body)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        held = _inside(self.paths(node.subject)) | self.paths(node.subject)

        def of(case: ast.match_case) -> None:
            for part in ast.walk(case.pattern):
                name = getattr(part, "rest", None) or getattr(part, "name", None)
                if isinstance(name, str):
                    self.held[name] = held
            self.follow([*([] if case.guard is None else [case.guard]), *case.body])

        self.branches(lambda: None, *[lambda case=case: of(case) for case in node.cases])

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.Lambda) -> None:
        """A function inside: what it writes of the variables around it, it may write from here on."""
        if isinstance(node, ast.FunctionDef):
            self.forget(node.name)

        def inside() -> None:
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
            self.forget(*[each.arg for each in given if each is not None])
            self.follow(node.body if isinstance(node.body, list) else [node.body])

        held = self.held
        self.branches(inside)
        self.held = held

    visit_Lambda = visit_FunctionDef

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        self.bind(node.target, node.iter, item=True)
        self.follow(node.ifs)

    def of_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        held, self.held = self.held, dict(self.held)
        self.follow(node.generators)
        self.follow([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.held = held

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = of_comprehension

    # -- calls -----------------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        self.contents(path for each in node.keywords if each.arg == "out" for path in self.paths_written(each.value))
        name = str(getattr(node.func, "attr", getattr(node.func, "id", "")))
        args = list(node.args)
        if name in _SETTERS and isinstance(node.func, ast.Attribute) and self.paths(node.func.value):
            args.insert(0, node.func.value)  # self.__setattr__(name, value)
        if name in _SETTERS and len(args) > 1:
            attribute, value = args[1], args[2] if len(args) > 2 else None
            if isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
                self.put(self.paths(args[0]), attribute.value, value)
            else:
                self.contents(self.paths(args[0]))
            return
        if not self.of_methods(node, name):
            self.of_function(self.resolved(node.func), node, name)

    def paths_written(self, node: ast.AST) -> frozenset[Path]:
        """What is written through ``out=``: an array, or each of a tuple."""
        return self.items(node) if isinstance(node, ast.Tuple) else self.paths(node)

    def of_methods(self, node: ast.Call, name: str) -> bool:
        """Follows the call of a method of something that is given; whether it is one."""
        if not isinstance(node.func, ast.Attribute):
            return False
        match node.func.value:
            case ast.Call(func=ast.Name(id="super")) as call:
                receivers = self.paths(call.args[1]) if len(call.args) > 1 else self.held.get(self.first, frozenset())
                after = self.owner()
            case base:
                receivers, after = self.paths(base), None
        for path in receivers:
            cls = None if path.fields or path.inside else self.class_at(frozenset({path}))
            method = _method(cls, name, after)
            if method is not None:
                self.called(method, node, frozenset({path}))
            elif name in _METHODS:
                self.contents({path})
        return any(isinstance(each.parameter, str) for each in receivers)

    def of_function(self, function: Any, node: ast.Call, name: str) -> None:
        if isinstance(function, np.ufunc):
            self.contents(path for each in node.args[function.nin :] for path in self.paths(each))
        elif isinstance(function, FunctionType) and not is_of_a_library(function.__code__.co_filename):
            self.called(function, node, None)
        elif name in _FUNCTIONS and node.args:
            self.contents(self.paths(node.args[0]))

    def called(self, function: FunctionType, node: ast.Call, receiver: frozenset[Path] | None) -> None:
        """Follows a function that is handed what is given."""
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        given = [] if receiver is None else [receiver]
        given += [self.paths(each) for each in node.args]
        held = dict(zip(names[: code.co_argcount], given, strict=False))
        held.update({each.arg: self.paths(each.value) for each in node.keywords if each.arg in names})
        if not any(held.values()):
            return
        classes = {name: self.class_at(paths) for name, paths in held.items()}
        for write in _writes_of(function, classes, self.active):
            if isinstance(write.path.parameter, Outside):
                self.found.add(write)
                continue
            for path in held.get(write.path.parameter, ()):
                whole = write.path.behind(path)
                self.found.add(Write(whole) if path.inside else replace(write, path=whole))

    def class_at(self, paths: frozenset[Path]) -> type | None:
        found = {
            self.classes.get(each.parameter) if isinstance(each.parameter, str) else None
            for each in paths
            if not (each.fields or each.inside)
        }
        return found.pop() if len(found) == 1 == len(paths) else None

    def resolved(self, node: ast.AST) -> Any:
        """The function that a name stands for, where that is outside of this one."""
        if isinstance(node, ast.Attribute):
            home = self.resolved(node.value)
            return getattr(home, node.attr, None) if isinstance(home, ModuleType) else None
        if not isinstance(node, ast.Name) or node.id in self.function.__code__.co_varnames:
            return None
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=False))
        if node.id not in cells:
            return self.function.__globals__.get(node.id, getattr(builtins, node.id, None))
        return _held_in(cells[node.id])

    def owner(self) -> type | None:
        """The class that ``super()`` is about."""
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=False))
        return _held_in(cells["__class__"]) if "__class__" in cells else None


def _held_in(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is assigned yet
        return None


def _method(cls: type | None, name: str, after: type | None) -> FunctionType | None:
    """The function behind a method of a class, or of those that come after another one in its order."""
    order: Sequence[type] = () if cls is None else cls.__mro__
    if after in order:
        order = order[order.index(after) + 1 :]
    for each in order:
        if name in each.__dict__:
            found = each.__dict__[name]
            return None if isinstance(found, (staticmethod, classmethod)) else underlying(found)
    return None


def _with(path: Path, name: str) -> Path:
    return Path(path.parameter, (*path.fields, name))


def _inside(paths: Iterable[Path]) -> frozenset[Path]:
    return frozenset(Path(each.parameter, each.fields, True) for each in paths)
