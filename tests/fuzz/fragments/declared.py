"""Functions whose derivative is declared: maps that hand on what they are given, keep what they read, share memory."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment

CURVE = """
    def $fn(v, k=$0) -> np.ndarray:
        return np.sin(v) * k


"""
USE = """
    $w = <<$fn($v)||$fn($v, $x)||$fn(k=$x, v=$v)||$fn($fn($v), $x)||$fn($v[::-1], $v[0])>>
    <<$w[0] = $v[-1]||$w *= $x||$v[0] = $w[1]||pass>>
"""


@fragment("v: vec, x: float -> w: vec")
def declared_pullback(d: Draft) -> str:
    d.above(
        CURVE
        + """
    @ad.derivative_of($fn)
    def $derivative(v, k=$0):
        kept = <<np.cos(v)||np.cos(v).copy()||np.cos(v)[:]>>
        def pullback(ct):
            <<return ct * kept * k, np.sum(ct * np.sin(v))||ct *= kept
            return k * ct, np.sum(ct * np.tan(v))>>
        return np.sin(v) * k, pullback
    """
    )
    return USE


@fragment("v: vec, x: float -> w: vec")
def declared_differential(d: Draft) -> str:
    d.above(
        CURVE
        + """
    @ad.differential_of($fn)
    def $derivative(v, k=$0):
        slope = np.cos(v) * k
        return np.sin(v) * k, lambda dv, dk: slope * dv + dk * np.sin(v)
    """
    )
    return USE


@fragment("v: vec, x: float -> w: vec")
def declared_adjoint(d: Draft) -> str:
    d.above(
        CURVE
        + """
    <<ad.derivative_of($fn, adjoint=lambda v, k, seed: (seed * np.cos(v) * k, np.sum(seed * np.sin(v))))
    ||ad.derivative_of(
        $fn,
        primal=lambda v, k=$0: ((np.sin(v), np.cos(v)), np.sin(v) * k),
        adjoint=lambda checkpoints, k, seed: (seed * checkpoints[1] * k, np.sum(seed * checkpoints[0])),
    )>>
    """
    )
    return USE


@fragment("v: vec -> w: vec")
def declared_handing_on(d: Draft) -> str:
    d.above("""
    def $fn(v) -> np.ndarray:
        return <<v * 1.0||v.copy()||v[:] + 0.0>>


    <<ad.derivative_of($fn)(lambda v: (v * 1.0, lambda ct: ct))
    ||ad.differential_of($fn)(lambda v: (v * 1.0, lambda dv: dv))
    ||ad.transpose_of($fn)(lambda ct: ct)>>
    """)
    return """
    $z = <<$v * 1.0||$v||$v.copy()>>
    $w = $fn($z)
    <<$z = $z * $w||$w[1] = $v[0]||$w += $z||$z[0] = $w[1]||pass>>
    """


@fragment("x: float, y: float -> t: float")
def declared_loop(d: Draft) -> str:
    d.above("""
    def $fn(x, y):
        return x * y + math.sin(x), y * y


    <<@ad.differential_of($fn)
    def $derivative(x, y):
        return (x * y + math.sin(x), y * y), lambda dx, dy: (dx * (y + math.cos(x)) + x * dy, 2.0 * y * dy)
    ||@ad.derivative_of($fn)
    def $derivative(x, y):
        return (x * y + math.sin(x), y * y), lambda ct: (ct[0] * (y + math.cos(x)), ct[0] * x + 2.0 * y * ct[1])
    >>
    """)
    return """
    $t, $u = $x, $y
    for $i in range(<<3||$N>>):
        $t, $u = $fn(0.5 * $t, 0.3 * $u)
        <<if $t > $0:
            $t = $t * 0.5
        ||$u = $u + $t
        >>
    $t = $t + $u
    """
