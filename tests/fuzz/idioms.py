"""What people write around arrays, dicts and optional values, as statements of random programs."""

from __future__ import annotations

from fuzz.expressions import condition, index
from fuzz.statements import MOST_DEPTH, MOST_LOOPS, assign, tame
from fuzz.writer import FLOAT, FLOATS, SIZES, Type, Writer, array, production


def places(w: Writer, size: int, count: int) -> str:
    """``count`` places of an array, some of them perhaps the same."""
    return f"[{', '.join(str(w.random.randrange(size)) for _ in range(count))}]"


def _array(w: Writer) -> tuple[str, int] | None:
    known = w.names("array", assignable=True)
    if not known:
        return None
    name = w.pick(known)
    return (name, w.type_of(name)[1]) if w.type_of(name)[1] > 1 else None


@production("array", 1)
def gathered(w: Writer, type_: Type, depth: int) -> str | None:
    """Elements picked by integers, with repeats."""
    found = _array(w)
    if found is None:
        return None
    name, size = found
    form = w.pick(("{0}[{1}]", "np.take({0}, {1})", "{0}[np.array({1})]"))
    return str(form.format(name, places(w, size, type_[1])))


@production("array", 1)
def chosen_by_mask(w: Writer, type_: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    test = f"{w.expression(type_, 0)} > {w.random.uniform(-0.5, 0.5):.2f}"
    return f"np.where({test}, {w.expression(type_, depth - 1)}, {w.pick((w.float(0), w.expression(type_, 0)))})"


@production("array", 0.7)
def row_of_parts(w: Writer, type_: Type, depth: int) -> str | None:
    """An array of starred parts and single numbers."""
    size = type_[1]
    fitting = [name for name in w.names("array") if w.type_of(name)[1] < size]
    if depth <= 0 or not fitting:
        return None
    name = w.pick(fitting)
    parts = [f"*{name}", *(w.float(1) for _ in range(size - w.type_of(name)[1]))]
    w.random.shuffle(parts)
    return f"np.array([{', '.join(parts)}])"


@production("array", 0.7)
def array_and_a_list(w: Writer, type_: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    items = ", ".join(w.float(0) for _ in range(w.pick((1, type_[1]))))
    return f"({w.expression(type_, 0)} {w.pick('+-*')} {w.pick((f'[{items}]', f'({items},)'))})"


@production("statement", 1)
def out_argument(w: Writer) -> str | None:
    found = _array(w)
    if found is None:
        return None
    name, size = found
    one, two = w.expression(array(size), 1), w.expression(array(size), 1)
    forms = ["np.multiply({1}, {2}, out={0})", "np.add({1}, {2}, {0})", "np.sin({1}, out={0})", "np.copyto({0}, {1})"]
    forms += [
        "np.subtract({0}, {1}, out={0})",
        "np.tanh({0}, out={0})",
        "{0}.fill({3})",
        "np.clip({1}, -1.0, 1.0, out={0})",
    ]
    w.line(w.pick(forms).format(name, one, two, w.float(1)))
    return name


@production("statement", 1)
def store_at_places(w: Writer) -> str | None:
    found = _array(w)
    if found is None:
        return None
    name, size = found
    count = w.random.randint(1, 3)
    where, values = places(w, size, count), w.expression(array(count), 1)
    forms = [f"{name}[{where}] = {values}", f"{name}[{where}] += {values}", f"np.add.at({name}, {where}, {values})"]
    forms += [f"np.put({name}, {where}, {w.float(1)})", f"{name}[{where}] *= {w.float(0)}"]
    w.line(w.pick(forms))
    return name


@production("statement", 1)
def store_by_mask(w: Writer) -> str | None:
    found = _array(w)
    if found is None:
        return None
    name, size = found
    mask = w.fresh("b")
    other = w.expression(array(size), 0)
    w.line(f"{mask} = {other} > {w.random.uniform(-0.5, 0.5):.2f}")
    forms = [
        f"{name}[{mask}] *= {w.float(0)}",
        f"{name}[{mask}] = {name}[::-1][{mask}]",
        f"{name}[~{mask}] += {w.float(1)}",
    ]
    forms += [f"np.putmask({name}, {mask}, {other})", f"{name}[{mask} & ({name} < 0.9)] = {w.float(0)}"]
    w.line(w.pick(forms))
    return name


@production("statement", 1)
def reshaped_and_written(w: Writer) -> str | None:
    """A view or a copy of a matrix, as its layout has it, and a write through it."""
    known = w.names("matrix", assignable=True)
    if not known:
        return None
    source, name = w.pick(known), w.fresh("a")
    _, rows, columns = w.type_of(source)
    forms = (".ravel()", ".reshape(-1)", ".T.ravel()", ".ravel(order='F')", ".flatten()", ".T.reshape(-1)")
    assign(w, name, f"{source}{w.pick(forms)}", array(rows * columns))
    w.line(f"{name}[{index(w, rows * columns)}] {w.pick(('', '+', '*'))}= {tame(w, w.float(1))}")
    return name


@production("statement", 1)
def view_handed_to_a_writer(w: Writer) -> str | None:
    """A function that writes its argument, called with a part of an array."""
    if w.scope.depth or w.scope.outer:
        return None
    sources = [(name, w.type_of(name)[1]) for name in w.names("array") if w.type_of(name)[1] > 2]
    matrices = [(name, *w.type_of(name)[1:]) for name in w.names("matrix")]
    if not sources and not matrices:
        return None
    writer, part, factor = w.fresh("g"), w.fresh("x"), w.fresh("x")
    w.line(f"def {writer}({part}, {factor}):")
    forms = [
        f"{part} *= np.cos({factor})",
        f"{part}[0] += {factor} * {part}[-1]",
        f"{part}[1:] = {part}[:-1] * {factor}",
    ]
    for form in w.random.sample(forms, 2):
        w.line(f"    {form}")
    if w.chance(0.4):
        w.line(f"    return {part}")
    for _ in range(w.random.randint(1, 2)):
        if matrices and w.chance(0.5):
            name, rows, columns = w.pick(matrices)
            text = w.pick((f"{name}[{index(w, rows)}]", f"{name}[:, {index(w, columns)}]", f"{name}.T[0]"))
        elif sources:
            name, _ = w.pick(sources)
            text = w.pick((f"{name}[1:]", f"{name}[::-1]", name, f"{name}[:-1]", f"{name}.view()"))
        else:
            return writer
        w.line(f"{writer}({text}, {w.float(1)})")
    return writer


@production("statement", 0.7)
def dict_loop(w: Writer) -> str | None:
    known = w.names("dict")
    if not known or w.scope.loops >= MOST_LOOPS:
        return None
    name, key, value = w.pick(known), w.fresh("s"), w.fresh("v")
    form = w.random.random()
    if form < 0.4:
        w.line(f"for {key} in {name}:")
        w.line(f"    {name}[{key}] = math.tanh({name}[{key}] * {w.float(1)})")
    elif form < 0.7:
        total = w.fresh("v")
        w.line(f"{total} = 0.0")
        w.line(f"for {key}, {value} in {name}.items():")
        w.line(f"    {total} += {value} * {w.float(1)}")
        w.define(total, FLOAT)
    else:
        other = w.fresh("t")
        w.line(f"{other} = {{{key}: {value} * {w.float(0)} for {key}, {value} in {name}.items()}}")
        w.define(other, w.type_of(name))
    return name


@production("statement", 1)
def best_of(w: Writer) -> str | None:
    """A variable that is None until a loop finds something."""
    if w.scope.loops >= MOST_LOOPS:
        return None
    best, item = w.fresh("o"), w.fresh("i")
    records = [record.name for record in w.records]
    type_: Type = w.pick(
        [FLOAT, ("tuple", FLOAT, FLOAT), array(w.pick(SIZES)), *(("object", name) for name in records)]
    )
    w.line(f"{best} = None")
    w.line(f"for {item} in ({w.float(1)}, {w.float(1)}, {w.float(0)}):")
    with w.block(loops=w.scope.loops + 1, can_leave=False):
        w.define(item, FLOAT)
        w.line(f"if {best} is None or {condition(w, 1)}:")
        w.line(f"    {best} = {w.expression(type_, 1)}")
    w.define(best, type_)
    return best


@production("statement", 0.7)
def starred_target(w: Writer) -> str | None:
    found = _array(w)
    if found is None:
        return None
    name, _ = found
    first, rest = w.fresh("v"), w.fresh("l")
    w.line(w.pick((f"{first}, *{rest} = {name}", f"*{rest}, {first} = {name}")))
    w.define(first, FLOAT)
    w.define(rest, FLOATS)
    return name


@production("statement", 0.8)
def try_except(w: Writer) -> str | None:
    """What is only computed where nothing is raised, and what stands for it elsewhere."""
    if w.scope.depth >= MOST_DEPTH:
        return None
    name = w.fresh("v")
    w.line("try:")
    with w.block():
        w.line(f"if {condition(w)}:")
        w.line(f"    raise {w.pick(('ValueError', 'ZeroDivisionError'))}")
        w.line(f"{name} = {tame(w, w.float(2))}")
    w.line(f"except {w.pick(('ValueError', 'ArithmeticError', '(ValueError, ArithmeticError)'))}:")
    with w.block():
        w.line(f"{name} = {w.float(1)}")
    w.define(name, FLOAT)
    return name
