"""Classes: operators, properties, inheritance, objects that hold arrays and others that change them."""

from __future__ import annotations

from fuzz.fragments.draft import MAKERS, Draft, fragment

METHODS = """
    def energy(self):
        return 0.5 * np.sum(self.v * self.v) + np.sin(self.u)

    def kick(self, dt):
        self.u = self.u + dt * np.sum(self.v)
        self.v{store} {op} dt * np.cos(self.v{store})
        return self
"""
CLASSES = [
    "class Body:\n    def __init__(self, u, v):\n        self.u = u\n        self.v = v\n"
    + METHODS.format(store="", op="+="),
    "@dataclass\nclass Body:\n    u: float\n    v: np.ndarray\n" + METHODS.format(store="[1:]", op="*="),
    "class Body:\n    __slots__ = ('u', 'v')\n\n    def __init__(self, u, v):\n        self.u, self.v = u, v\n"
    + METHODS.format(store="", op="= self.v -"),
    "class Base:\n    scale = 0.7\n\n    def __init__(self, u):\n        self.u = u\n\n\n"
    "class Body(Base):\n    def __init__(self, u, v):\n        super().__init__(u)\n        self.v = v\n"
    + METHODS.format(store="[:]", op="= self.scale * self.v +"),
]
MAKERS["object"] = ["$new = $Body($x, $v)", "$new = $Body($x, $v.copy())", "$new = $Body(u=$0, v=$v * $x)"]
MAKERS["pair"] = ["$new = ($x, $0)", "$new = $x, $y", "$new = tuple([$x, $x * $0])"]


@fragment("x: float, y: float -> t: float")
def operators_of_a_class(d: Draft) -> str:
    d.above("""
    class $Vector:
        def __init__(self, x, y):
            self.x, self.y = x, y

        def __add__(self, other):
            return $Vector(self.x + other.x, self.y + other.y)

        def __mul__(self, factor):
            return $Vector(self.x * factor, self.y * factor)

        __rmul__ = __mul__

        def __neg__(self):
            return $Vector(-self.x, -self.y)

        def __sub__(self, other):
            return self + (-other)

        def __matmul__(self, other):
            return self.x * other.x + self.y * other.y

        def __abs__(self):
            return math.sqrt(self.x ** 2 + self.y ** 2 + 0.1)
    """)
    return """
    $a, $b = $Vector($x, $0), $Vector($y, $x)
    $c = <<$0 * $a + $b * $x||$a - $b * $1||-$a + $b>>
    <<$c += $a||$c = $c * abs($b)||$a = $c>>
    $t = $c @ $b + $a.x
    """


@fragment("x: float, y: float -> t: float")
def property_with_a_setter(d: Draft) -> str:
    d.above("""
    class $Circle:
        def __init__(self, r):
            self._r = r

        @property
        def area(self):
            return 3.0 * self._r ** 2

        @property
        def radius(self):
            return self._r

        @radius.setter
        def radius(self, r):
            self._r = 0.5 * r + 0.1
    """)
    return """
    $c = $Circle($x)
    $before = $c.area
    $c.radius <<= $y||+= $y||*= $0>>
    $t = $c.area <<- $before||* $c.radius||+ $before * $c._r>>
    """


@fragment("x: float, v: vec -> t: float")
def inheritance(d: Draft) -> str:
    d.above("""
    class $Layer:
        gain = $0

        def __init__(self, w):
            self.w = w
            self.calls = 0

        def act(self, z):
            self.calls += 1
            return z * self.w * self.gain

        def __call__(self, z):
            return self.act(z)


    class $Tanh($Layer):
        gain = $1

        def __init__(self, w, b=0.1):
            super().__init__(w)
            self.b = b

        def act(self, z):
            return np.tanh(super().act(z) + self.b)
    """)
    return """
    $net = [$Layer($v), $Tanh($x), <<$Tanh($0, $x)||$Layer(w=$x)||$Tanh($v, b=$v)>>]
    $h = $v
    for $layer in $net:
        $h = $layer($h)
    $net[0].w <<= $x||*= $0||= $net[1].w>>
    $t = np.sum($net[0]($h)) + $net[1].calls
    """


@fragment("x: float, y: float -> t: float")
def dataclass_replaced(d: Draft) -> str:
    d.above("""
    @dataclass(<<frozen=True||||order=True>>)
    class $State:
        pos: float
        vel: float = 0.3
        count: int = 0

        def step(self, dt):
            vel = self.vel - dt * math.sin(self.pos)
            return replace(self, pos=self.pos + dt * self.vel, vel=vel, count=self.count + 1)
    """)
    return """
    $s = $State(<<$x, $y||$x||pos=$x * $y>>)
    for $k in range(3):
        $s = $s.step($0)
    $t = $s.pos * $s.vel + $s.count
    """


@fragment("x: float, v: vec -> t: float")
def dataclass_with_lists(d: Draft) -> str:
    d.above("""
    @dataclass
    class $Log:
        start: float
        items: list = field(default_factory=list)
        info: dict = field(default_factory=dict)

        def add(self, z):
            self.items.append(z * self.start)
            self.info["last"] = z
            return self
    """)
    return """
    $log = $Log($x)
    $log.add($0).add(<<$v[0]||$x||np.sum($v)>>)
    $log.start = $1
    $log.add($x)
    $t = sum($log.items) + $log.info["last"]
    """


@fragment("o: object, x: float -> t: float")
def object_changed(d: Draft) -> str:
    return """
    $o.u += $x
    <<$o.v[0] *= $0||$o.v = $o.v * $x||$o.v += $x||$o.kick($0)||$o.v[::-1][0] = $x>>
    $t = $o.energy()
    """


@fragment("o: object, x: float -> r: object")
def object_copied(d: Draft) -> str:
    d.object_class()
    return """
    $r = <<Body($o.u, $o.v)||Body($o.u * $x, $o.v.copy())||Body($x, $o.v[::-1])||$o>>
    $r.kick($0)
    $o.u = $r.u * $1
    """


@fragment("o: object, v: vec -> w: vec")
def object_holds_a_view(d: Draft) -> str:
    return """
    $o.v = <<$v||$v[::-1]||$v * $0||$v[:]>>
    $v[<<0||-1>>] *= $1
    $w = $o.v <<||+ $0||.copy()>>
    """


@fragment("x: float, v: vec -> o: object")
def objects_in_a_list(d: Draft) -> str:
    d.object_class()
    return """
    $bodies = [Body($x * $k, $v * ($k + $0)) for $k in range(3)]
    for $b in $bodies:
        for $c in $bodies:
            if $b is not $c:
                $b.u = $b.u + $1 * np.tanh($c.u - $b.u)
    $o = $bodies[<<0||-1||1>>]
    $bodies[0].kick($0)
    $o.u += sum($b.energy() for $b in $bodies) * 0.1
    """


@fragment("o: object, x: float -> t: float")
def objects_swapped(d: Draft) -> str:
    d.object_class()
    return """
    $a, $b = $o, Body($x, $o.v * $0)
    for $k in range(<<2||3>>):
        $a.kick($0)
        $a, $b = $b, $a
    $t = $a.energy() - $b.u
    """


@fragment("x: float, y: float -> t: float")
def class_methods(d: Draft) -> str:
    d.above("""
    class $Line:
        made = 0

        def __init__(self, slope, offset):
            self.slope, self.offset = slope, offset

        @classmethod
        def through(cls, x, y):
            return cls((y - x) / 1.5, x)

        @staticmethod
        def double(z):
            return 2.0 * z

        def __call__(self, z):
            return self.double(self.slope) * z + self.offset
    """)
    return """
    $line = $Line.through($x, $y)
    $t = $line($0) + $Line.double($x) * $line.slope
    """


@fragment("v: vec, x: float -> t: float")
def container_class(d: Draft) -> str:
    d.above("""
    class $Series:
        def __init__(self, items):
            self.items = items

        def __len__(self):
            return len(self.items)

        def __getitem__(self, i):
            return self.items[i]

        def __setitem__(self, i, z):
            self.items[i] = z

        def __iter__(self):
            for z in self.items:
                yield z

        def __contains__(self, z):
            return z in self.items
    """)
    return """
    $s = $Series(<<$v||list($v)||[$x, $0]||$v.copy()>>)
    $s[0] = $s[1] * $x
    $s[-1] <<+=||*=>> $0
    $t = sum($e * $1 for $e in $s) + len($s)
    """


@fragment("x: float, v: vec -> t: float")
def in_place_operators(d: Draft) -> str:
    d.above("""
    class $Sum:
        def __init__(self, total):
            self.total = total

        def __iadd__(self, other):
            self.total += other
            return self

        def __lt__(self, other):
            return self.total < other.total

        def __float__(self):
            return float(self.total)
    """)
    return """
    $s = $Sum($x)
    $alias = $s
    for $e in $v:
        $s += $e * $0
    $t = $alias.total * (<<$1||$x>> if $s < $Sum($0) else $2)
    """


@fragment("x: float, y: float -> p: pair")
def named_tuples(d: Draft) -> str:
    d.above("""
    class $Point(NamedTuple):
        x: float
        y: float = 0.2

        def turned(self):
            return $Point(-self.y, self.x)
    """)
    return """
    $q = $Point($x<<, $y||>>).turned()
    $q = $q._replace(x=$q.x + $y)
    $a, $b = $q
    $p = ($a * $q.y, $b)
    """


@fragment("x: float, y: float -> t: float")
def shapes(d: Draft) -> str:
    d.above("""
    class $Shape:
        def area(self):
            raise NotImplementedError

        def scaled(self, k):
            return self.area() * k


    class $Square($Shape):
        def __init__(self, a):
            self.a = a

        def area(self):
            return self.a ** 2


    class $Disc($Shape):
        def __init__(self, r):
            self.r = r

        def area(self):
            return 3.1 * self.r ** 2
    """)
    return """
    $all = [$Square($x), $Disc($y), <<$Square($y)||$Disc($x)>>]
    $t = sum($s.scaled($0) for $s in $all)
    $best = max($all, key=lambda $s: $s.area())
    $t += $best.area() if isinstance($best, $Square) else $1 * $best.r
    """


@fragment("l: list, x: float -> t: float")
def linked_nodes(d: Draft) -> str:
    d.above("""
    class $Node:
        def __init__(self, item, rest=None):
            self.item, self.rest = item, rest
    """)
    return """
    $top = None
    for $e in $l:
        $top = $Node($e, $top)
    $t = $x
    $node = $top
    while $node is not None:
        $t = $t * $0 + $node.item
        <<$node.item = $t||pass>>
        $node = $node.rest
    $t += $top.item
    """


@fragment("x: float, y: float -> t: float")
def tree_of_nodes(d: Draft) -> str:
    d.above("""
    class $Tree:
        def __init__(self, op, left=None, right=None, value=0.0):
            self.op, self.left, self.right, self.value = op, left, right, value

        def eval(self):
            if self.op == "leaf":
                return self.value
            a, b = self.left.eval(), self.right.eval()
            return a + b if self.op == "add" else a * b
    """)
    return """
    $one, $two = $Tree("leaf", value=$x), $Tree("leaf", value=$y)
    $root = $Tree("add", $Tree("mul", $one, $two), <<$one||$two||$Tree("leaf", value=$0)>>)
    <<$one.value = $root.eval()||$two.value *= $0||pass>>
    $t = $root.eval()
    """


@fragment("v: vec, x: float -> t: float")
def optimizer_class(d: Draft) -> str:
    d.above("""
    class $Momentum:
        def __init__(self, rate, decay=0.8):
            self.rate, self.decay = rate, decay
            self.velocity = {}

        def step(self, params, grads):
            for name in params:
                if name not in self.velocity:
                    self.velocity[name] = np.zeros_like(params[name])
                m = self.velocity[name]
                m *= self.decay
                m += grads[name]
                params[name] <<-= self.rate * m||= params[name] - self.rate * m>>
    """)
    return """
    $p = {"w": $v.copy(), "b": np.array([$x, $0])}
    $opt = $Momentum(<<$x||$1>>)
    for $k in range(2):
        $opt.step($p, {"w": np.sin($p["w"]), "b": $p["b"] * $0})
    $t = np.sum($p["w"]) + $p["b"][0] * $p["b"][1]
    """


@fragment("x: float, v: vec -> t: float")
def module_and_parameters(d: Draft) -> str:
    d.above("""
    class $Linear:
        def __init__(self, weight, bias):
            self.weight = weight
            self.bias = bias

        def parameters(self):
            return [self.weight, self.bias]

        def forward(self, z):
            return self.weight @ z + self.bias
    """)
    return """
    $net = $Linear(np.outer($v, np.linspace(0.1, 0.6, $N)), $v * $x)
    for $p in $net.parameters():
        $p *= $0
    $t = np.sum(np.tanh($net.forward($v)))
    """


@fragment("x: float, y: float -> t: float")
def sorted_objects(d: Draft) -> str:
    d.above("""
    @dataclass
    class $Item:
        name: str
        cost: float
        gain: float
    """)
    return """
    $items = [$Item("a", $x, $0), $Item("b", $y, $1), $Item("c", $2, $x * $y)]
    $items.sort(key=lambda $i: <<$i.cost||-$i.gain||$i.cost / 2>>)
    $t = 0.0
    for $place, $i in enumerate($items):
        if $i.name != "b" or $place == 0:
            $t += $i.gain * ($place + 1) - $i.cost
    """


@fragment("x: float, v: vec -> t: float")
def filter_with_state(d: Draft) -> str:
    d.above("""
    class $Kalman:
        def __init__(self, mean, var=0.5):
            self.mean, self.var = mean, var
            self.log = []

        def update(self, z, noise):
            gain = self.var / (self.var + noise * noise + 0.1)
            self.mean += gain * (z - self.mean)
            self.var = (1 - gain) * self.var
            self.log.append(self.mean)
    """)
    return """
    $k = $Kalman($x)
    for $z in $v:
        $k.update($z, <<$0||$x>>)
    $t = $k.mean * $k.var + <<$k.log[0]||sum($k.log)>>
    """
