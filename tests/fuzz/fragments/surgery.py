"""Surgery that leaves cotangents what they are: by identities, by factors that cancel, by blocks that only look."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment

KEEPERS = """
    def $keep(ct):
        <<return ct||return None||ct = 2.0 * ct
        return 0.5 * ct||if np.all(np.isfinite(ct)):
            return ct
        return ct * 1.0||pass||$seen.append(1)
        return ct||return sum([0.25 * ct for _ in range(4)])>>
"""


@fragment("x: float -> t: float", 0.8)
def changed_cotangent_of_a_number(d: Draft) -> str:
    d.above("$seen = []")
    return (
        KEEPERS
        + """
    $t = ad.<<with_derivative||replace_gradient>>(<<$x||$x * $x||math.sin($x)||0.5 * $x + 0.1>>, $keep)
    <<$t = $t * $x||$t += ad.with_derivative($x, lambda $ct: $ct)||if $t > $0:
        $t = $t * 0.5
    ||for $k in range(2):
        $t = ad.with_derivative($t * 0.9, $keep) + $x||pass>>
    """
    )


@fragment("v: vec, x: float -> w: vec", 0.8)
def changed_cotangent_of_a_vector(d: Draft) -> str:
    d.above("$seen = []")
    return (
        KEEPERS
        + """
    $w = ad.<<with_derivative||replace_gradient>>(<<$v||$v * $x||$v.copy()||np.sin($v)||$v[::-1] + 0.0>>, $keep)
    <<$w = $w * $x||$w[0] = $x||$w *= $x||$w = $w[::-1] * $v||$w = ad.with_derivative($w, $keep) + $v||pass>>
    """
    )


@fragment("v: vec, x: float, y: float -> w: vec", 0.8)
def factors_that_cancel(d: Draft) -> str:
    return """
    $scale = 1.5 + <<math.cos($x)||0.0 * $x||np.tanh($y)>>
    $w = ad.with_derivative($v * $x, lambda $ct: $ct * $scale)
    <<$w = 2.0 * $w||pass||$w = np.cos($w)>>
    $w = <<ad.with_derivative($w, lambda $ct: $ct / $scale)||ad.replace_gradient($w, lambda $ct: $ct * (1.0 / $scale))>>
    """


@fragment("p: pair, v: vec -> t: float", 0.6)
def changed_cotangent_of_a_structure(d: Draft) -> str:
    return """
    <<$q = ad.with_derivative($p, lambda $ct: ($ct[0], $ct[1]))
    $t = $q[0] * $q[1]
    ||$q = ad.with_derivative([$p[0], $p[1]], lambda $ct: [0.5 * $e + 0.5 * $e for $e in $ct])
    $t = $q[0] * $q[1]
    ||$q = ad.with_derivative({"a": $p[0], "v": $v * 1.0}, lambda $ct: None)
    $t = $q["a"] * np.sum($q["v"])
    ||$q = ad.with_derivative(($v * 1.0, $p[0]), lambda $ct: $ct)
    $t = $q[1] * np.sum($q[0])>>
    """


@fragment("x: float, v: vec -> t: float", 0.8)
def block_in_the_reverse_sweep(d: Draft) -> str:
    d.above("""
    def $looked(x, v):
        y = <<x * x||math.sin(x)||x * np.sum(v)||x * 1.0>>
        with ad.backward(y) as y_bar:
            <<pass||assert np.isfinite(y_bar)||y_bar = y_bar * 1.0||y_bar = 2.0 * y_bar
            y_bar *= 0.5>>
        return y * x


    """)
    return "    $t = $looked($x, $v) <<+ $looked($0, $v)||>>"


@fragment("v: vec, x: float -> w: vec", 0.8)
def block_in_the_reverse_sweep_of_a_loop(d: Draft) -> str:
    d.above("""
    def $looked(v, x):
        y = v * x
        for i in range(2):
            y = <<y * y * 0.5||np.sin(y) + x||y * v>>
            with ad.backward(y) as y_bar:
                <<assert np.all(np.isfinite(y_bar))||y_bar = y_bar + 0.0||y_bar *= 1.0||norm = np.sum(y_bar)>>
        return y


    """)
    return """
    $w = $looked($v, $x)
    <<$w[0] = $x||$w *= 0.9||pass>>
    """


@fragment("x: float, v: vec -> t: float", 0.8)
def constants_that_cancel(d: Draft) -> str:
    return """
    $c = <<ad.without_derivative($x)||ad.stop_gradient($x)||ad.without_derivative($x, lambda $z: $z * 2.0)>>
    $t = $x * $x + <<0.0 * $c||($c - $c)||ad.without_derivative(round($x, 1)) * 0.0>>
    $u = ad.without_derivative(<<$v||$v * $x||$v[:1]>>)
    $t += np.sum($u - <<$u||ad.without_derivative($u)>>) * $x
    $t += $x + ad.without_derivative($x, lambda $z: float(<<round($z) - round($z)||np.floor($z) - math.floor($z)>>))
    """
