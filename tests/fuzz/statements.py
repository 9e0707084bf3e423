"""Statements of random programs: control flow of every kind, and everything that writes memory."""

from __future__ import annotations

from fuzz.expressions import comprehension_clause, condition, float_paths, index, whole
from fuzz.writer import COUNTER, FLOAT, FLOATS, SIZES, Callee, Type, Writer, array, matrix, production

MOST_LOOPS = 2
MOST_DEPTH = 4


def any_type(w: Writer) -> Type:
    """A type for a new variable."""
    size = w.pick(SIZES)
    kinds: list[Type] = [FLOAT] * 5 + [array(size)] * 3 + [FLOATS] * 2 + [matrix(w.pick((2, 3)), w.pick((2, 3)))]
    kinds += [("tuple", FLOAT, FLOAT), ("tuple", FLOAT, array(size)), ("dict", "a", "b"), COUNTER]
    kinds += [("list", array(size)), ("list", ("tuple", FLOAT, FLOAT))]
    kinds += [("object", record.name) for record in w.records] * 2
    kinds += [("list", ("object", record.name)) for record in w.records]
    return w.pick(kinds)  # type: ignore[no-any-return]


def tame(w: Writer, text: str) -> str:
    """A float that stays bounded where it is assigned again and again."""
    if w.scope.loops or w.chance(0.3):
        return f"{w.pick(('math.tanh', 'math.sin', 'np.tanh'))}({text})"
    return text


def assign(w: Writer, name: str, text: str, type_: Type) -> None:
    w.line(f"{name} = {text}")
    w.define(name, type_)


# --- assignments ---


@production("statement", 5)
def assign_float(w: Writer) -> str:
    known = w.names("float", assignable=True)
    name = w.pick(known) if known and w.chance(0.6) else w.fresh("v")
    assign(w, name, tame(w, w.float()), FLOAT)
    return name


@production("statement", 5)
def assign_new(w: Writer) -> str:
    type_ = any_type(w)
    text = w.expression(type_, 2)
    assign(
        w,
        w.fresh({"array": "a", "matrix": "m", "list": "l", "object": "o", "int": "k"}.get(type_[0], "t")),
        text,
        type_,
    )
    return "done"


@production("statement", 2)
def assign_again(w: Writer) -> str | None:
    known = [
        name for name, type_ in w.scope.names.items() if name not in w.scope.fixed and type_[0] not in ("float", "int")
    ]
    if not known or not w.scope.may_grow:
        return None
    name = w.pick(known)
    type_ = w.type_of(name)
    text = w.expression(type_, 2)
    if type_[0] in ("array", "matrix") and w.scope.loops:
        text = f"np.tanh({text})"
    assign(w, name, text, type_)
    return name


@production("statement", 3)
def augment_float(w: Writer) -> str | None:
    known = w.names("float", assignable=True)
    if not known:
        return None
    name = w.pick(known)
    value = w.pick(
        (f"+= {w.float()}", f"-= {w.float()}", f"*= math.cos({w.float()})", f"/= 1.5 + math.sin({w.float()})")
    )
    w.line(f"{name} {value}")
    return name


@production("statement", 1)
def swap(w: Writer) -> str | None:
    pairs = [
        (one, two)
        for one in w.scope.names
        for two in w.scope.names
        if one < two and w.type_of(one) == w.type_of(two) and not {one, two} & w.scope.fixed
    ]
    if not pairs or not w.scope.may_grow:
        return None
    one, two = w.pick(pairs)
    if w.chance(0.3):
        w.line(f"{one}, {two} = ({two}, {one}) if {condition(w)} else ({one}, {two})")
    else:
        w.line(f"{one}, {two} = {two}, {one}")
    return one


@production("statement", 1)
def assign_tuple(w: Writer) -> str | None:
    known = w.names("float", assignable=True)
    if len(known) < 2:
        return None
    one, two = w.random.sample(known, 2)
    first, second = tame(w, w.float(2)), tame(w, w.float(2))
    w.line(f"{one}, {two} = {first}, {second}")
    return one


@production("statement", 0.7)
def unpack(w: Writer) -> str | None:
    tuples, arrays = w.names("tuple"), w.names("array")
    if arrays and w.chance(0.4):
        source, types = w.pick(arrays), None
        types = (FLOAT,) * w.type_of(source)[1]
    elif tuples:
        source = w.pick(tuples)
        types = w.type_of(source)[1:]
    else:
        return None
    targets = [w.fresh("v") for _ in types]
    w.line(f"{', '.join(targets)} = {source}")
    for target, type_ in zip(targets, types, strict=True):
        w.define(target, type_)
    return source


@production("statement", 0.5)
def assign_chain(w: Writer) -> str:
    one, two = w.fresh("v"), w.fresh("v")
    type_ = w.pick((FLOAT, array(w.pick(SIZES))))
    w.line(f"{one} = {two} = {w.expression(type_, 2)}")
    w.define(one, type_)
    w.define(two, type_)
    return one


@production("statement", 1.2)
def count(w: Writer) -> str | None:
    known = [name for name in w.of_type(COUNTER, assignable=True)]
    if not known:
        assign(w, w.fresh("k"), str(w.random.randint(0, 2)), COUNTER)
        return "new"
    name = w.pick(known)
    w.line(w.pick((f"{name} += 1", f"{name} = ({name} * 2 + 1) % 5", f"{name} += {whole(w)} % 3")))
    return name


@production("statement", 0.6)
def one_branch_only(w: Writer) -> str:
    flag, name = w.fresh("q"), w.fresh("v")
    type_ = w.pick((FLOAT, FLOAT, array(w.pick(SIZES)), FLOATS))
    w.line(f"{flag} = {condition(w)}")
    w.line(f"if {flag}:")
    with w.block():
        assign(w, name, w.expression(type_, 2), type_)
    for _ in range(w.random.randint(0, 2)):
        w.statement()
    w.line(f"if {flag}:")
    with w.block():
        w.define(name, type_)
        w.body(2)
    return name


# --- control flow ---


@production("statement", 4)
def branch(w: Writer) -> str | None:
    if w.scope.depth >= MOST_DEPTH:
        return None
    before = dict(w.scope.names)
    sides = []
    w.line(f"if {condition(w)}:")
    with w.block() as inner:
        w.body(3)
        leave(w, 0.15)
        sides.append(inner.names)
    if w.chance(0.25):
        w.line(f"elif {condition(w)}:")
        with w.block() as inner:
            w.body(2)
            sides.append(inner.names)
    if w.chance(0.6):
        w.line("else:")
        with w.block() as inner:
            if w.chance(0.3):
                for name in [
                    name for name in sides[0] if name not in before and sides[0][name][0] in ("float", "array")
                ]:
                    assign(w, name, w.expression(sides[0][name], 2), sides[0][name])
            w.body(3)
            leave(w, 0.1)
            sides.append(inner.names)
        for name, type_ in sides[0].items():
            if name not in before and all(side.get(name) == type_ for side in sides):
                w.define(name, type_)
    return "done"


def leave(w: Writer, probability: float) -> None:
    """Maybe an exit at the end of a block that some condition guards."""
    if not w.chance(probability * (2 if w.scope.can_leave else 1)):
        return
    kind = w.pick(("break", "continue", "return") if w.scope.can_leave else ("return",))
    w.features[kind] += 1
    w.line(f"return {w.expression(w.scope.result, 2)}" if kind == "return" else kind)


@production("statement", 1.5)
def guarded_exit(w: Writer) -> str | None:
    if w.scope.depth == 0 and not w.chance(0.4):
        return None
    w.line(f"if {condition(w)}:")
    with w.block():
        leave(w, 1.0)
    return "done"


@production("statement", 4)
def for_loop(w: Writer) -> str | None:
    if w.scope.loops >= MOST_LOOPS or w.scope.depth >= MOST_DEPTH:
        return None
    w.pick((_for_range, _for_range, _for_range, _for_items, _for_clause))(w)
    loop_else(w)
    return "done"


def _for_range(w: Writer) -> None:
    name, size = w.fresh("i"), w.random.randint(1, 4)
    forms: list[tuple[str, int | None]] = [(f"range({size})", size)] * 3
    forms += [
        (f"reversed(range({size}))", size),
        (f"range(1, {size + 1})", size + 1),
        (f"range({size}, -1, -1)", size + 1),
    ]
    forms += [(f"range(0, {size + 2}, 2)", size + 2)]
    if w.names("array"):
        chosen = w.pick(w.names("array"))
        forms += [(f"range(len({chosen}))", w.type_of(chosen)[1])] * 3
        forms += [
            (f"range(1, len({chosen}))", w.type_of(chosen)[1]),
            (f"range({chosen}.shape[0])", w.type_of(chosen)[1]),
        ]
    if w.names("int"):
        forms.append((f"range(min({w.pick(w.names('int'))}, 3))", 3))
    text, bound = w.pick(forms)
    w.line(f"for {name} in {text}:")
    loop_body(w, {name: ("int", bound)})


def _for_items(w: Writer) -> None:
    name = w.fresh("i")
    w.line(f"for {name} in ({w.float(2)}, {w.float(2)}, {w.float(1)}):")
    loop_body(w, {name: FLOAT})


def _for_clause(w: Writer) -> None:
    names, clause = comprehension_clause(w)
    # The names are those of a comprehension there, and of a statement here.
    for name in list(names):
        clause = clause.replace(name, f"i{name[1:]}")
    w.line(f"{clause}:")
    loop_body(w, {f"i{name[1:]}": type_ for name, type_ in names.items()}, may_grow=False)


def loop_body(w: Writer, names: dict[str, Type], may_grow: bool = True, fixed: bool = False) -> None:
    scope = w.scope
    changes = {"loops": scope.loops + 1, "can_leave": True, "may_grow": scope.may_grow and may_grow}
    counters = {name for name, type_ in names.items() if fixed or type_[0] == "int"}
    with w.block(**changes, fixed=scope.fixed | counters):
        w.scope.names.update(names)
        w.body(4)


@production("statement", 2)
def while_loop(w: Writer) -> str | None:
    if w.scope.loops >= MOST_LOOPS or w.scope.depth >= MOST_DEPTH:
        return None
    counter, most = w.fresh("n"), w.random.randint(1, 5)
    w.line(f"{counter} = 0")
    head = w.pick(
        (f"{counter} < {most} and {condition(w)}", f"{condition(w)} and {counter} < {most}", f"{counter} < {most}")
    )
    w.line(w.pick((f"while {head}:", f"while {head}:", "while True:")))
    endless = w.lines[-1].endswith("while True:")
    with w.block(loops=w.scope.loops + 1, can_leave=True, fixed=w.scope.fixed | {counter}):
        w.define(counter, ("int", most + 1))
        w.line(f"{counter} += 1")
        if endless:
            w.features["while_true"] += 1
            w.line(f"if {counter} > {most - 1} or {condition(w)}:")
            w.line("    break")
        w.body(4)
    w.scope.names[counter] = ("int", most + 1)
    if not endless:
        loop_else(w)
    return "done"


def loop_else(w: Writer) -> None:
    if w.chance(0.12):
        w.features["loop_else"] += 1
        w.line("else:")
        with w.block():
            w.body(2)
            leave(w, 0.2)


@production("statement", 0.5)
def try_finally(w: Writer) -> str | None:
    if w.scope.depth >= MOST_DEPTH:
        return None
    w.line("try:")
    with w.block():
        w.body(2)
    w.line("finally:")
    with w.block(can_leave=False, yields=False):
        w.line(f"{w.fresh('v')} = {w.float(1)}")
    return "done"


# --- writes ---


@production("statement", 3)
def store_element(w: Writer) -> str | None:
    known = w.names("array")
    if not known:
        return None
    name = w.pick(known)
    place = f"{name}[{index(w, w.type_of(name)[1])}]"
    form = w.pick((f"= {tame(w, w.float())}", f"+= {w.float(2)}", f"*= math.cos({w.float(1)})", f"-= {w.float(1)}"))
    w.line(f"{place} {form}")
    return name


@production("statement", 2)
def store_slice(w: Writer) -> str | None:
    known = w.names("array")
    if not known:
        return None
    name = w.pick(known)
    size = w.type_of(name)[1]
    shorter = w.expression(array(size - 1), 1)
    forms = [f"{name}[1:] = 0.5 * {name}[:-1]", f"{name}[:-1] += {shorter}", f"{name}[1:] = {shorter}"]
    forms += [f"{name}[:] = {w.expression(array(size), 2)}", f"{name}[::-1] += {name}", f"{name}[:2] = {w.float(2)}"]
    forms += [f"{name}[{name} > 0.3] = {w.float(1)}", f"{name}[::2] *= {w.float(0)}", f"{name}[[0, -1]] = {w.float(1)}"]
    w.line(w.pick(forms))
    return name


@production("statement", 1.5)
def augment_array(w: Writer) -> str | None:
    known = [*w.names("array"), *w.names("matrix")]
    if not known:
        return None
    name = w.pick(known)
    type_ = w.type_of(name)
    if name in w.scope.fixed:
        return None
    small = w.pick((w.float(1), w.expression(type_, 1)))
    w.line(w.pick((f"{name} += {small}", f"{name} *= np.cos({small})", f"{name} -= {small}")))
    return name


@production("statement", 1.5)
def store_matrix(w: Writer) -> str | None:
    known = w.names("matrix")
    if not known:
        return None
    name = w.pick(known)
    _, rows, columns = w.type_of(name)
    row, column = index(w, rows), index(w, columns)
    forms = [f"{name}[{row}, {column}] = {tame(w, w.float(2))}", f"{name}[{row}] = {w.expression(array(columns), 1)}"]
    forms += [f"{name}[:, {column}] {w.pick(('', '+', '*'))}= {w.expression(array(rows), 1)}"]
    forms += [f"{name}[{row}] += {w.expression(array(columns), 1)}", f"{name}[{row}][{column}] *= {w.float(1)}"]
    w.line(w.pick(forms))
    return name


@production("statement", 1)
def view(w: Writer) -> str | None:
    """A name for a part of an array, and a write through it."""
    name = w.fresh("a")
    if w.names("matrix") and w.chance(0.6):
        source = w.pick(w.names("matrix"))
        _, rows, columns = w.type_of(source)
        if w.chance(0.7):
            assign(w, name, f"{source}[{index(w, rows)}]", array(columns))
        else:
            assign(
                w, name, w.pick((f"{source}[:, {index(w, columns)}]", f"{source}.T[{index(w, columns)}]")), array(rows)
            )
    elif w.names("array"):
        source = w.pick(w.names("array"))
        size = w.type_of(source)[1]
        text, length = w.pick(
            ((f"{source}[1:]", size - 1), (f"{source}[::-1]", size), (source, size), (f"{source}[:-1]", size - 1))
        )
        assign(w, name, text, array(length))
    else:
        return None
    size = w.type_of(name)[1]
    if w.chance(0.6):
        w.line(f"{name}[{index(w, max(size, 1))}] {w.pick(('', '+', '*'))}= {tame(w, w.float(2))}")
    return name


@production("statement", 2.5)
def grow_list(w: Writer) -> str | None:
    known = w.names("list")
    if not known or not w.scope.may_grow:
        return None
    name = w.pick(known)
    item = w.expression(w.type_of(name)[1], 2)
    forms = [f"{name}.append({item})"] * 4
    if not w.scope.loops:
        forms += [f"{name}.extend([{item}])", f"{name}.insert(0, {item})", f"{name} += [{item}]"]
    text = w.pick(forms)
    if "+=" in text and name in w.scope.fixed:
        return None
    w.line(text)
    return name


@production("statement", 0.7)
def shrink_list(w: Writer) -> str | None:
    known = w.of_type(FLOATS)
    if not known or not w.scope.may_grow:
        return None
    name = w.pick(known)
    w.line(f"if len({name}) > 1:")
    target = w.fresh("v")
    with w.block():
        assign(w, target, f"{name}.pop({w.pick(('', '', '0'))})", FLOAT)
        w.body(2)
    return name


@production("statement", 1.5)
def store_list(w: Writer) -> str | None:
    known = w.names("list")
    if not known or not w.scope.may_grow:
        return None
    name = w.pick(known)
    type_ = w.type_of(name)[1]
    place = f"{name}[{w.pick(('0', '-1', f'{whole(w)} % len({name})'))}]"
    if type_ == FLOAT:
        w.line(w.pick((f"{place} = {tame(w, w.float(2))}", f"{place} += {w.float(1)}", f"{place} *= {w.float(0)}")))
    elif type_[0] == "array" and w.chance(0.6):
        w.line(f"{place}[{index(w, type_[1])}] {w.pick(('', '+', '*'))}= {tame(w, w.float(1))}")
    else:
        w.line(f"{place} = {w.expression(type_, 1)}")
    return name


@production("statement", 1.2)
def list_in_a_loop(w: Writer) -> str | None:
    if w.scope.loops >= MOST_LOOPS:
        return None
    name, place, size = w.fresh("l"), w.fresh("i"), w.random.randint(1, 4)
    type_ = w.pick((FLOAT, FLOAT, array(w.pick(SIZES)), ("tuple", FLOAT, FLOAT)))
    w.line(f"{name} = []")
    w.line(f"for {place} in range({size}):")
    with w.block(loops=w.scope.loops + 1, fixed=w.scope.fixed | {place}, can_leave=False):
        w.define(place, ("int", size))
        w.line(f"{name}.append({w.expression(type_, 2)})")
        w.define(name, ("list", type_))
        if w.chance(0.5):
            w.body(2)
    w.define(name, ("list", type_))
    return name


@production("statement", 1)
def store_dict(w: Writer) -> str | None:
    known = w.names("dict")
    if not known:
        return None
    name = w.pick(known)
    place = f"{name}[{w.pick(w.type_of(name)[1:])!r}]"
    w.line(w.pick((f"{place} = {tame(w, w.float(2))}", f"{place} += {w.float(1)}")))
    return name


@production("statement", 2)
def store_attribute(w: Writer) -> str | None:
    known = [name for name in w.names("object") if not w.record(w.type_of(name)[1]).frozen]
    if not known:
        return None
    name = w.pick(known)
    field, type_ = w.pick(w.record(w.type_of(name)[1]).fields)
    if type_ == FLOAT:
        w.line(w.pick((f"{name}.{field} = {tame(w, w.float(2))}", f"{name}.{field} += {w.float(1)}")))
    elif type_[0] == "array" and w.chance(0.6):
        w.line(f"{name}.{field}[{index(w, type_[1])}] {w.pick(('', '+'))}= {w.float(1)}")
    elif type_[0] == "object" and not w.record(type_[1]).frozen and w.chance(0.6):
        w.line(f"{w.pick(float_paths(w, f'{name}.{field}', type_))} = {w.float(1)}")
    else:
        w.line(f"{name}.{field} = {w.expression(type_, 1)}")
    return name


# --- functions inside functions ---


@production("statement", 1)
def nested_function(w: Writer) -> str | None:
    if w.scope.depth >= 2 or w.scope.outer:
        return None
    name = w.fresh("g")
    params = {w.fresh("x"): w.pick((FLOAT, FLOAT, array(w.pick(SIZES)))) for _ in range(w.random.randint(0, 2))}
    result = w.pick((FLOAT, FLOAT, FLOAT, array(w.pick(SIZES))))
    outer = w.scope
    rebound = tuple(w.names("float", assignable=True)) if w.chance(0.3) else ()
    w.line(f"def {name}({', '.join(params)}):")
    fixed = frozenset(outer.names) - set(rebound)
    changes = {"loops": outer.loops, "can_leave": False, "result": result, "fixed": fixed, "outer": rebound or ("",)}
    with w.block(**changes, yields=False):
        if rebound:
            w.features["nonlocal"] += 1
            w.line(f"nonlocal {', '.join(rebound)}")
        w.scope.names.update(params)
        w.body(3)
        w.line(f"return {w.expression(result, 2)}")
    w.scope.callees += (Callee(name, tuple(params.values()), result),)
    return name


@production("statement", 0.8)
def assign_lambda(w: Writer) -> str:
    name, parameter = w.fresh("g"), w.fresh("p")
    default = ""
    names = {parameter: FLOAT}
    if w.names("float") and w.chance(0.3):
        extra = w.fresh("p")
        default = f", {extra}={w.pick(w.names('float'))}"
        names[extra] = FLOAT
    with w.binding(names):
        text = f"lambda {parameter}{default}: {w.float(2)}"
    if w.chance(0.25):
        text = f"({text}) if {condition(w)} else math.tanh" if not default else text
    w.line(f"{name} = {text}")
    w.scope.callees += (Callee(name, (FLOAT,), FLOAT),)
    return name


@production("statement", 1)
def call_statement(w: Writer) -> str | None:
    writers = [callee for callee in w.scope.callees if any(param[0] in ("array", "object") for param in callee.params)]
    if not writers:
        return None
    callee = w.pick(writers)
    given = [w.pick(w.of_type(param) or [w.expression(param, 1)]) for param in callee.params]
    w.line(f"{callee.name}({', '.join(given)})")
    return callee.name
