"""Outlining: runs of statements of a function that is long become functions of their own.

Register allocation, and much else that LLVM does, takes time that grows faster than a function: one of 46,000
instructions takes 22 s, in pieces 6. What is cut out is the text between the ends of two statements of one block. It
is entered at its beginning and left at its end, or by an exception. So it is a function of the values that it reads
and others define; where those that it defines are read elsewhere, it leaves them in memory.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from adjoint.native.costs import FEWEST_OUTLINED, LONGEST_OUTLINED
from adjoint.records import dataclass

_NAME = re.compile(r"%\w+")
_DEFINED = re.compile(r"  (%\w+) = (.*)")
_GOAL = re.compile(r"label %(\w+)")
_FROM = re.compile(r", %(\w+) \]")
_ALONE = frozenset(("%call", "%out"))
"""Parameters of all functions; nothing else leads to the memory that they lead to."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a statement of a block begins, or its last one ends: the line, the label, and the block's number."""

    line: int
    label: str
    block: int


@dataclass(frozen=True, slots=True)
class _Region:
    """Lines from one cut of a block up to another one."""

    first: Cut
    behind: Cut

    @property
    def lines(self) -> range:
        return range(self.first.line, self.behind.line)


@dataclass(frozen=True, slots=True)
class Long:
    """The text of a long function: its first line, its allocas, the lines behind them, and where statements begin."""

    head: str
    allocas: Sequence[str]
    lines: Sequence[str]
    cuts: Sequence[Cut]


def outlined(name: str, long: Long, types: Mapping[str, str]) -> str:
    """The text of a function, and of those that are cut out of it, whose names begin with its own.

    Parameters
    ----------
    name, long
        The function.
    types
        The types of its values, by their names.
    """
    text = _Text(name, long, types)
    for block in _blocks(long.cuts):
        for region in text.regions(block):
            text.cut_out(region)
    rest = [line for each in text.lines for line in each]
    return "\n".join([*text.functions, long.head, "entry:", *text.allocas(), *rest, "}"])


def _blocks(cuts: Sequence[Cut]) -> Iterator[list[Cut]]:
    """The cuts of each block, those of inner ones first."""
    found: dict[int, list[Cut]] = defaultdict(list)
    for cut in cuts:
        found[cut.block].append(cut)
    for number in sorted(found, reverse=True):
        yield found[number]


class _Text:
    """The text of a function, in which lines are replaced by calls of others."""

    def __init__(self, name: str, long: Long, types: Mapping[str, str]) -> None:
        self.name = name
        self.functions: list[str] = []
        self.lines = [[line] for line in long.lines]
        self._allocated = {_defined(line): line for line in long.allocas}
        self.types = dict(types)
        self.defined: dict[str, int] = {}
        self.uses: dict[str, set[int]] = defaultdict(set)
        self.named: list[set[str]] = []
        """The names that each line reads or defines."""
        self.labels: dict[str, int] = {}
        self.jumps: dict[str, set[int]] = defaultdict(set)
        self.meetings: dict[str, set[int]] = defaultdict(set)
        """The lines of phi functions that name a label."""
        for place, line in enumerate(long.lines):
            self._read(place, line)
        self.origins = _Origins(long.lines)

    def _read(self, place: int, line: str) -> None:
        if line and line[0] != " ":
            self.labels[line[:-1]] = place
            self.named.append(set())
            return
        found = _DEFINED.match(line)
        names = {each for each in _NAME.findall(line) if each in self.types}  # else it is a label
        if found is not None:
            self.defined[found[1]] = place
            if found[2].startswith("phi "):
                for label in _FROM.findall(line):
                    self.meetings[label].add(place)
        elif line.startswith("  br "):
            for label in _GOAL.findall(line):
                self.jumps[label].add(place)
        for each in names:
            if found is None or each != found[1]:
                self.uses[each].add(place)
        self.named.append(names)

    def allocas(self) -> list[str]:
        return list(self._allocated.values())

    # What is cut out

    def regions(self, block: list[Cut]) -> Iterator[_Region]:
        """Runs of a block's statements, if it is long: each about as long as pieces should be."""
        if block[-1].line - block[0].line <= LONGEST_OUTLINED:
            return
        sizes = [sum(map(len, self.lines[one.line : other.line])) for one, other in itertools.pairwise(block)]
        begun, length = 0, 0
        for place, size in enumerate(sizes):
            if length and length + size > LONGEST_OUTLINED:
                yield from self._worthwhile(block[begun], block[place], length)
                begun, length = place, 0
            length += size
        yield from self._worthwhile(block[begun], block[len(sizes)], length)

    def _worthwhile(self, first: Cut, behind: Cut, length: int) -> Iterator[_Region]:
        region = _Region(first, behind)
        if length >= FEWEST_OUTLINED and first.label != behind.label and self._is_closed(region):
            yield region

    def _is_closed(self, region: _Region) -> bool:
        """Whether control enters lines at the first, and leaves them behind the last, or by an exception."""
        inside = region.lines
        for place in inside:
            for line in self.lines[place]:
                if line.startswith("  ret i32 0") or any(self._leads_out(goal, inside) for goal in _GOAL.findall(line)):
                    return False
        labels = [label for place in inside for line in self.lines[place] if (label := _label(line))]
        return all(
            _all_in(self.jumps[label], inside)
            and (label == region.behind.label or _all_in(self.meetings[label], inside))
            for label in labels
        )

    def _leads_out(self, goal: str, inside: range) -> bool:
        return self.labels.get(goal, -1) not in inside

    def cut_out(self, region: _Region) -> None:
        """Replaces lines by a call of a function that is made of them."""
        inside = region.lines
        named = dict.fromkeys(name for place in inside for name in sorted(self.named[place]))
        given = [name for name in named if self.defined.get(name, -1) not in inside]
        mine = [name for name in given if name in self._allocated and _all_in(self.uses[name], inside)]
        given = [name for name in given if name not in mine]
        results = [
            name for name in named if self.defined.get(name, -1) in inside and not _all_in(self.uses[name], inside)
        ]
        called = self._function(region, given, mine, results)
        self._replace(region, called, given, results)

    def _function(self, region: _Region, given: list[str], mine: list[str], results: list[str]) -> list[str]:
        """Writes the function; the lines that call it."""
        number = len(self.functions) + 1
        symbol, status = f"{self.name}_{number}", f"%v0_{number}"
        layout = f"{{ {', '.join(self.types[name] for name in results)} }}"
        memory, failed = f"{status}m", f"piece{number}"
        alone = self.origins.alone(given) | _ALONE
        params = [f"{self.types[name]}{' noalias' if name in alone else ''} {name}" for name in given]
        args = [f"{self.types[name]} {name}" for name in given]
        if results:
            self._allocated[memory] = f"  {memory} = alloca {layout}, align 16"
            self.types[memory] = "ptr"
            params.append(f"ptr noalias {memory}")
            args.append(f"ptr {memory}")
        put, taken = [], []
        for place, name in enumerate(results):
            found = f"{status}p{place}"
            address = f"  {found} = getelementptr inbounds {layout}, ptr {memory}, i32 0, i32 {place}"
            put += [address, f"  store {self.types[name]} {name}, ptr {found}"]
            taken += [address, f"  {name} = load {self.types[name]}, ptr {found}"]
        moved = [self._allocated.pop(name) for name in mine]
        body = [line for place in region.lines for line in self.lines[place]]
        head = f"define internal i32 @{symbol}({', '.join(params)}) noinline {{"
        self.functions.append("\n".join([head, f"{region.first.label}:", *moved, *body, *put, "  ret i32 0", "}"]))
        return [
            f"  {status} = call i32 @{symbol}({', '.join(args)})",
            f"  {status}f = icmp ne i32 {status}, 0",
            f"  br i1 {status}f, label %{failed}, label %{region.behind.label}, !prof !0",
            f"{failed}:",
            f"  ret i32 {status}",
            f"{region.behind.label}:",
            *taken,
        ]

    def _replace(self, region: _Region, called: list[str], given: list[str], results: list[str]) -> None:
        inside, first = region.lines, region.first.line
        for place in inside:
            for name in self.named[place]:
                self.uses[name].discard(place)
            for line in self.lines[place]:
                for goal in _GOAL.findall(line):
                    self.jumps[goal].discard(place)
            self.lines[place], self.named[place] = [], set()
        memory = [name for name in _NAME.findall(called[0]) if name in self._allocated]
        for name in (*given, *memory):
            self.uses[name].add(first)
        for name in results:
            self.defined[name] = first
        self.lines[first], self.named[first] = called, {*given, *results, *memory}
        goals = {label for line in called if (label := _label(line))}
        for label in goals:
            self.labels[label] = first
            self.jumps[label] = {first}


class _Origins:
    """The memory that pointers lead to: which of a function's new blocks no other pointer leads to."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._roots: dict[str, str] = {}
        seen: set[str] = set()
        for line in lines:
            found = _DEFINED.match(line)
            if found is None:
                self._note(line, seen)
            elif found[2].startswith("call noalias ptr @new_block"):
                self._roots[found[1]] = found[1]
            elif found[2].startswith("getelementptr "):
                self._derive(found[1], _NAME.findall(found[2]))
            elif not found[2].startswith(("load ", "icmp ")):
                self._lose(_NAME.findall(found[2]), seen)
        self._shared = seen

    def _derive(self, name: str, names: list[str]) -> None:
        root = self._roots.get(names[0]) if names else None
        if root is not None:
            self._roots[name] = root

    def _lose(self, names: Iterable[str], seen: set[str]) -> None:
        seen.update(self._roots[name] for name in names if name in self._roots)

    def _note(self, line: str, seen: set[str]) -> None:
        if line.startswith("  store "):
            self._lose(_NAME.findall(line)[:-1], seen)
        elif line.startswith("  call ") and not any(callee in line for callee in _READERS):
            self._lose(_NAME.findall(line), seen)

    def alone(self, given: Sequence[str]) -> set[str]:
        """The pointers among some that no other one of them, and nothing in memory, leads to the block of."""
        by_root: dict[str, list[str]] = defaultdict(list)
        for name in given:
            if name in self._roots:
                by_root[self._roots[name]].append(name)
        return {names[0] for root, names in by_root.items() if len(names) == 1 and root not in self._shared}


_READERS = ("@retain(", "@release(", "@llvm.mem", "@blas_", "@prefetch")
"""Functions that keep no pointer."""


def _all_in(places: Iterable[int], inside: range) -> bool:
    return all(place in inside for place in places)


def _defined(line: str) -> str:
    found = _DEFINED.match(line)
    assert found is not None
    return found[1]


def _label(line: str) -> str | None:
    return line[:-1] if line and line[0] != " " else None
