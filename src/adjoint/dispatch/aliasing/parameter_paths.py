"""From which parameters the memory in a function comes, and by which steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.dispatch.aliasing.parts import ANY, Way
from adjoint.ir.join import is_array
from adjoint.ir.walk import leaves

Origin = tuple[ir.Var | None, Way]
"""A parameter and the steps from it; no parameter where nobody can tell."""
_UNKNOWN: frozenset[Origin] = frozenset({(None, (ANY,))})
_OWN: frozenset[Origin] = frozenset()


class Origins:
    """The origins of the variables of a function that may be handles of memory.

    A variable that a loop carries has those of what it begins with and of what each turn leaves; where these do not
    come to an end, as on the way along a linked list, nobody can tell.
    """

    def __init__(self, function: ir.Function) -> None:
        self._params = function.params
        self._found: dict[ir.Var, frozenset[Origin]] = {param: frozenset({(param, ())}) for param in function.params}
        self._block(function.body)

    def of(self, atom: ir.Atom) -> frozenset[Origin]:
        """The origins of a value; none, if it is made by the function or holds no memory."""
        return self._found.get(atom, _OWN) if isinstance(atom, ir.Var) else _OWN

    def from_params(self, atoms: Iterable[ir.Atom]) -> frozenset[tuple[int, Way]]:
        """The places of the parameters from which some values come, and the ways to these, as far as they are known."""
        found = {origin for atom in atoms for origin in self.of(atom)}
        return frozenset(
            (place, way) for place, param in enumerate(self._params) for root, way in found if root is param
        )

    def _set(self, var: ir.Var, values: Iterable[ir.Atom]) -> None:
        if not isinstance(var.type, ir.Scalar):
            self._found[var] = _OWN.union(*map(self.of, values))

    def _block(self, block: ir.Block) -> None:
        for statement in block.statements:
            self._statement(statement)
        if isinstance(block.terminator, ir.Branch):
            self._block(block.terminator.then)
            self._block(block.terminator.orelse)

    def _statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Load(target=target, base=base, key=key):
                if not isinstance(target.type, ir.Scalar):
                    self._found[target] = self._after(base, None if is_array(base) else step_of(key))
            case ir.Call(targets=targets):
                made = self._of_call(statement)
                self._found.update((target, made) for target in targets if not isinstance(target.type, ir.Scalar))
            case ir.If(then=then, orelse=orelse, targets=targets):
                self._block(then)
                self._block(orelse)
                self._join(targets, [*_values(then, ir.Yield), *_values(orelse, ir.Yield)])
            case ir.Loop():
                self._loop(statement)
            case ir.Guarded(name=name, body=body, handlers=handlers, final=final, targets=targets):
                names = (name, *(handler.name for handler in handlers))
                self._found.update((each, _UNKNOWN) for each in names if each is not None)
                blocks = [body, *(handler.body for handler in handlers)]
                for block in blocks if final is None else [*blocks, final]:
                    self._block(block)
                self._join(targets, [values for block in blocks for values in _values(block, ir.Yield)])

    def _loop(self, loop: ir.Loop) -> None:
        if loop.index is not None and isinstance(loop.over, ir.Items):
            self._found[loop.index] = self._after(loop.over.iterable, ANY)
        for param, init in zip(loop.params, loop.inits, strict=True):
            self._set(param, (init,))
        self._block(loop.body)
        continues = list(_values(loop.body, ir.Continue))
        carried = [(param, [values[place] for values in continues]) for place, param in enumerate(loop.params)]
        endless = [param for param, values in carried if not all(self.of(one) <= self.of(param) for one in values)]
        if endless:
            self._found.update((param, _UNKNOWN) for param in endless if not isinstance(param.type, ir.Scalar))
            self._block(loop.body)
        exits = [loop.inits, *continues, *_values(loop.body, ir.Exit)]
        self._join(loop.targets, exits)

    def _join(self, targets: tuple[ir.Var, ...], leaving: Iterable[tuple[ir.Atom, ...]]) -> None:
        found = list(leaving)
        for place, target in enumerate(targets):
            self._set(target, [values[place] for values in found if place < len(values)])

    def _of_call(self, call: ir.Call) -> frozenset[Origin]:
        found = effects_of(call)
        if found.known and found.view_of is not None:
            return self.of(call.args[found.view_of])
        return _OWN if found.known and (found.fresh or not found.hands_on) else _UNKNOWN

    def _after(self, base: ir.Atom, step: Any) -> frozenset[Origin]:
        if step is None:
            return self.of(base)
        return frozenset((root, (*way, step) if root is not None else way) for root, way in self.of(base))


def step_of(key: ir.Key) -> Any:
    """A step from a container or an object to what lies in it."""
    match key:
        case ir.Attribute(name=name):
            return name
        case ir.Subscript(items=(ir.Const(value=value),)):
            return value
        case _:
            return ANY


def _values(block: ir.Block, kind: type[ir.Yield | ir.Continue | ir.Exit]) -> Iterable[tuple[ir.Atom, ...]]:
    """What is handed out at the ends of a block."""
    return (leaf.values for leaf in leaves(block) if isinstance(leaf, kind))
