"""Functions and the ways to call them."""

from __future__ import annotations

from fuzz.fragments.draft import MAKERS, Draft, fragment

MAKERS["function"] = [
    "$new = lambda z: math.sin(z) * $x",
    "def $new(z, k=$x):\n    return np.tanh(z * k) + $0",
    "$new = functools.partial(lambda a, b: a * b + $0, $x)",
]


@fragment("v: vec, l: list, p: pair, x: float -> t: float")
def star_arguments(d: Draft) -> str:
    d.above("""
    def $poly(first, *rest, scale=1.0):
        total = first
        for k, c in enumerate(rest):
            total = total + c * scale ** (k + 1)
        return total
    """)
    return """
    $t = $poly(*<<$v||$l||$p||($x, $0)||[$x, *$p]>><<, scale=$x||, **{"scale": $x}||>>)
    """


@fragment("s: dict, x: float -> t: float")
def keyword_arguments(d: Draft) -> str:
    d.above("""
    def $model(x, /, a=0.3, *, b=0.2, **rest):
        total = a * x + b * x ** 2
        for name, c in rest.items():
            total += c * len(name)
        return total
    """)
    return """
    $t = <<$model($x, **$s)||$model($x, b=$x)||$model($0, $x, b=$s["b"])||$model($x, **{**$s, "extra": $0})
        ||$model($x, **dict($s, b=$x))>>
    """


@fragment("x: float, y: float -> t: float")
def decorated(d: Draft) -> str:
    d.above("""
    def $scaled(factor):
        def decorate(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                return factor * fn(*args, **kwargs)
            return wrapper
        return decorate


    @$scaled($0)
    def $curve(x, y=0.5):
        return math.sin(x) + y * x
    """)
    return """
    $t = $curve(<<$x, $y||$x||$x, y=$y||y=$x, x=$y>>) * $1
    """


@fragment("x: float, y: float -> t: float")
def partial(d: Draft) -> str:
    d.above("""
    def $blend(a, b, weight=0.5):
        return a * weight + b * (1 - weight)
    """)
    return """
    $f = functools.partial($blend, <<$x||$x, weight=$y>>)
    $t = <<$f($y)||$f(b=$x)||$f($0)>>
    """


@fragment("x: float, v: vec -> t: float")
def recursion(d: Draft) -> str:
    d.above("""
    def $down(x, n):
        if n == 0:
            return <<x||1.0||x * 0.5>>
        if n % 2:
            return x * $down(x, n - 1)
        half = $down(x * $0, n // 2)
        return half * <<half||x + half>>


    def $total(a):
        if len(a) == 1:
            return a[0]
        m = len(a) // 2
        return $total(a[:m]) * $0 + $total(a[m:])
    """)
    return """
    $t = $down($x, <<3||4||5>>) + <<$total($v)||$total(list($v))||$total([$x, $0, $x])>>
    """


@fragment("x: float -> t: float")
def mutual_recursion(d: Draft) -> str:
    d.above("""
    def $even(x, n):
        return x if n <= 0 else $odd(x * $0 + 0.1, n - 1)


    def $odd(x, n):
        return math.sin(x) if n <= 0 else $even(x * x, n - 1)
    """)
    return """
    $t = $even($x, <<2||3||4>>)
    """


@fragment("x: float, y: float -> t: float")
def dispatch_table(d: Draft) -> str:
    return """
    $table = {"add": lambda $a, $b: $a + $b, "mul": operator.mul, "sin": lambda $a, $b: math.sin($a) * $b}
    $t = $x
    for $name in <<("add", "mul", "sin")||["sin", "add"]||$table||sorted($table, reverse=True)>>:
        $t = $table[$name]($t, $y)
    """


@fragment("v: vec, x: float -> t: float, w: vec")
def several_results(d: Draft) -> str:
    d.above("""
    def $stats(a, k):
        m = np.mean(a)
        <<return m, a - m, {"k": k * m}||return (m * k, a * k, dict(k=m))>>
    """)
    return """
    $t, $w, $info = $stats($v, $x)
    $t += $info["k"] * $0
    """


@fragment("x: float, f: function -> t: float, g: function")
def composed(d: Draft) -> str:
    return """
    def $then(*$fs):
        def $run($z):
            for $each in $fs:
                $z = $each($z)
            return $z
        return $run
    $g = $then($f, lambda $z: $z * $0, <<math.sin||np.tanh||$f||abs>>)
    $t = $g($x)
    """


@fragment("x: float, y: float -> t: float")
def operator_module(d: Draft) -> str:
    return """
    $t = <<operator.add($x, $y)||operator.mul($x, $y)||operator.truediv($x, 1.0 + $y * $y)
        ||operator.itemgetter(1)([$x, $y])||operator.neg($x)||operator.pow(abs($x) + 0.1, $y)
        ||sum(map(operator.mul, [$x, $0], [$y, $x]))||pow($x, 2)||divmod($x, 1.5)[1]>>
    """


@fragment("v: vec, x: float -> t: float")
def early_exit(d: Draft) -> str:
    d.above("""
    def $first(items, limit):
        total = 0.0
        for i, e in enumerate(items):
            if e > limit:
                return total + e * (i + 1)
            total += e * $0
            if total < -1.5:
                <<return total||break||continue>>
        else:
            total = total * limit
        return total
    """)
    return """
    $t = $first(<<$v||list($v)||$v * $x>>, <<$0||$x>>)
    """


@fragment("x: float, y: float -> g: function, t: float")
def nested_closures(d: Draft) -> str:
    return """
    def $outer($a):
        $b = $a * $x
        def $middle($c):
            def $inside($e):
                return $a * $e + $b * $c + $y
            return $inside
        <<$b = $b + $0||$a *= $0||pass>>
        return $middle($b)
    $g = $outer($y)
    $t = $g($0) + $outer($0)($x)
    """


@fragment("o: object, v: vec -> t: float")
def bound_methods(d: Draft) -> str:
    return """
    $m = $o.energy
    <<$o.u = $o.u * $0||$o.v = $v||$o.kick($0)>>
    $t = $m() + sum($fn() for $fn in [$m, $o.energy]) * $1
    """


@fragment("x: float, v: vec -> t: float")
def optional_argument(d: Draft) -> str:
    d.above("""
    def $loss(a, scale, weights=None, bias=None):
        if weights is None:
            weights = np.ones(len(a))
        total = np.sum(weights * a) * scale
        return total if bias is None else total + bias
    """)
    return """
    $t = $loss($v, $x<<||, $v||, weights=$v * $x||, bias=$x||, None, $x||, weights=None>>)
    """


@fragment("x: float, f: function -> t: float")
def function_applied_repeatedly(d: Draft) -> str:
    return """
    def $iterate($fn, $z, $n):
        return $z if $n == 0 else $iterate($fn, $fn($z), $n - 1)
    $t = $iterate($f, $x, <<2||3>>) + $iterate(lambda $z: $z * $0, $f($x), 2)
    """


@fragment("v: vec, x: float -> t: float")
def callback(d: Draft) -> str:
    return """
    $seen = []
    def $watch($k, $a):
        $seen.append(<<$a[0]||np.sum($a)||$a||$a.copy()>>)
        return $k >= 2
    $w = $v * $0
    for $k in range(9):
        $w <<*= $x||= $w * $x||+= $x>>
        if $watch($k, $w):
            break
    $t = sum(np.sum($e) for $e in $seen) * $1
    """
