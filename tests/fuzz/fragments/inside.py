"""Derivatives that programs take themselves."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("x: float, y: float -> t: float", 0.7)
def gradient_inside(d: Draft) -> str:
    return """
    def $f($z):
        return <<$z ** 3 * $y||math.sin($z * $y)||$z * $z + $y>>
    $t = <<ad.grad($f)($x)||ad.value_and_grad($f)($x)[1]||ad.jvp($f, ($x,), ($y,))[1]||ad.vjp($f, $x)[1]($y)[0]
        ||ad.grad(lambda $z: $f($z) * $0)($x)>>
    """


@fragment("v: vec, x: float -> w: vec", 0.7)
def gradient_of_a_vector_inside(d: Draft) -> str:
    return """
    def $f($a, $k):
        return np.sum(<<np.sin($a * $k)||$a ** 3 * $k||np.tanh($a) * $k>>)
    $w = <<ad.grad($f)($v, $x)||ad.value_and_grad($f)($v, $x)[1]||$v - $0 * ad.grad($f)($v, $0)>>
    """


@fragment("v: vec, x: float -> w: vec", 0.7)
def gradient_descent_inside(d: Draft) -> str:
    return """
    $loss = lambda $a: np.sum(($a - $x) ** 2 <<+ 0.1 * $a ** 4||* 0.5>>)
    $w = $v<<||.copy()>>
    for $k in range(2):
        <<$w = $w - 0.1 * ad.grad($loss)($w)||$w -= 0.1 * ad.grad($loss)($w)>>
    """
