"""A whole random program: dataclasses, helper functions, the function ``f``, and arguments for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import fuzz.expressions
import fuzz.expressions_of_arrays
import fuzz.expressions_of_structures
import fuzz.generators
import fuzz.idioms
import fuzz.iterators
import fuzz.statements  # noqa: F401 - registers the productions, whose order seeds depend on
from fuzz.writer import FLOAT, FLOATS, SIZES, Callee, Record, Scope, Type, Writer, array, matrix

HEAD = "import itertools\nimport math\nfrom dataclasses import dataclass, replace\n\nimport numpy as np\n"


@dataclass(frozen=True)
class Program:
    """The text of a module with ``f``, ``arguments()`` and, where ``f`` gives a float, ``contracted``."""

    seed: int
    text: str
    features: Counter[str]


def generate(seed: int) -> Program:
    """The program of a seed."""
    w = Writer(seed)
    for _ in range(w.pick((0, 0, 1, 1, 2))):
        _record(w)
    for _ in range(w.pick((0, 1, 1, 2, 3))):
        _helper(w)
    params = _function(w)
    _arguments(w, params)
    return Program(seed, HEAD + "\n\n" + "\n".join(w.lines) + "\n", w.features)


def _record(w: Writer) -> None:
    name = w.fresh("P")
    kinds: list[Type] = [FLOAT, FLOAT, FLOAT, array(w.pick(SIZES))]
    kinds += [("object", record.name) for record in w.records]
    fields = tuple((f"f{i}", FLOAT if i == 0 else w.pick(kinds)) for i in range(w.random.randint(2, 3)))
    frozen = w.chance(0.3)
    w.line("@dataclass(frozen=True)" if frozen else "@dataclass")
    w.line(f"class {name}:")
    for field, type_ in fields:
        w.line(f"    {field}: {_annotation(type_)}")
    record = Record(name, fields, frozen)
    w.records.append(record)
    if w.chance(0.5):
        method = Callee(w.fresh("m"), (FLOAT,), FLOAT)
        parameter = w.fresh("x")
        w.line("")
        w.line(f"    def {method.name}(self, {parameter}):")
        w.indent = 2
        w.budget = 2
        w.scope = Scope(names={"self": ("object", name), parameter: FLOAT}, fixed=frozenset({"self"}))
        w.body(2)
        w.line(f"return {w.float()}")
        w.indent = 0
        w.records[-1] = replace(record, methods=(method,))
    w.scope = Scope()
    w.line("")
    w.line("")


def _annotation(type_: Type) -> str:
    return {"float": "float", "array": "np.ndarray"}.get(type_[0]) or str(type_[1])


def _param_types(w: Writer) -> list[Type]:
    return [FLOAT] * 3 + [array(w.pick(SIZES))] * 2 + [("object", record.name) for record in w.records]


def _helper(w: Writer) -> None:
    name = w.fresh("h")
    params = {w.fresh("x"): w.pick(_param_types(w)) for _ in range(w.random.randint(1, 3))}
    result = w.pick((FLOAT, FLOAT, FLOAT, array(w.pick(SIZES)), ("tuple", FLOAT, FLOAT)))
    callees = w.scope.callees
    recursive = w.chance(0.15)
    w.scope = Scope(dict(params), callees=callees, result=result, depth=1, loops=1)
    w.budget = w.random.randint(2, 7)
    names = [*params, "depth"] if recursive else params
    w.line(f"def {name}({', '.join(names)}):")
    w.indent = 1
    if recursive:
        w.features["recursion"] += 1
        w.line("if depth <= 0:")
        w.line(f"    return {w.expression(result, 2)}")
        w.scope.callees += (Callee(name, (*params.values(), ("down",)), result),)
    while w.budget > 0:
        w.statement()
    w.line(f"return {w.expression(result, 2)}")
    w.indent = 0
    given = (*params.values(), ("small",)) if recursive else tuple(params.values())
    w.scope = Scope(callees=(*callees, Callee(name, given, result)))
    w.line("")
    w.line("")


def _function(w: Writer) -> dict[str, Type]:
    structures: list[Type] = [FLOATS, ("tuple", FLOAT, FLOAT), ("dict", "a", "b"), matrix(2, 3)]
    structures += [("object", record.name) for record in w.records] * 2
    options = [FLOAT] * 5 + [array(w.pick(SIZES))] * 5
    params: dict[str, Type] = {"x": FLOAT}
    for name in ("y", "z", "u")[: w.random.randint(1, 3)]:
        params[name] = w.pick(structures) if w.chance(0.15) else w.pick(options)
    if w.chance(0.15):
        params["n"] = ("int", 5)
    size = w.pick(SIZES)
    results: list[Type] = [FLOAT] * 7 + [array(size)] * 2 + [("tuple", FLOAT, array(size)), FLOATS, ("dict", "a", "b")]
    results += [("object", record.name) for record in w.records]
    result = w.pick(results)
    w.scope = Scope(dict(params), callees=w.scope.callees, result=result, may_grow=True)
    w.budget = w.random.randint(3, 22)
    w.line(f"def f({', '.join(params)}):")
    w.indent = 1
    while w.budget > 0:
        w.statement()
    w.line(f"return {_final(w, result)}")
    w.indent = 0
    if result == FLOAT:
        _contracted(w, params)
    return params


def _final(w: Writer, result: Type) -> str:
    """A result that depends on much of what was computed."""
    text = w.expression(result, 2)
    if result != FLOAT:
        return text
    floats = w.names("float")
    arrays = w.names("array")
    terms = [f"{w.random.uniform(0.3, 1.2):.2f} * {name}" for name in floats[-4:]]
    terms += [f"np.sum({name})" for name in arrays[-3:]]
    return " + ".join([*terms, text])


def _contracted(w: Writer, params: dict[str, Type]) -> None:
    """A function of the gradient of ``f``, whose gradient is of second order."""
    places = [i for i, type_ in enumerate(params.values()) if type_[0] in ("float", "array")]
    names = list(params)
    terms = []
    for position, place in enumerate(places):
        type_ = params[names[place]]
        weight = f"{w.random.uniform(-1, 1):.2f}"
        terms.append(f"{weight} * g[{position}]" if type_ == FLOAT else f"{weight} * np.sum(np.sin(g[{position}]))")
    w.line("")
    w.line("")
    w.line(f"def contracted({', '.join(names)}):")
    w.line("    import adjoint as ad")
    w.line("")
    w.line(f"    g = ad.grad(f, wrt={tuple(places)})({', '.join(names)})")
    w.line(f"    return {' + '.join(terms)}")


def _arguments(w: Writer, params: dict[str, Type]) -> None:
    values = [_sample(w, type_) for type_ in params.values()]
    w.line("")
    w.line("")
    w.line("def arguments():")
    w.line(f"    return ({', '.join(values)},)")


def _sample(w: Writer, type_: Type) -> str:
    """An expression for a random value of a type."""
    match type_:
        case ("float",):
            return f"{w.random.uniform(-1.2, 1.2):.3f}"
        case ("int", most):
            return str(w.random.randrange(most))
        case ("array", size):
            return f"np.array([{', '.join(_sample(w, FLOAT) for _ in range(size))}])"
        case ("matrix", rows, columns):
            return f"np.array([{_sample(w, array(rows * columns))}]).reshape({rows}, {columns})"
        case ("list", item):
            return f"[{', '.join(_sample(w, item) for _ in range(w.random.randint(1, 3)))}]"
        case ("tuple", *items):
            return f"({', '.join(_sample(w, item) for item in items)},)"
        case ("dict", *keys):
            return "{" + ", ".join(f"{key!r}: {_sample(w, FLOAT)}" for key in keys) + "}"
        case ("object", name):
            return f"{name}({', '.join(_sample(w, part) for _, part in w.record(name).fields)})"
    raise AssertionError(type_)
