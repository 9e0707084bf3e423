"""Loops of which few states are kept, and calls of which only the arguments are: the rest runs again."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, around, fragment

KEEPING = "snapshots=<<1||2||3>>"


@fragment("x: float, y: float -> t: float", 0.8)
def checkpointed_numbers(d: Draft) -> str:
    return f"""
    $t, $u = $x, 0.1
    for $i in ad.checkpointed(range(<<4||$N||1||0||2, 6>>), {KEEPING}):
        <<if $t > 0.9: break||if $t > 0.9: continue||pass>>
        $u = $u + $y * <<$t||$i>>
        $t = <<math.sin($t) * $y||$t * $y + $x||0.5 * $t * $t + $u>> + 0.1
        <<if $t > $0:
            $t = $t * 0.5||pass>>
    $t = $t + $u
    """


@fragment("v: vec, x: float -> w: vec", 0.8)
def checkpointed_vectors(d: Draft) -> str:
    return f"""
    $w = <<$v * 1.0||$v||np.sin($v)>>
    <<$m = np.zeros_like($v)||$m = $v * 0.1||$m = $v>>
    for $i in ad.checkpointed(range(<<3||5||$N>>), {KEEPING}):
        <<$m = 0.9 * $m + 0.1 * $w||$m += 0.1 * $w||$m[$i % $N] += $w[0] * $x||$m[:] = 0.5 * $m>>
        $w = <<$w - 0.1 * $m||np.roll($w, 1) * $x + $m||np.tanh($w + $m) * 0.8>>
        <<$w[0] = $x||$w *= 0.9||pass>>
    $w = $w <<+ $m||>>
    """


@fragment("v: vec, x: float -> t: float", 0.7)
def checkpointed_over_items(d: Draft) -> str:
    return """
    $t = $x
    $seen = []
    for <<$e in ad.checkpointed($v, snapshots=2)||$i, $e in ad.checkpointed(list(enumerate($v)), snapshots=1)
    ||$e in ad.checkpointed([0.3, $x, 0.7], snapshots=1)>>:
        $t = <<$t * $e + $x||math.sin($t + $e)||$t + $e * $e>>
        <<$seen.append($t)||pass>>
    $t += <<sum($seen)||len($seen) * $x>>
    """


@fragment("x: float, y: float -> t: float", 0.7)
def checkpointed_while(d: Draft) -> str:
    return f"""
    $t, $k = $x, 0
    while ad.checkpointed(<<$k < 4||$t < 1.5 and $k < 6||abs($t) < 2.0 and $k < 5>>, {KEEPING}):
        $k += 1
        $t = $t * <<1.3||$y||math.cos($t)>> + 0.1
    """


@fragment("v: vec, x: float -> w: vec", 0.8)
def checkpointed_call(d: Draft) -> str:
    d.above("""
    def $layer(v, k<<=0.7||>>):
        <<for _ in range(2):
            v = np.tanh(v * k)
        return v||u = v * k
        u[0] = k
        return u||return v * k + np.sum(v)||if k > 0.3:
            return np.sin(v)
        return v * k>>


    """)
    return """
    $w = ad.checkpoint($layer)(<<$v||$v * 2.0>>, $x)
    <<$w = ad.checkpoint($layer)($w, $x)||$w = $layer($w, 0.5)||$w[0] = $x||$w *= $x||pass>>
    """


@around("x: float", 0.6)
def checkpointed_around(d: Draft) -> str:
    return f"""
    for $i in ad.checkpointed(<<range(2)||range(3)||(0, 1)>>, {KEEPING}):
        $BODY
    """


@around("x: float, y: float -> t: float", 0.5)
def checkpointed_call_around(d: Draft) -> str:
    return """
    def $g($inner):
        nonlocal
        $BODY
        return $inner * $0 + $x
    $t = ad.checkpoint($g)($x) <<+ ad.checkpoint($g)($y)||>>
    """
