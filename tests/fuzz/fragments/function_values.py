"""Functions as values: some are known, some come out of a cache that nobody can look into."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment

USE = """
    <<$w = $f($v, $x)||$w = $f($f($v, $x), $x)||$w = $f($v[::-1], np.sin($x))
    ||$w = $f($v, $x) + $f($v, 0.5)||$w = $v * 1.0
    for _ in range(2):
        $w = $f($w, $x)>>
    <<$w[0] = $v[-1]||$w *= $x||$v[0] = $w[1]||pass>>
"""
KINDS = """
    $type = ad.Fn[[np.ndarray, float], np.ndarray]
    $table = [
        $type(lambda v, k: np.sin(v) * k),
        $type(lambda v, k: v),
        $type(lambda v, k: v[::-1] + k),
        $type(ad.differentiable_function(
            lambda v, k: (np.sin(v) * k, lambda ct: (ct * np.cos(v) * k, np.sum(ct * np.sin(v))))
        )),
    ]
"""


@fragment("v: vec, x: float -> w: vec")
def function_out_of_a_cache(d: Draft) -> str:
    d.above(
        KINDS
        + """
    $get = functools.lru_cache(lambda key: $table[key])
    """
    )
    return "    $f: $type = $get(<<0||1||2||3>>)" + USE


@fragment("v: vec, x: float -> w: vec")
def function_that_is_known(d: Draft) -> str:
    d.above(KINDS)
    return "    $f = $table[<<0||1||2||3>>]" + USE
