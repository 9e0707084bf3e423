"""What a function with a declared derivative writes of what it is given or finds outside, as far as its text says so.

What is declared tells how the value depends on the arguments, and nothing of what is in them afterwards. The text is
followed in its order: which variables hold an argument, a part of one or something outside (alias analysis), and what
is written into them, by the function itself or by functions and methods that it calls and whose text is at hand.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.analysis.known_effects import FILLS_FIRST, Effects
from adjoint.diagnostics import DifferentiationError
from adjoint.frontend.declared.writes.library_effects import (
    effects_of_function,
    effects_of_method,
    makes_a_container,
    writes_its_first_argument,
)
from adjoint.frontend.declared.writes.paths import (
    CONTENTS,
    MISSING,
    Path,
    Write,
    held_at,
    inside,
    is_a_chain,
    is_a_librarys,
    method_of,
    outside,
    variables_of,
)
from adjoint.sources.definitions import find, underlying
from adjoint.sources.library_folders import is_of_a_library

_SETTERS = frozenset(("setattr", "__setattr__", "delattr", "__delattr__"))
Classes = Callable[[Path], "type | None"]
_Held = Mapping[str, frozenset[Path]]
_Given = Sequence[frozenset[Path]]
_NOTHING: frozenset[Path] = frozenset()


def accesses_of(
    function: FunctionType, names: Iterable[str], classes: Classes
) -> tuple[frozenset[Write], frozenset[Path]]:
    """What a function writes of its parameters of these names, and outside of it; and what it reads outside.

    ``classes`` tells of what class an object at a path is, where that is known.
    """
    analysis = _Analysis(classes)
    analysis.follow(function, {name: frozenset({Path(name)}) for name in names})
    if not is_of_a_library(function.__code__.co_filename):
        return frozenset(analysis.found), frozenset(analysis.read)
    written = [write for write in analysis.found if not write.path.fields and isinstance(write.path.start, str)]
    return frozenset(written), frozenset()  # others are what the library remembers


class _Analysis:
    """What is found on the way through functions that call each other; all paths are those of the first."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.found: set[Write] = set()
        self.read: set[Path] = set()
        self.active: set[CodeType] = set()
        self.known: dict[tuple[FunctionType, tuple[tuple[str, frozenset[Path]], ...]], frozenset[Path]] = {}

    def follow(self, function: FunctionType, held: _Held) -> frozenset[Path]:
        """Follows the text of a function whose parameters hold what is at paths; gives what it may return."""
        code, key = function.__code__, (function, tuple(sorted(held.items(), key=operator.itemgetter(0))))
        if code in self.active:
            return _NOTHING
        if key not in self.known:
            self.active.add(code)
            try:
                self.known[key] = _Body(self, function, held).returned
            except DifferentiationError:  # there is no text
                self.known[key] = _NOTHING
            self.active.discard(code)
        return self.known[key]

    def class_at(self, path: Path) -> type | None:
        """The class of what is at a path."""
        if isinstance(path.start, str):
            return None if path.inside else self.classes(path)
        value = held_at(path)
        return None if value is MISSING else type(value)


class _Body(ast.NodeVisitor):
    """Follows the text of one function."""

    def __init__(self, analysis: _Analysis, function: FunctionType, held: _Held) -> None:
        self.analysis, self.function = analysis, function
        node = find(function).node
        own = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        own += [each.arg for each in (node.args.vararg, node.args.kwarg) if each is not None]
        self.first = own[0] if own else ""
        self.held = {name: held.get(name, _NOTHING) for name in own}
        self.assigned_outside: set[str] = set()
        self.returned: frozenset[Path] = _NOTHING
        if isinstance(node, ast.Lambda):
            self.gives(node.body)
        else:
            self.follow(node.body)

    def follow(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    # -- what variables hold ---------------------------------------------------------------------------------------

    def paths(self, node: ast.AST | None) -> frozenset[Path]:
        """What of the parameters the value of an expression may be."""
        match node:
            case ast.Name(id=name):
                return self.held[name] if name in self.held else self.outside(name)
            case ast.Attribute(value=base, attr="__class__"):
                return self.class_of(base)
            case ast.Attribute(value=base, attr=name):
                return frozenset(each.at(name) for each in self.paths(base))
            case ast.Subscript(value=base, slice=key):
                names, held = variables_of(self.paths(base), key)
                return names | inside(held)
            case ast.IfExp(body=one, orelse=other):
                return self.paths(one) | self.paths(other)
            case ast.BoolOp(values=values):
                return _NOTHING.union(*map(self.paths, values))
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self.paths(value)
            case ast.Starred(value=value):
                return inside(self.paths(value))
            case ast.Call() as call:
                return self.call(call)
            case _:
                return _NOTHING

    def bind(self, target: ast.AST, value: ast.AST | None, *, item: bool = False) -> None:
        """Assigns a value, or with ``item`` each of its items, to a target."""
        match target:
            case ast.Name(id=name):
                found = self.items(value) if item else self.paths(value)
                if name in self.assigned_outside:
                    self.analysis.found.update(Write(each, True) for each in self.outside(name))
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
        """What the items of a value may be."""
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            return _NOTHING.union(*[self.items(each) | self.paths(each) for each in value.elts])
        if isinstance(value, ast.Call) and makes_a_container(self.resolved(value.func)):
            return _NOTHING.union(*map(self.items, value.args))
        return inside(self.paths(value))

    def forget(self, *names: str | None) -> None:
        for name in names:
            self.held[name or ""] = _NOTHING

    def outside(self, name: str) -> frozenset[Path]:
        """The variable outside of the function that a name stands for, if it stands for one."""
        code = self.function.__code__
        if name in code.co_freevars:
            return frozenset({outside((self.function.__closure__ or ())[code.co_freevars.index(name)], CONTENTS)})
        if name in code.co_varnames or name in code.co_cellvars:
            return _NOTHING
        for table in (self.function.__globals__, vars(builtins)):
            if name in table:
                return frozenset({outside(table, name)})
        return _NOTHING

    def class_of(self, node: ast.AST) -> frozenset[Path]:
        """The classes of what an expression may be."""
        found = {self.analysis.class_at(each) for each in self.paths(node)}
        return frozenset(outside(cls) for cls in found if cls is not None)

    def resolved(self, node: ast.AST) -> Any:
        """What an expression gives that is outside of the function."""
        found = {id(value): value for value in map(held_at, self.paths(node))}
        return found.popitem()[1] if len(found) == 1 else MISSING

    # -- what is read, and written ------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name | ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self.analysis.read.update(each for each in self.paths(node) if not isinstance(each.start, str))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.visit_Name(node)
        if not is_a_chain(node.value):
            self.visit(node.value)

    def contents(self, paths: Iterable[Path]) -> None:
        self.analysis.found.update(map(Write, paths))

    def write(self, target: ast.AST, value: ast.AST | None = None) -> None:
        """Writes an attribute or an item."""
        match target:
            case ast.Attribute(value=base, attr=name):
                self.put(self.paths(base), name, value)
            case ast.Subscript(value=base, slice=key):
                names, held = variables_of(self.paths(base), key)
                self.analysis.found.update(Write(each, True) for each in names)
                self.contents(held)
                self.visit(key)
        if isinstance(target, (ast.Attribute, ast.Subscript)) and not is_a_chain(target.value):
            self.visit(target.value)

    def put(self, bases: Iterable[Path], name: str, value: ast.AST | None) -> None:
        counts = isinstance(value, ast.Constant) and isinstance(value.value, (int, str, type(None)))
        for base in bases:
            self.analysis.found.add(Write(base) if base.inside else Write(base.at(name), True, counts))

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
        self.analysis.read.update(each for each in self.paths(node.target) if not isinstance(each.start, str))
        if not isinstance(node.target, ast.Name):
            is_whole = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
            self.write(node.target, node.value if is_whole else None)
        elif node.target.id in self.assigned_outside:
            self.bind(node.target, None)

    def gives(self, value: ast.AST | None) -> None:
        if value is not None:
            self.visit(value)
            self.returned |= self.paths(value)

    def visit_Return(self, node: ast.Return | ast.Yield) -> None:
        self.gives(node.value)

    visit_Yield = visit_Return

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
        self.held = {name: _NOTHING.union(*[held.get(name, ()) for held in after]) for name in names}

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
        before: dict[str, frozenset[Path]] | None = None
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
        held = inside(self.paths(node.subject)) | self.paths(node.subject)

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

        def body() -> None:
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
            self.forget(*[each.arg for each in given if each is not None])
            self.follow(node.body if isinstance(node.body, list) else [node.body])

        held = self.held
        self.branches(body)
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
        self.call(node)

    def paths_written(self, node: ast.AST) -> frozenset[Path]:
        """What is written through ``out=``: an array, or each of a tuple."""
        return self.items(node) if isinstance(node, ast.Tuple) else self.paths(node)

    def call(self, node: ast.Call) -> frozenset[Path]:
        """Follows a call; gives what its value may be."""
        name = str(getattr(node.func, "attr", getattr(node.func, "id", "")))
        if name in _SETTERS:
            return self.set_by_name(node)
        given = [self.paths(each) for each in node.args]
        if not isinstance(node.func, ast.Attribute):
            return self.function_called(self.resolved(node.func), node, given)
        receivers, after = self.receivers(node.func.value)
        if not receivers and given and writes_its_first_argument(name):
            self.contents(given[0])
        return _NOTHING.union(*[self.method(each, name, after, node, given) for each in receivers])

    def set_by_name(self, node: ast.Call) -> frozenset[Path]:
        args = list(node.args)
        if isinstance(node.func, ast.Attribute) and self.receivers(node.func.value)[0]:
            args.insert(0, node.func.value)  # self.__setattr__(name, value)
        if len(args) > 1:
            attribute, value = args[1], args[2] if len(args) > 2 else None
            holders = self.receivers(args[0])[0]
            if isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
                self.put(holders, attribute.value, value)
            else:
                self.contents(holders)
        return _NOTHING

    def receivers(self, base: ast.AST) -> tuple[frozenset[Path], type | None]:
        """What has a method, and the class behind which ``super()`` looks for it."""
        match base:
            case ast.Call(func=ast.Name(id="super"), args=args):
                return self.paths(args[1]) if len(args) > 1 else self.held.get(self.first, _NOTHING), self.owner()
            case _:
                return self.paths(base), None

    def method(self, path: Path, name: str, after: type | None, node: ast.Call, given: _Given) -> frozenset[Path]:
        """Follows the call of a method of what is at a path."""
        value = held_at(path)
        if isinstance(value, ModuleType):
            return self.function_called(held_at(path.at(name)), node, given)
        own = vars(value).get(name) if hasattr(value, "__dict__") and not isinstance(value, type) else None
        if own is not None:
            return self.function_called(own, node, given)
        cls = value if isinstance(value, type) else self.analysis.class_at(path)
        found = method_of(cls, name, after)
        function = underlying(found)
        if function is None:
            return self.done(effects_of_method(cls, name), [frozenset({path}), *given]) | (
                self.done(FILLS_FIRST, given) if writes_its_first_argument(name) else _NOTHING
            )
        if is_a_librarys(function) and not isinstance(path.start, str):
            return _NOTHING
        if isinstance(found, classmethod):
            return self.called(function, node, [frozenset({outside(cls)}), *given])
        is_plain = isinstance(found, staticmethod) or (value is cls and after is None)
        return self.called(function, node, given if is_plain else [frozenset({path}), *given])

    def function_called(self, function: Any, node: ast.Call, given: _Given) -> frozenset[Path]:
        """Follows the call of a function that is outside."""
        if isinstance(function, functools._lru_cache_wrapper):
            function = function.__wrapped__
        if isinstance(function, functools.partial):
            given = [*[frozenset({outside(each)}) for each in function.args], *given]
            return self.function_called(function.func, node, given)
        if function is MISSING:
            return _NOTHING
        if function is globals:
            return frozenset({outside(self.function.__globals__)})
        if function is type and len(given) == 1:
            return self.class_of(node.args[0])
        if function is getattr and len(given) > 1 and isinstance(node.args[1], ast.Constant):
            return _NOTHING.union([each.at(str(node.args[1].value)) for each in given[0]], *given[2:])
        if isinstance(function, np.ufunc):
            self.contents(path for each in given[function.nin :] for path in each)
            return _NOTHING
        if isinstance(function, type):
            maker = underlying(method_of(function, "__init__", None))
            if maker is not None and not is_a_librarys(maker):
                self.called(maker, node, [_NOTHING, *given])
                return _NOTHING
        plain = underlying(function)
        if plain is not None and not is_a_librarys(plain):
            return self.called(plain, node, given)
        if plain is None and isinstance(method_of(type(function), "__call__", None), FunctionType):
            return self.method(outside(function), "__call__", None, node, given)
        return self.done(effects_of_function(function), given)

    def done(self, facts: Effects, given: _Given) -> frozenset[Path]:
        """Follows what a call does of which effects are told; gives what its value may be."""
        self.contents(path for each in facts.written(given) for path in each)
        if facts.hands_on:
            return inside(_NOTHING.union(*given))
        return inside(given[facts.view_of]) if facts.view_of is not None and facts.view_of < len(given) else _NOTHING

    def called(self, function: FunctionType, node: ast.Call, given: _Given) -> frozenset[Path]:
        """Follows a function that is handed what is given."""
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        held = dict(zip(names[: code.co_argcount], given, strict=False))
        if any(isinstance(each, ast.Starred) for each in node.args):
            held = dict.fromkeys(names[: code.co_argcount], _NOTHING.union(*given))
        if code.co_flags & inspect.CO_VARARGS:
            held[code.co_varnames[len(names)]] = inside(_NOTHING.union(*given[code.co_argcount :]))
        held.update({each.arg: self.paths(each.value) for each in node.keywords if each.arg in names})
        return self.analysis.follow(function, held)

    def owner(self) -> type | None:
        """The class that ``super()`` is about."""
        code = self.function.__code__
        if "__class__" not in code.co_freevars:
            return None
        found = held_at(outside((self.function.__closure__ or ())[code.co_freevars.index("__class__")], CONTENTS))
        return found if isinstance(found, type) else None
