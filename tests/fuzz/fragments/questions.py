"""What programs ask of values: their classes, their attributes as a dict, whether they are equal; what they print."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("x: float, y: float, v: vec -> t: float")
def classes_asked(d: Draft) -> str:
    return """
    $c = <<collections.deque([$x, $y])||collections.defaultdict(float, a=$x)||collections.OrderedDict(a=$x, b=$y)
        ||{"a": $x}||[$x, $y]||($x, $y)||$v||$x||np.float64($0)||None>>
    $k = <<isinstance($c, dict)||isinstance($c, (list, collections.deque))||type($c) is dict||hasattr($c, "keys")
        ||type($c).__name__ in ("dict", "deque")||isinstance($c, collections.OrderedDict)||$c.__class__ is tuple
        ||callable($c)||isinstance($c, (float, np.ndarray))||issubclass(type($c), dict)||$c is None>>
    $t = $x * $0 if $k else $y * $1
    """


@fragment("x: float, y: float -> t: float")
def containers_compared(d: Draft) -> str:
    return """
    $a = <<collections.deque([$x, $y])||collections.OrderedDict(a=$x, b=$y)||collections.defaultdict(float, a=$x)
        ||{"a": $x, "b": $y}||[$x, $y]||($x, $y)>>
    $b = <<collections.deque([$x, $y])||collections.OrderedDict(b=$y, a=$x)||collections.defaultdict(list, a=$x)
        ||{"b": $y, "a": $x}||[$x, $y]||($x, $0)>>
    $t = $x * (<<$a == $b||$a != $b||$b == $a||bool($a)||$a is $b||len($a) == len($b)>>) + $y
    """


@fragment("v: vec, x: float -> t: float, m: dict")
def ordered_dict(d: Draft) -> str:
    return """
    $o = collections.OrderedDict((f"k{$i}", $e * $0) for $i, $e in enumerate($v))
    <<$o.move_to_end("k0")||$o.move_to_end("k1", last=False)||$o["k0"] = $o.pop("k0")||$o.update(k1=$x)>>
    $key, $first = $o.popitem(last=<<False||True>>)
    $t = $first * $x + sum(($i + 1) * $e for $i, $e in enumerate($o.values()))
    $m = <<dict($o, a=$x, b=$t)||{**$o, "a": $x, "b": $t}||{"a": $t, "b": $first}>>
    """


@fragment("x: float, y: float, v: vec -> t: float")
def attributes_as_a_dict(d: Draft) -> str:
    d.above("""
    class $Bunch:
        def __init__(self, **named):
            <<self.__dict__.update(named)||vars(self).update(named)||self.__dict__.update(**named)>>
    """)
    return """
    $s = $Bunch(a=$x, b=$y * $0)
    $table = <<vars($s)||$s.__dict__||vars($s).copy()||dict(vars($s))>>
    <<$s.a *= $1||$table["a"] += $y||$s.c = $x||vars($s)["b"] = $x * $y||pass>>
    <<for $name, $e in vars($s).items(): $s.b = $s.b + $e * $0
        ||for $name in vars($s): setattr($s, $name, getattr($s, $name) * $0)
        ||for $name, $e in list($s.__dict__.items()): $s.__dict__[$name] = $e + $x>>
    $t = <<sum($table.values())||sum(vars($s).values())||$s.a * $s.b + $table["a"]||$table.get("c", $x) * $s.b
        ||(lambda a, b, **others: a * b)(**vars($s))||len($table) * $s.a>>
    """


@fragment("v: vec, x: float -> t: float")
def printed_items(d: Draft) -> str:
    d.above("import io")
    return """
    $out = io.StringIO()
    <<print(*$v.shape, *$v.astype(int), file=$out)||print("v:", *(f"{$e:+.2f}" for $e in $v), sep=", ", file=$out)
        ||$out.write(", ".join(f"{$e:+.1f}" for $e in $v) + chr(10))||print(*range(len($v)), end=";", file=$out)
        ||print("{:+.2f}".format($x), "%+.1f" % $x, file=$out)||print(*zip(range($N), "abc"), file=$out)>>
    $t = $x * $0 + len($out.getvalue()) * 0.01
    """


@fragment("x: float, y: float -> t: float")
def told_by_an_exception(d: Draft) -> str:
    return """
    $t = $x
    try:
        if $x <<> -100.0||> 0.0>>:
            raise <<ValueError(f"bad {$N}", $y)||RuntimeError("at", $N)||KeyError("k")||ArithmeticError($x * $y)>>
        $t = $t * $0
    except (ValueError, RuntimeError, LookupError, ArithmeticError) as $problem:
        $t = $t + $y * <<len($problem.args)||$0||(2.0 if isinstance($problem, ValueError) else 1.0)
            ||("bad" in str($problem))||float("1.5")||$problem.args[0] if False else 1.0>>
    """


@fragment("x: float, y: float, v: vec -> t: float")
def what_may_be_none(d: Draft) -> str:
    """One of several structures that is None, or not, by data that nobody looks into."""
    return """
    $texts = json.loads(<<"[null]"||'["a"]'||'["a", null]'||'[null, "a"]'||"[]"||"[null, null]">>)
    $found = <<($x, $y)||[$x]||$x||None||$v||{"a": $x}>>
    for $e in $texts:
        <<$found = $e||$found = $e or $found||$found = $e if $e is None else $found>>
    <<if $found is None: $t = $x * $0
    else: $t = $y * $1
    ||if $found is not None and $x > $0: $t = $x * $0
    else: $t = $y * $1
    ||$t = $x * $0 if $found == None else $y * $1
    ||$t = $x * $0 if not ($found is None) else $y * $1
    ||$t = $x
    while $found is None:
        $found = $y
        $t = $t * $0
    ||$t = $x * $0 if ($c := $found) is not None else $y * $1
    ||match $found:
        case None: $t = $x * $0
        case _: $t = $y * $1>>
    """
