"""Numbers and conditions of random programs; values stay bounded, and every function is used inside its domain."""

from __future__ import annotations

from fuzz.writer import COUNTER, FLOAT, FLOATS, SIZES, Type, Writer, array, production

BOUNDED = ("math.tanh", "math.sin", "math.cos", "np.tanh", "np.sin", "np.cos", "math.atan")

# --- floats ---


@production("float", 9)
def name(w: Writer, _: Type, depth: int) -> str | None:
    known = w.names("float")
    return w.pick(known[-8:]) if known else None


@production("float", 1.5)
def constant(w: Writer, _: Type, depth: int) -> str:
    return f"{w.random.uniform(-1.5, 1.5):.2f}"


@production("float", 0.3)
def whole_constant(w: Writer, _: Type, depth: int) -> str:
    return w.pick(("0", "1", "2", "0.0", "1.0"))


@production("float", 5)
def arithmetic(w: Writer, _: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    return f"({w.float(depth - 1)} {w.pick('+-*')} {w.float(depth - 1)})"


@production("float", 1.5)
def safe_quotient(w: Writer, _: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    divisor = w.pick(w.names("float") or ["0.5"])
    return f"({w.float(depth - 1)} / (1.0 + {divisor} * {divisor}))"


@production("float", 0.7)
def negation(w: Writer, _: Type, depth: int) -> str | None:
    return f"(-{w.float(depth - 1)})" if depth > 0 else None


@production("float", 3)
def bounded_function(w: Writer, _: Type, depth: int) -> str | None:
    return f"{w.pick(BOUNDED)}({w.float(depth - 1)})" if depth > 0 else None


@production("float", 1.2)
def other_function(w: Writer, _: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    form = w.pick(
        (
            "math.exp(math.tanh({0}))",
            "math.sqrt(1.0 + {0} ** 2)",
            "math.log(2.0 + math.sin({0}))",
            "np.log1p({0} * {0})",
            "np.exp(-np.square({0}))",
            "math.hypot(1.0, {0})",
            "abs({0})",
            "({0}) ** 2",
            "(1.5 + math.tanh({0})) ** {1}",
            "max({0}, {1})",
            "min({0}, {1}, 0.4)",
            "pow({0}, 3)",
            "float(np.tanh({0}))",
            "math.copysign({0}, {1})",
            "math.fmod({0}, 2.0)",
            "({0} % 1.5)",
        )
    )
    atom = w.pick(w.names("float") or ["0.7"])
    return str(form.format(atom if form.count("{0}") > 1 else w.float(depth - 1), w.float(0)))


@production("float", 1.5)
def ternary(w: Writer, _: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    return f"({w.float(depth - 1)} if {condition(w, depth - 1)} else {w.float(depth - 1)})"


@production("float", 0.3)
def or_value(w: Writer, _: Type, depth: int) -> str | None:
    return f"({w.float(depth - 1)} {w.pick(('or', 'and'))} {w.float(depth - 1)})" if depth > 0 else None


@production("float", 0.3)
def walrus(w: Writer, _: Type, depth: int) -> str | None:
    if depth <= 1:
        return None
    target = w.fresh("w")
    return f"(({target} := {w.float(depth - 1)}) * {target})" if not in_comprehension(w) else None


def in_comprehension(w: Writer) -> bool:
    """Where a walrus would bind in another scope than it stands."""
    return any(known.startswith(("c", "p")) for known in w.scope.names)


@production("float", 3)
def array_element(w: Writer, _: Type, depth: int) -> str | None:
    known = w.names("array")
    if not known:
        return None
    chosen = w.pick(known)
    return f"{chosen}[{index(w, w.type_of(chosen)[1])}]"


@production("float", 1.5)
def matrix_element(w: Writer, _: Type, depth: int) -> str | None:
    known = w.names("matrix")
    if not known:
        return None
    chosen = w.pick(known)
    _, rows, columns = w.type_of(chosen)
    return f"{chosen}{w.pick(('[{}, {}]', '[{}][{}]')).format(index(w, rows), index(w, columns))}"


@production("float", 2)
def reduction(w: Writer, _: Type, depth: int) -> str | None:
    if depth <= 0 or not (w.names("array") or w.chance(0.2)):
        return None
    size = w.type_of(w.pick(w.names("array")))[1] if w.names("array") else w.pick(SIZES)
    form = w.pick(
        ("np.sum({0})", "np.mean({0})", "np.dot({0}, {1})", "{0} @ {1}", "np.max({0})", "sum({0})", "np.prod({0})")
    )
    first = w.expression(array(size), depth - 1)
    return "(" + form.format(first, w.expression(array(size), depth - 1)) + ")"


@production("float", 0.7)
def matrix_reduction(w: Writer, _: Type, depth: int) -> str | None:
    known = w.names("matrix")
    if depth <= 0 or not known:
        return None
    form = w.pick(("np.sum({0})", "{0}.mean()", "np.trace({0} @ {0}.T)", "np.sum({0} * {0}.T)"))
    chosen = w.pick(known)
    square = w.type_of(chosen)[1] == w.type_of(chosen)[2]
    return str(form.format(chosen)) if square or "* {0}.T" not in form else None


@production("float", 2.5)
def list_element(w: Writer, _: Type, depth: int) -> str | None:
    known = w.of_type(FLOATS)
    if not known:
        return None
    chosen = w.pick(known)
    return f"{chosen}[{w.pick(('0', '-1', f'{whole(w)} % len({chosen})'))}]"


@production("float", 1.5)
def generator_reduction(w: Writer, _: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    function = w.pick(("sum", "sum", "max", "min"))
    names, clause = comprehension_clause(w)
    with w.binding(names):
        body = w.float(depth - 1)
    condition_text = ""
    if function == "sum" and w.chance(0.25):
        with w.binding(names):
            condition_text = f" if {condition(w, 1)}"
    brackets = "[]" if w.chance(0.2) else ("", "")
    return f"{function}({brackets[0]}{body} {clause}{condition_text}{brackets[1]})"


@production("float", 1.5)
def tuple_item(w: Writer, _: Type, depth: int) -> str | None:
    known = w.names("tuple")
    if not known:
        return None
    chosen = w.pick(known)
    places = [i for i, item in enumerate(w.type_of(chosen)[1:]) if item == FLOAT]
    return f"{chosen}[{w.pick(places)}]" if places else None


@production("float", 1.2)
def dict_item(w: Writer, _: Type, depth: int) -> str | None:
    known = w.names("dict")
    if not known:
        return None
    chosen = w.pick(known)
    key = w.pick(w.type_of(chosen)[1:])
    if w.chance(0.2):
        return f"{chosen}.get({key!r}, 0.5)"
    return f"{chosen}[{key!r}]" if w.chance(0.8) else f"sum({chosen}.values())"


@production("float", 2.5)
def attribute(w: Writer, _: Type, depth: int) -> str | None:
    paths = [path for name in w.names("object") for path in float_paths(w, name, w.type_of(name))]
    return w.pick(paths) if paths else None


def float_paths(w: Writer, path: str, type_: Type) -> list[str]:
    """The floats inside an object, as one reads them."""
    if type_ == FLOAT:
        return [path]
    if type_[0] != "object":
        return []
    return [found for name, part in w.record(type_[1]).fields for found in float_paths(w, f"{path}.{name}", part)]


@production("float", 0.8)
def method_call(w: Writer, _: Type, depth: int) -> str | None:
    known = [(name, m) for name in w.names("object") for m in w.record(w.type_of(name)[1]).methods]
    if not known or depth <= 0:
        return None
    chosen, method = w.pick(known)
    return f"{chosen}.{method.name}({arguments(w, method.params, depth - 1)})"


@production("float", 2)
def call(w: Writer, type_: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    known = [callee for callee in w.scope.callees if callee.result == type_]
    if not known:
        return None
    chosen = w.pick(known)
    return f"{chosen.name}({arguments(w, chosen.params, depth - 1)})"


@production("float", 0.5)
def immediate_lambda(w: Writer, _: Type, depth: int) -> str | None:
    if depth <= 1:
        return None
    parameter = w.fresh("p")
    with w.binding({parameter: FLOAT}):
        body = w.float(depth - 1)
    return f"(lambda {parameter}: {body})({w.float(depth - 1)})"


@production("float", 1)
def float_of_int(w: Writer, _: Type, depth: int) -> str | None:
    known = w.names("int")
    if not known or depth <= 0:
        return None
    return f"({w.pick(known)} * {w.float(depth - 1)})" if w.chance(0.7) else f"math.sin({w.pick(known)})"


def arguments(w: Writer, params: tuple[Type, ...], depth: int) -> str:
    return ", ".join(w.expression(param, depth) for param in params)


@production("small")
def recursion_depth(w: Writer, _: Type, depth: int) -> str:
    return w.pick(("2", "3"))  # type: ignore[no-any-return]


@production("down")
def recursion_step(w: Writer, _: Type, depth: int) -> str:
    return "depth - 1"


# --- whole numbers and conditions ---


@production("int")
def int_expression(w: Writer, type_: Type, depth: int) -> str:
    text = whole(w)
    return f"({text} % {type_[1]})" if type_[1] is not None else text


def whole(w: Writer) -> str:
    """A whole number that is not negative."""
    known = w.names("int")
    if known and w.chance(0.75):
        return w.pick((known[-1], w.pick(known), f"({w.pick(known)} + {w.random.randint(1, 3)})"))
    floats = w.names("float")
    if floats and w.chance(0.15):
        return f"({w.pick(floats)} > {w.random.uniform(-0.5, 0.5):.1f})"
    return str(w.random.randint(0, 3))


def index(w: Writer, size: int) -> str:
    """A valid index of an axis of this size, if there is one."""
    size = max(size, 1)
    fitting = [name for name in w.names("int") if (w.type_of(name)[1] or size + 1) <= size]
    if fitting and w.chance(0.75):
        chosen = w.pick(fitting)
        return w.pick((chosen, chosen, chosen, f"{chosen} - 1", f"-1 - {chosen}", f"{size - 1} - {chosen}"))
    if w.names("int") and w.chance(0.4):
        return f"{whole(w)} % {size}"
    return str(w.random.randint(-size, size - 1))


def condition(w: Writer, depth: int = 2) -> str:
    """A condition, mostly on data."""
    depth = max(depth, 0)
    kind = w.random.random()
    if kind < 0.5 or (depth == 0 and kind < 0.8):
        return f"{w.float(min(depth, 1))} {w.pick(('<', '>', '<=', '>='))} {w.float(0)}"
    if kind < 0.6:
        return f"{w.float(0)} < {w.float(0)} < {w.float(0)}"
    if kind < 0.75 and w.names("int"):
        return f"{w.pick(w.names('int'))} {w.pick(('% 2 == 0', '% 2', '> 1', '!= 2', '== 1', '< 2'))}"
    if kind < 0.85 and depth:
        return f"({condition(w, depth - 1)} {w.pick(('and', 'or'))} {condition(w, depth - 1)})"
    if kind < 0.9 and depth:
        return f"not ({condition(w, depth - 1)})"
    if kind < 0.95 and w.names("list"):
        return f"len({w.pick(w.names('list'))}) > {w.random.randint(1, 4)}"
    if w.names("array"):
        chosen = w.pick(w.names("array"))
        return w.pick((f"np.any({chosen} > 0.5)", f"({chosen} < 1.0).all()", f"any(c > 0.3 for c in {chosen})"))
    return f"{w.float(0)} > {w.random.uniform(-1, 1):.2f}"


def comprehension_clause(w: Writer) -> tuple[dict[str, Type], str]:
    """What a comprehension binds, and its ``for ... in ...``."""
    forms = [_over_range]
    if w.names("array"):
        forms += [_over_array, _over_two]
    if w.of_type(FLOATS):
        forms += [_over_list, _over_enumerate]
    return w.pick(forms)(w)  # type: ignore[no-any-return]


def _over_range(w: Writer) -> tuple[dict[str, Type], str]:
    name, size = w.fresh("c"), w.random.randint(1, 4)
    return {name: ("int", size)}, f"for {name} in range({size})"


def _over_array(w: Writer) -> tuple[dict[str, Type], str]:
    name = w.fresh("c")
    return {name: FLOAT}, f"for {name} in {w.pick(w.names('array'))}"


def _over_two(w: Writer) -> tuple[dict[str, Type], str]:
    first, second = w.fresh("c"), w.fresh("c")
    one, two = w.pick(w.names("array")), w.pick(w.names("array"))
    return {first: FLOAT, second: FLOAT}, f"for {first}, {second} in zip({one}, {two})"


def _over_list(w: Writer) -> tuple[dict[str, Type], str]:
    name = w.fresh("c")
    return {name: FLOAT}, f"for {name} in {w.pick(w.of_type(FLOATS))}"


def _over_enumerate(w: Writer) -> tuple[dict[str, Type], str]:
    place, name = w.fresh("c"), w.fresh("c")
    return {place: COUNTER, name: FLOAT}, f"for {place}, {name} in enumerate({w.pick(w.of_type(FLOATS))})"
