"""Arrays and matrices of random programs."""

from __future__ import annotations

from fuzz.expressions import call, index
from fuzz.writer import Type, Writer, array, matrix, production

ELEMENTWISE = ("np.tanh", "np.sin", "np.cos", "np.arctan")


@production("array", 8)
def array_name(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    return w.pick(known) if known else None


@production("array", 2)
def array_elementwise(w: Writer, type_: Type, depth: int) -> str | None:
    return f"{w.pick(ELEMENTWISE)}({w.expression(type_, depth - 1)})" if depth > 0 else None


@production("array", 4)
def array_arithmetic(w: Writer, type_: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    sides = [w.expression(type_, depth - 1), w.float(depth - 1) if w.chance(0.4) else w.expression(type_, depth - 1)]
    w.random.shuffle(sides)
    return f"({sides[0]} {w.pick('+-*')} {sides[1]})"


@production("array", 1)
def array_other(w: Writer, type_: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    one, two = w.expression(type_, depth - 1), w.expression(type_, depth - 1)
    plain = w.pick(w.of_type(type_) or [f"np.ones({type_[1]})"])
    forms = (
        f"np.where({plain} > {w.float(0)}, {one}, {two})",
        f"np.maximum({one}, {w.float(0)})",
        f"({one} / (1.0 + {plain} * {plain}))",
        f"np.sqrt(1.0 + {plain} ** 2)",
        f"np.clip({one}, -0.8, 0.9)",
        f"np.cumsum({one})",
        f"{plain}[::-1]",
        f"np.concatenate(({plain}[1:], {plain}[:1]))",
        f"(-{one})",
        f"np.abs({one})",
        f"np.roll({one}, 1)",
        f"np.minimum({one}, {two})",
    )
    return str(w.pick(forms))


@production("array", 1)
def array_slice(w: Writer, type_: Type, depth: int) -> str | None:
    longer = w.of_type(array(type_[1] + 1))
    return w.pick(longer) + w.pick(("[1:]", "[:-1]")) if longer else None


@production("array", 1)
def array_row(w: Writer, type_: Type, depth: int) -> str | None:
    rows = [name for name in w.names("matrix") if w.type_of(name)[2] == type_[1]]
    columns = [name for name in w.names("matrix") if w.type_of(name)[1] == type_[1]]
    if rows and w.chance(0.6):
        chosen = w.pick(rows)
        size = w.type_of(chosen)[1]
        return f"{chosen}{w.pick((f'[{index(w, size)}]', '.sum(axis=0)', f'[{index(w, size)}, :]'))}"
    if columns:
        chosen = w.pick(columns)
        return f"{chosen}[:, {index(w, w.type_of(chosen)[2])}]" if w.chance(0.6) else f"np.mean({chosen}, axis=1)"
    return None


@production("array", 0.7)
def array_product(w: Writer, type_: Type, depth: int) -> str | None:
    known = [name for name in w.names("matrix") if w.type_of(name)[1] == type_[1]]
    if not known or depth <= 0:
        return None
    chosen = w.pick(known)
    return f"({chosen} @ {w.expression(array(w.type_of(chosen)[2]), depth - 1)})"


@production("array", 0.8)
def array_new(w: Writer, type_: Type, depth: int) -> str:
    size = type_[1]
    return str(
        w.pick((f"np.zeros({size})", f"np.full({size}, {w.float(0)})", f"np.ones({size})", f"np.arange({size}.0)"))
    )


@production("array", 0.8)
def array_of_floats(w: Writer, type_: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    if w.chance(0.4):
        place = w.fresh("c")
        with w.binding({place: ("int", type_[1])}):
            return f"np.array([{w.float(depth - 1)} for {place} in range({type_[1]})])"
    return f"np.array([{', '.join(w.float(depth - 1) for _ in range(type_[1]))}])"


@production("array", 0.7)
def array_copy(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    return f"{w.pick(known)}.copy()" if known else None


@production("array", 1)
def array_call(w: Writer, type_: Type, depth: int) -> str | None:
    return call(w, type_, depth)


@production("matrix", 4)
def matrix_name(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    return w.pick(known) if known else None


@production("matrix", 1)
def matrix_outer(w: Writer, type_: Type, depth: int) -> str:
    one, two = w.expression(array(type_[1]), depth - 1), w.expression(array(type_[2]), depth - 1)
    return str(w.pick((f"np.outer({one}, {two})", f"({one}[:, None] {w.pick('+-*')} {two})")))


@production("matrix", 1)
def matrix_other(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    if not known or depth <= 0:
        return None
    plain = w.pick(known)
    row = w.expression(array(type_[2]), depth - 1)
    transposed = w.of_type(matrix(type_[2], type_[1]))
    forms = [f"np.tanh({plain})", f"({plain} * {row})", f"({plain} + {w.float(depth - 1)})", f"{plain}.copy()"]
    forms += [f"{w.pick(transposed)}.T"] if transposed else []
    return str(w.pick(forms))


@production("matrix", 0.7)
def matrix_new(w: Writer, type_: Type, depth: int) -> str:
    if w.chance(0.5):
        return f"np.zeros(({type_[1]}, {type_[2]}))"
    return f"np.stack([{', '.join(w.expression(array(type_[2]), 1) for _ in range(type_[1]))}])"
