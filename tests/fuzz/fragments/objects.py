"""Less common sides of classes: mixins, cached properties, classes inside functions, objects as keys."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("x: float, y: float -> t: float")
def class_inside(d: Draft) -> str:
    return """
    class $Counter:
        def __init__(self, start):
            self.total = start

        def add(self, z):
            self.total = self.total * $0 + z * <<$x||$y>>
            return self

    $c = $Counter($x).add($y)
    <<$c.add($x).add($0)||$c.total += $y||$c.extra = $y>>
    $t = $c.total <<* $1||+ getattr($c, "extra", $x)>>
    """


@fragment("v: vec, x: float -> t: float")
def cached_property(d: Draft) -> str:
    d.above("""
    class $Stats:
        def __init__(self, data):
            self.data = data
            self._mean = None

        @property
        def mean(self):
            if self._mean is None:
                self._mean = np.mean(self.data)
            return self._mean

        def spread(self):
            return np.sum((self.data - self.mean) ** 2)
    """)
    return """
    $s = $Stats(<<$v||$v * $x||$v.copy()>>)
    $t = $s.spread() * $0
    $s.data[0] <<= $x||*= $0>>
    $t += $s.mean * $x + $s.spread()
    """


@fragment("x: float, v: vec -> t: float")
def mixins(d: Draft) -> str:
    d.above("""
    class $Scaled:
        factor = 2.0

        def value(self, z):
            return self.factor * z


    class $Shifted:
        def value(self, z):
            return super().value(z) + self.shift


    class $Both($Shifted, $Scaled):
        def __init__(self, shift, **kw):
            self.shift = shift
            for name, item in kw.items():
                setattr(self, name, item)
    """)
    return """
    $o = $Both($x<<||, factor=$x * $0||, gain=$0>>)
    $t = $o.value(<<$x||np.sum($v)>>)
    $o.shift, $o.factor = $o.factor, $o.shift
    $t += $o.value($0) * getattr($o, "gain", 0.5)
    """


@fragment("x: float, y: float -> t: float")
def compared_objects(d: Draft) -> str:
    d.above("""
    class $Money:
        def __init__(self, amount, unit="eur"):
            self.amount, self.unit = amount, unit

        def __eq__(self, other):
            return self.unit == other.unit and self.amount == other.amount

        def __lt__(self, other):
            return self.amount < other.amount

        def __bool__(self):
            return self.amount > 0

        def __radd__(self, other):
            return self.amount + other

        def __truediv__(self, other):
            return $Money(self.amount / other, self.unit)

        def __repr__(self):
            return f"{self.amount} {self.unit}"
    """)
    return """
    $a, $b = $Money($x), $Money($y, "usd")
    $least = <<min($a, $b)||sorted([$a, $b])[0]||$a if $a < $b else $b>>
    $t = <<sum([$a, $b])||0 + $a||1.0 + $b / 3.0>> + $least.amount
    if $a <<and $b||== $b||or $b>>:
        $t = $t * $0
    """


@fragment("v: vec, x: float -> t: float")
def records_with_arrays(d: Draft) -> str:
    d.above("""
    @dataclass
    class $Pair:
        w: np.ndarray
        b: float = 0.1

        def __post_init__(self):
            self.scale = 2.0 * self.b

        def apply(self, z):
            return self.w * z + self.b * self.scale


    @dataclass
    class $Net:
        first: $Pair
        rest: list = field(default_factory=list)

        def run(self, z):
            for layer in [self.first, *self.rest]:
                z = np.tanh(layer.apply(z))
            return z
    """)
    return """
    $net = $Net($Pair($v, $x), [$Pair($v * $0), <<$Pair($v)||$Pair(w=$v[::-1], b=$x)>>])
    <<$net.first.w[0] = $x||$net.rest[0].b += $x||$net.first, $net.rest[0] = $net.rest[0], $net.first
    ||$net = replace($net, first=$net.rest[1])||for $l in $net.rest: $l.w *= $0||$net.rest.append($net.first)>>
    $t = np.sum($net.run($v))
    """


@fragment("x: float, v: vec -> t: float")
def with_contextlib(d: Draft) -> str:
    d.above("""
    @contextlib.contextmanager
    def $shifted(a, by):
        a += by
        try:
            yield a
        finally:
            a -= <<by||0.5 * by>>
    """)
    return """
    with $shifted($v, $x) as $w:
        $t = np.sum($w ** 2) * $0
        <<$w *= $0||pass>>
    """


@fragment("x: float, l: list -> t: float")
def delegating_generators(d: Draft) -> str:
    d.above("""
    def $inner(items, k):
        total = 0.0
        for e in items:
            total += e * k
            yield total
        return total


    def $outer(items, k):
        last = yield from $inner(items, k)
        <<yield last * 2.0||for e in $inner(items, last): yield e||yield k>>
    """)
    return """
    $t = <<sum($outer($l, $x))||list($outer($l, $x))[-1]||max($outer($l, $x))>> * $0
    """


@fragment("x: float, v: vec -> t: float")
def cached_function(d: Draft) -> str:
    return """
    $calls = {}
    def $cached($fn):
        def $wrapper($k):
            if $k not in $calls:
                $calls[$k] = $fn($k)
            return $calls[$k]
        return $wrapper
    @$cached
    def $power($k):
        return <<$x if $k == 0 else $power($k - 1) * $x||np.sum($v ** ($k + 1))||$v[$k % $N] * $x>>
    $t = $power(2) + $power(1) * $power(2) + len($calls)
    """


@fragment("v: vec, x: float -> t: float")
def observer(d: Draft) -> str:
    d.above("""
    class $Source:
        def __init__(self):
            self.listeners = []

        def listen(self, fn):
            self.listeners.append(fn)
            return fn

        def send(self, z):
            return [fn(z) for fn in self.listeners]
    """)
    return """
    $got = [$0]
    $src = $Source()
    $src.listen(lambda $z: $z * $x)
    $src.listen($got.append)
    @$src.listen
    def $last($z):
        $got[0] += $z
        return $got[0] * $1
    $t = 0.0
    for $e in $v:
        $t += sum($r for $r in $src.send($e) if $r is not None)
    $t += sum($got)
    """


@fragment("x: float, y: float -> t: float")
def left_by_return(d: Draft) -> str:
    d.above("""
    def $leave(x, y, log):
        try:
            for k in range(4):
                if x > $0:
                    return x * y
                x = x + 0.3 * y * y + 0.1
                log.append(x)
            else:
                <<return y||y = y * 2||pass>>
        finally:
            log.append(<<y||x||x * y>>)
        return x - y
    """)
    return """
    $log = [$0]
    $t = $leave($x, $y, $log)
    $t += sum($log) * len($log)
    """


@fragment("v: vec, x: float -> t: float")
def accumulators(d: Draft) -> str:
    d.above("""
    class $Mean:
        __slots__ = ("n", "mean", "m2")

        def __init__(self):
            self.n, self.mean, self.m2 = 0, 0.0, 0.0

        def push(self, z):
            self.n += 1
            delta = z - self.mean
            self.mean += delta / self.n
            self.m2 += delta * (z - self.mean)

        def __add__(self, other):
            out = $Mean()
            out.n = self.n + other.n
            out.mean = (self.n * self.mean + other.n * other.mean) / out.n
            out.m2 = self.m2 + other.m2
            return out
    """)
    return """
    $p, $q = $Mean(), $Mean()
    for $i, $e in enumerate($v):
        (<<$p if $i % 2 == 0 else $q||$p if $e > 0 or $i == 0 else $q>>).push($e * $x)
    $t = ($p + $q).mean + $p.m2 * $0
    """


@fragment("x: float, y: float -> t: float")
def named_tuple_with_operators(d: Draft) -> str:
    d.above("""
    class $Pair(NamedTuple):
        a: float
        b: float = 1.0

        def __add__(self, other):
            return $Pair(self.a + other.a, self.b * other.b)

        def __mul__(self, factor):
            return $Pair(self.a * factor, self.b + factor)

        __rmul__ = __mul__

        def __neg__(self):
            return $Pair(-self.a, self.b)
    """)
    return """
    $p = <<$Pair($x, $y)||$Pair($x)||-$Pair($y, $x)>>
    for $i in range(<<1||3>>):
        $p = <<$p + $Pair($y, $0)||$p * $x||$0 * $p + $p>>
    $u, $v = $p
    $t = <<$u * $v||$p.a + $p[1]||sum([$p, $p], $Pair($0)).a>>
    """


@fragment("l: list, x: float -> t: float")
def linked_by_loops(d: Draft) -> str:
    d.above("""
    class $Node:
        def __init__(self, value, after=None):
            self.value, self.after = value, after
    """)
    return """
    $head = None
    for $e in $l:
        $head = $Node($e * $x, $head)
        <<$head.value *= $0||pass>>
    $t, $node = 0.0, $head
    while $node is not None:
        <<$t += $node.value * $x||$t = $t * $0 + $node.value>>
        <<pass||$node.value = $t>>
        $node = $node.after
    <<$t += $head.value if $head is not None else $x||pass>>
    """


@fragment("v: vec, x: float -> t: float")
def heap_of_trees(d: Draft) -> str:
    d.above("""
    class $Tree:
        def __init__(self, weight, left=None, right=None):
            self.weight, self.left, self.right = weight, left, right
    """)
    return """
    $heap = []
    for $i, $e in enumerate($v):
        heapq.heappush($heap, (<<$e * $e||$e * $x||abs($e)>>, $i, $Tree($e * $x)))
    $k = $N
    while len($heap) > 1:
        $a, _, $l = heapq.heappop($heap)
        $b, _, $r = heapq.heappop($heap)
        heapq.heappush($heap, ($a <<+ $b||+ $0 * $b||* $b>>, $k, $Tree($l.weight * $0 + $r.weight, $l, $r)))
        $k += 1
    $t, $node = 0.0, $heap[0][-1]
    while $node is not None:
        $t = $t * $1 + $node.weight
        $node = $node.<<left||right>>
    """
