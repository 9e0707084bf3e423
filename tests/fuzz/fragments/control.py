"""Branches, exceptions, and what stands around other fragments."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, around, fragment


@fragment("p: pair, x: float, l: list -> t: float")
def match_statement(d: Draft) -> str:
    return """
    match <<$p||$l||("scale", $x)||{"kind": "add", "by": $x}||[$x, $0, $p]>>:
        case ($a, $b) if <<$b > -5||True>>:
            $t = $b * $0 if isinstance($a, str) else $a * $b
        case [$a, *$rest]:
            $t = $x + len($rest)
        case {"kind": "add", "by": $z}:
            $t = $z + $x
        case _:
            $t = $x * $x
    """


@fragment("s: dict, x: float -> t: float")
def lookup_that_fails(d: Draft) -> str:
    return """
    try:
        $t = $s[<<"a"||"missing">>] * $x
        $s["b"] = $t
        <<$t += $s["none"]||pass>>
    except <<KeyError||(KeyError, IndexError)||Exception||LookupError as $err>>:
        $t = $x + $0 + $s["b"]
    """


@fragment("x: float, l: list -> t: float")
def exceptions_raised(d: Draft) -> str:
    d.above("""
    class $Bad(Exception):
        pass


    def $checked(z):
        if z > $0:
            raise <<$Bad("too large")||ValueError("too large")||$Bad(z)>>
        return z * 2.0
    """)
    return """
    $t = 0.0
    for $e in $l:
        try:
            $t += $checked($e) * $x
        except ($Bad, ValueError):
            <<$t -= $0 * $e||continue||$t = $t * $1>>
        <<else||finally>>:
            $t += $1
    """


@fragment("v: vec, x: float")
def finally_writes(d: Draft) -> str:
    return """
    $old = $v<<.copy()||[0]||[:1].copy()>>
    try:
        $v <<*= $x||[0] = $x||+= 1.0>>
        $r = np.sum($v)
    finally:
        $v[0] = <<np.ravel($old)[0]||$x||$r>>
    """


@fragment("x: float, y: float -> t: float")
def conditional_expressions(d: Draft) -> str:
    return """
    $t = <<$x if $y > 0 else $y||$x * $y if -1 < $x < 0.4 else $x + $y
        ||max($x, $y) if $x * $y > 0 else min($x, $y)||($x > 0) * $y + ($x <= 0) * $x||$x and $y||$x or $y
        ||(not $x) + $y * $x||abs($x) if $x < 0 else $x ** 2>>
    $t += <<1 if $t > 0 else 0||$0||bool($t > $x)>>
    """


@fragment("x: float, v: vec, l: list -> t: float")
def by_type(d: Draft) -> str:
    d.above("""
    def $size(z):
        if isinstance(z, (int, float)):
            return z * $0
        if isinstance(z, np.ndarray):
            return np.sum(z)
        if isinstance(z, str):
            return len(z)
        return sum($size(e) for e in z)
    """)
    return """
    $t = $size($x) * $0 + $size($v) + $size(<<$l||($x, $v)||[$l, "ab"]||["abc", $x]>>)
    """


@fragment("x: float, v: vec -> t: float")
def printing(d: Draft) -> str:
    return """
    $name = f"<<{$x:.3f}||n={len($v)}||value {$N}||{'a' * 2!r}>>"
    $info = <<"%s" % $name||$name + "!"||"-".join(["a", "b"])||str(len($v))||repr("x")||"{} {}".format($name, 2)>>
    <<assert len($info) >= 0, $info||assert $v.ndim == 1||pass>>
    $t = $x * len($info) * 0.05 <<if $info else 0.0||+ $0 * $info.count("a")>>
    """


@fragment("v: vec, x: float -> t: float")
def best_so_far(d: Draft) -> str:
    return """
    $best, $where = <<None||-math.inf||float("-inf")>>, -1
    for $i, $e in enumerate($v):
        $score = $e * $x - $0 * $e ** 2
        if <<$where < 0 or $score > $best||$best is None or $score > $best||$i == 0 or $score >= $best>>:
            $best, $where = $score, $i
    $t = $best + $where
    """


@fragment("x: float, y: float -> t: float")
def flags(d: Draft) -> str:
    return """
    $done, $k, $t = False, 0, $x
    while not $done:
        $t = $t * <<$0||$y>> + 0.1
        $k += 1
        $done = $k > 3 or abs($t) > <<1.5||$1>>
    if $done and $k % 2 == 0:
        $t = $t - $y
    """


@fragment("x: float, y: float -> t: float")
def state_machine(d: Draft) -> str:
    return """
    $state, $t = "start", $x
    for $k in range(5):
        if $state == "start":
            $t, $state = $t * $0 + $y, "run"
        elif $state == "run":
            $t = math.sin($t)
            $state = "stop" if $t > $1 else "start"
        else:
            $t += $y
            break
    """


@fragment("x: float, v: vec -> t: float")
def context_manager(d: Draft) -> str:
    d.above("""
    class $Scaled:
        def __init__(self, a, s):
            self.a, self.s = a, s

        def __enter__(self):
            self.a *= self.s
            return self.a

        def __exit__(self, kind, value, trace):
            self.a /= self.s
            return False
    """)
    return """
    with $Scaled($v, 1.0 + $x * $x) as $w:
        $t = np.sum($w * $w) * $0
        <<$w[0] = $x||pass>>
    """


@fragment("x: float, v: vec -> w: vec")
def deleted_and_defined_again(d: Draft) -> str:
    return """
    $w = $v * $x
    $a = $w
    <<del $w||$w = None||$w = 0.0>>
    $w = $a <<+ $0||[::-1]||>>
    """


@fragment("x: float, l: list -> t: float")
def defined_in_branches(d: Draft) -> str:
    return """
    if $x > <<0||$0||-5>>:
        $f = lambda $z: $z * $x
        $items = $l
    else:
        def $f($z):
            return $z + $x
        $items = [$x, $0]
    $t = sum($f($e) for $e in $items)
    """


# --- around others ---


@around("x: float", 2)
def loop_around(d: Draft) -> str:
    return """
    for $i in <<range(2)||(0, 1)||range(1, 3)||[0.3, 0.6]>>:
        $BODY
    """


@around("x: float")
def while_around(d: Draft) -> str:
    return """
    $k = 0
    while $k < 2:
        $k += 1
        $BODY
        <<if $k == 5: break||pass>>
    """


@around("x: float, y: float", 2)
def branch_around(d: Draft) -> str:
    return """
    if <<$x > $y||$x < 0||$x > -9||$x * $y > 0 and $x < 2||not $x > $0>>:
        $BODY
    <<else||elif $y > 0>>:
        $n = 0
    """


@around("x: float")
def try_around(d: Draft) -> str:
    return """
    try:
        $BODY
    except <<ValueError||(ValueError, KeyError)||ArithmeticError||Exception as $err>>:
        $n = 1
    """


@around("x: float")
def finally_around(d: Draft) -> str:
    return """
    try:
        $BODY
    finally:
        $n = 0
    """


@around("x: float, y: float -> t: float", 2)
def function_around(d: Draft) -> str:
    return """
    def $g($inner):
        nonlocal
        $BODY
        return $inner * $0 + $x
    $t = $g($x) <<+ $g($y)||>>
    """


@around("x: float, l: list -> t: float")
def generator_around(d: Draft) -> str:
    return """
    def $g():
        nonlocal
        for $inner in $l[:2]:
            $BODY
            yield $inner * $0
    $t = 0.0
    for $e in $g():
        $t += $e * $x
    """


@around("x: float, v: vec -> t: float")
def loop_over_elements_around(d: Draft) -> str:
    return """
    $t = 0.0
    for $inner in $v[:2]:
        <<if $inner > 0.8: continue||if $t > 3: break||pass>>
        $BODY
        $t += $inner * $x
    """


@around("x: float, y: float -> t: float")
def early_return_around(d: Draft) -> str:
    return """
    def $g($inner):
        nonlocal
        if $inner > $0:
            return $inner * $x
        $BODY
        return $inner + $y
    $t = $g($x) * $g($y)
    """
