"""State that is kept in dicts, lists and closures."""

from __future__ import annotations

from fuzz.fragments.draft import MAKERS, Draft, fragment

MAKERS["dict"] = [
    '$new = {"a": $x, "b": $0}',
    "$new = dict(a=$x * $0, b=np.sum($v))",
    '$new = {key: $x * k for k, key in enumerate(("a", "b"), 1)}',
    '$new = dict(zip(["a", "b"], [$x, $y]))',
]
MAKERS["list"] = [
    "$new = [$x, $0, $x * $y]",
    "$new = list($v)",
    "$new = $v.tolist()",
    "$new = [$0 * $e for $e in $v]",
    "$new = [$x] * 2",
]


@fragment("v: vec, x: float -> t: float, w: vec")
def state_dict_stepped(d: Draft) -> str:
    return """
    $s = {"x": <<$v.copy()||$v||np.array($v)>>, "t": $x, "n": 0}
    while $s["n"] < 3:
        $s["x"] = $s["x"] + $0 * np.sin($s["x"] * $s["t"])
        $s["t"] *= $1
        $s["n"] += 1
    $t, $w = $s["t"], $s["x"]
    """


@fragment("x: float, v: vec -> t: float")
def function_with_attributes(d: Draft) -> str:
    return """
    def $f(z):
        $f.calls += 1
        <<$f.last = z * $f.calls||if not hasattr($f, "big"): pass||$f.last = $f.last * $0 + z>>
        return z * z * $f.calls

    $f.calls, $f.last = <<0||1||2>>, $x * $1
    $t = $f($x) + sum($f(e) for e in $v)
    for $i in range($N):
        if $i % 2:
            $t += $f($t * 0.1) * $f.last
    $t = $t * $f.calls + $f.last
    """


@fragment("x: float, v: vec -> t: float")
def class_with_attributes(d: Draft) -> str:
    return """
    class $C:
        made = 0
        total = 0.0

        def __init__(self, value):
            <<$C||type(self)||self.__class__>>.made += 1
            $C.total = $C.total + value * $C.made
            self.value = value

    $t = 0.0
    for $e in $v:
        $t += $C($e * $x).value * <<$C.made||$C.total>>
    if $x > $0:
        $C.made += 5
    $t = $t + $C.total * $C.made
    """


@fragment("s: dict, x: float")
def dict_written(d: Draft) -> str:
    return """
    $s["a"] += $x * $0
    <<$s["b"] *= np.cos($x)||$s["b"] = $s["b"] - $x||$s["a"], $s["b"] = $s["b"], $s["a"]>>
    """


@fragment("s: dict, x: float -> m: dict, t: float")
def dicts_merged(d: Draft) -> str:
    return """
    $m = <<{**$s, "c": $x}||dict($s, c=$x)||$s | {"c": $x}||$s.copy()||{"c": $x, **$s}>>
    $m.update(<<b=$x * $0||{"b": $x * $0}>>)
    <<$s["a"] = $0||$m["a"] += $x>>
    $t = sum($m.values()) - $s["a"]
    """


@fragment("s: dict, x: float -> t: float")
def dict_asked(d: Draft) -> str:
    return """
    $t = $s.get("a", 0.0) + $s.get("zz", $x)
    $q = $s.setdefault(<<"a"||"extra">>, $x * $0)
    if "extra" in $s:
        $t = $t * $q + $s.pop("extra")
    """


@fragment("v: vec, w: vec, x: float -> t: float")
def dict_of_parameters(d: Draft) -> str:
    return """
    $p = {"weight": $v, "bias": <<$w||$w[::-1]||$w.copy()||$v>>}
    for $key in $p:
        $p[$key]<<[0]||[:]||[-1]>> *= $0
    for $key, $a in $p.items():
        $a -= $1 * <<np.cos($a)||$a||$x>>
    $t = np.sum($p["weight"] * $p["bias"])
    """


@fragment("x: float, y: float -> t: float")
def nested_settings(d: Draft) -> str:
    return """
    $c = {"opt": {"rate": $x, "steps": 3}, "weights": [$y, $0], "name": "run"}
    $c["opt"]["rate"] *= $1
    $c["weights"][1] = $c["opt"]["rate"] + $c["weights"][0]
    $t = 0.0
    for $k in range($c["opt"]["steps"]):
        $t = $t + $c["opt"]["rate"] * $c["weights"][$k % 2]
    """


@fragment("x: float, y: float -> t: float, g: function")
def closure_counts(d: Draft) -> str:
    return """
    $acc = $x
    def $g($z):
        nonlocal $acc
        $acc = $acc * $0 + np.tanh($z)
        return $acc
    $t = $g($y) + $g($x) <<* $acc||- $acc||+ $0>>
    """


@fragment("x: float, v: vec -> h: list")
def closure_records(d: Draft) -> str:
    return """
    $h = [$0]
    def $rec($z):
        $h.append(<<$z||$z * $h[-1]>>)
        return $z * $1
    for $e in $v:
        $rec($e + $x)
    """


@fragment("x: float -> t: float")
def memo_dict(d: Draft) -> str:
    return """
    $memo = {0: <<$0||$x>>, 1: $x}
    def $fib($k):
        if $k not in $memo:
            $memo[$k] = <<$fib($k - 1) * $1 + $fib($k - 2)||np.sin($fib($k - 1)) + $fib($k - 2)>>
        return $memo[$k]
    $t = $fib(<<4||5||6>>) + len($memo)
    """


@fragment("x: float, v: vec -> t: float")
def memo_of_arrays(d: Draft) -> str:
    return """
    $cache = {}
    def $basis($k):
        if $k in $cache:
            return $cache[$k]
        $cache[$k] = np.ones($N) * $0 if $k == 0 else $v * $basis($k - 1)
        return $cache[$k]
    $t = $x * np.sum($basis(2)) + np.sum($basis(1) * $basis(<<2||3>>))
    """


@fragment("x: float, y: float -> t: float")
def default_mutable_argument(d: Draft) -> str:
    return """
    def $push($z, $kept=<<[]||[$0]||None>>):
        $kept = [] if $kept is None else $kept
        $kept.append($z * $0)
        return sum($kept)
    $t = $push($x) + $push($y) * $push($x * $y)
    """


@fragment("x: float, y: float -> t: float")
def closures_from_a_loop(d: Draft) -> str:
    return """
    $fs = []
    for $k in range(3):
        $fs.append(<<lambda $z: $z * $k + $x||lambda $z, $k=$k: $z * $k + $x
        ||functools.partial(operator.mul, $x * $k)>>)
    $t = sum($f($y) for $f in $fs)
    """


@fragment("v: vec, x: float -> t: float")
def string_keys(d: Draft) -> str:
    return """
    $p = {f"w{$i}": $e * $0 for $i, $e in enumerate($v)}
    $p["w0"] <<+=||*=>> $x
    for $i in range(1, len($p)):
        $p[f"w{$i}"] += $p["w" + str($i - 1)] * $1
    $t = $p[f"w{len($p) - 1}"] + sum($p[$k] for $k in sorted($p))
    """


@fragment("v: vec, x: float -> s: dict")
def default_dict(d: Draft) -> str:
    return """
    $acc = collections.defaultdict(float)
    for $i, $e in enumerate($v):
        $acc["a" if $i % 2 == 0 else "b"] += $e * <<$x||$0>>
    $s = {"a": $acc["a"], "b": $acc["b"]}
    """


@fragment("l: list, x: float -> t: float")
def groups(d: Draft) -> str:
    return """
    $g = {}
    for $e in $l:
        $g.setdefault(<<"pos" if $e > $0 else "neg"||$e > 0||int($e > $0)>>, []).append($e * $x)
    $t = 0.0
    for $items in $g.values():
        $t += sum($items) / len($items)
    """


@fragment("v: vec, x: float -> t: float, p: vecs")
def history_of_states(d: Draft) -> str:
    return """
    $w = $v * $0
    $p = [$w]
    for $k in range(2):
        $w = <<$w * $x||$w + $x * np.sin($w)||$w.copy()>>
        $w[$k % $N] += $1
        $p.append(<<$w||$w.copy()||$w[:]>>)
    $t = sum(np.sum($a) * ($i + 1) for $i, $a in enumerate($p))
    """


@fragment("x: float, y: float -> t: float")
def two_numbers_swapped(d: Draft) -> str:
    return """
    $a, $b = $x, $y
    for $k in range(<<2||3>>):
        $a, $b = $b, $a * $0 + <<$b||np.sin($b)>>
    $t = $a - $0 * $b
    """


@fragment("s: dict")
def dict_items_rewritten(d: Draft) -> str:
    return """
    for $k, $e in <<$s.items()||list($s.items())||zip($s.keys(), $s.values())>>:
        $s[$k] = <<$e * $0||math.tanh($e)||$e + $s["a"]>>
    """


@fragment("x: float, v: vec -> t: float")
def constant_above(d: Draft) -> str:
    d.above("""
    $SETTINGS = {"scale": $0, "offsets": [$1, $2], "table": np.linspace(0.1, 0.9, $N)}
    """)
    return """
    $t = $x * $SETTINGS["scale"] + sum($SETTINGS["offsets"])
    $t += np.sum($SETTINGS["table"] * $v)
    """


@fragment("v: vec, x: float -> t: float")
def tuple_keys(d: Draft) -> str:
    return """
    $grid = {}
    for $i in range(2):
        for $j in range($N):
            $grid[$i, $j] = $v[$j] * ($i + $x)
    $grid[0, 0] += $grid[1, $N - 1]
    $t = sum($grid.get(($i, $i), $0) for $i in range(3))
    """


@fragment("v: vec, x: float -> t: float, s: dict")
def tree_of_state(d: Draft) -> str:
    return """
    def $scaled($node, $z):
        if isinstance($node, dict):
            return {$k: $scaled($e, $z) for $k, $e in $node.items()}
        if isinstance($node, list):
            return [$scaled($e, $z) for $e in $node]
        return $node * $z
    $tree = $scaled({"a": $x, "b": $0, "c": [<<$v||$v[1:]>>, $x]}, $1)
    $s = {"a": $tree["a"], "b": $tree["b"]}
    $t = np.sum($tree["c"][0]) * $tree["c"][1]
    """


@fragment("v: vec, x: float -> t: float")
def two_names_of_one_dict(d: Draft) -> str:
    return """
    $one = {"m": $v.copy(), "k": $x}
    $two = <<$one||dict($one)||{**$one}>>
    $two["m"] <<*=||+=>> $0
    $two["k"] = $two["k"] * $1
    $t = $one["k"] * np.sum($one["m"]) + $two["k"]
    """
