"""The Python back end: IR to readable text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adjoint import ir
from adjoint.codegen.global_names import GlobalNames
from adjoint.codegen.lowering import Lowering
from adjoint.codegen.naming import Webs, choose_names, parameter_names
from adjoint.codegen.placement.control_layout import arrange_function
from adjoint.codegen.placement.liveness import interference_of
from adjoint.codegen.placement.loop_exits import return_from_loops
from adjoint.codegen.placement.unpacking import with_packs_unpacked
from adjoint.codegen.statements import StatementPrinter
from adjoint.codegen.texts import Emitted, Lines, Parts
from adjoint.codegen.tree import Stmt, bits, mentioned, number_in, walk
from adjoint.codegen.unparse import Writer
from adjoint.ir.walk import statements_in


def emit(function: ir.Function, *, name: str | None = None, counted: bool = False, augments: bool = True) -> Emitted:
    """Writes a function as Python text.

    Parameters
    ----------
    function
        The function. Definitions that its calls reach are written too.
    name
        Its name in the text; its own where this is not given.
    counted
        Loops over sequences count through places rather than draw items: for compilers that know only that.
    augments
        Numbers are rebound by ``x += y``: not where what is a number of NumPy may be an array of another library.
    """
    if not counted and _calls_definitions(function):
        from adjoint.codegen.alike_definitions import with_alike_united  # lazy

        function = with_alike_united(function)
    names = GlobalNames()
    main = names.define(function, name)
    drafts: list[_Draft] = []
    while len(drafts) < len(names.definitions):
        drafts.append(_Draft(names.definitions[len(drafts)], names, counted))
    taken = {param for draft in drafts for param in draft.params}
    settled, namespace = names.settle(taken)
    avoid = {settled[token] for token in names.used()}
    texts: list[str] = []
    lines: Lines = {}
    parts: Parts = {}
    others: set[str] = set()
    containers: set[str] = set()
    first = 0
    for draft in drafts:
        text, spans, within = draft.finish(settled, avoid, augments)
        texts.append(text)
        for var, name in zip(draft.variables, draft.names, strict=True):
            (containers if isinstance(var.type, _CONTAINERS) else others).add(name)
        lines.update((first + line, span) for line, span in spans.items())
        parts.update((first + line, found) for line, found in within.items())
        first += text.count("\n") + 2
    return Emitted("\n\n".join(texts), namespace, settled[main], lines, frozenset(containers - others), parts)


def _calls_definitions(function: ir.Function) -> bool:
    return any(
        type(statement) is ir.Call and type(statement.callee) is ir.Definition
        for statement in statements_in(function.body)
    )


_CONTAINERS = (ir.List, ir.Dict, ir.Instance, ir.Tuple)


class _Draft:
    """A function whose expressions are built and whose names are still open."""

    def __init__(self, source: ir.Definition | ir.Function, names: GlobalNames, counted: bool) -> None:
        function = source.function if isinstance(source, ir.Definition) else source
        if function is None:
            raise ValueError(f"the definition of {source.name} is not complete")
        self.token = names.define(source)
        if not counted:
            function = with_packs_unpacked(function)
        lowering = Lowering(return_from_loops(function), names, counted)
        self.doc = function.doc
        self.statements: list[Stmt] = lowering.run()
        self.places = lowering.places
        self.variables: Sequence[ir.Var] = tuple(lowering.uses.numbers)
        self.params = parameter_names(function.params)
        self.names: Sequence[str] = ()

    def finish(self, settled: dict[str, str], avoid: set[str], augments: bool) -> tuple[str, Lines, Parts]:
        """The text of the function with all names in place, and where its lines and parts of them come from."""
        numbers = range(len(self.params))
        webs = Webs(self.variables, numbers, interference_of(self.statements, numbers))
        everything = walk(self.statements)
        webs.join_moves(everything)
        read, bound = mentioned(everything)
        names = self.names = choose_names(webs, bits(numbers) | read | bound, dict(enumerate(self.params)), avoid)
        printer = StatementPrinter(self.variables, names, everything, augments)
        body = arrange_function(printer.block(self.statements))
        if self.doc:
            body = [part for part in body if not isinstance(part, ast.Pass)]
        writer = Writer(_Written(settled, names).__getitem__, self.places)
        text = writer.function(settled[self.token], self.params, self.doc, body)
        spans = {line: printer.spans[part] for part, line in writer.lines.items() if part in printer.spans}
        parts = {
            line: found
            for line, all_parts in writer.parts.items()
            if (found := [part for part in all_parts if part[1] != spans.get(line)])
        }
        return text, spans, parts


class _Written(dict[str, str]):
    """What is written for each token; other names stand for themselves."""

    def __init__(self, settled: dict[str, str], names: Sequence[str]) -> None:
        super().__init__(settled)
        self.names = names

    def __missing__(self, name: str) -> str:
        if "$" in name:
            raise KeyError(name)
        found = self[name] = self.names[number_in(name)] if "%" in name else name
        return found
