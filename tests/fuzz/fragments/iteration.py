"""Iterators, generators, comprehensions, and lists that grow and shrink."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("l: list, v: vec, x: float -> t: float")
def side_by_side(d: Draft) -> str:
    return """
    $t = 0.0
    for <<$a, $b in zip($l, $v)||$a, $b in zip($v, $l)||$a, $b in zip($l[1:], $l)||$a, $b in zip($l, reversed($l))
        ||$b, $a in enumerate($l)||$a, $b in itertools.pairwise($l)||$a, ($b, $c) in enumerate(zip($l, $v))
        ||$b, $a in itertools.zip_longest($l, $v, fillvalue=$0)||$a, $b in itertools.product($l[:2], $l)>>:
        $t = $t * $0 + $a * $b
    """


@fragment("v: vec, x: float -> t: float")
def generator_function(d: Draft) -> str:
    d.above("""
    def $steps(start, items):
        z = start
        for item in items:
            z = z * $0 + item
            yield z
            <<z += 0.1||if z > 2.0: return||pass>>
    """)
    return """
    $t = <<sum($steps($x, $v))||max($steps($x, $v))||sum($e * $k for $k, $e in enumerate($steps($x, $v)))
        ||next($steps($x, $v))||list($steps($x, $v))[-1]||sum(itertools.islice($steps($x, itertools.cycle($v)), 4))>>
    """


@fragment("l: list, x: float -> t: float")
def generator_with_state(d: Draft) -> str:
    return """
    def $running():
        $total = $x
        for $e in $l:
            $total += $e
            yield $total, $e
    $t = 0.0
    for $s, $e in $running():
        if $s > <<1.5||3.0>>:
            <<break||continue>>
        $t += $s * $e
        <<$l[-1] = $s||pass||$last = $s>>
    """


@fragment("l: list, x: float -> t: float")
def chain_of_generators(d: Draft) -> str:
    return """
    $sq = ($e * $e for $e in $l)
    $kept = ($e + $x for $e in $sq if $e > 0.05)
    <<$x = $x * 1.0||$l.append($x)||pass>>
    $t = sum($kept) + $0
    """


@fragment("l: list, x: float -> r: list")
def itertools_lists(d: Draft) -> str:
    return """
    $r = list(<<itertools.accumulate($l)||itertools.accumulate($l, operator.mul)
        ||itertools.accumulate($l, lambda a, b: a * $0 + b, initial=$x)||itertools.chain($l, [$x])
        ||itertools.chain.from_iterable([$l, [$x]])||itertools.islice(itertools.cycle($l), 4)
        ||itertools.starmap(operator.mul, zip($l, $l))||itertools.repeat($x, 3)
        ||itertools.takewhile(lambda e: e > -9, $l)>>)
    """


@fragment("l: list, v: vec, x: float -> t: float")
def reduce_with_a_lambda(d: Draft) -> str:
    return """
    $t = functools.reduce(<<lambda a, b: a * $0 + b||lambda a, b: a + b * $x||operator.add||max||np.add>>, <<$l
        ||$v||$l, $x>>)
    """


@fragment("v: vec, x: float -> l: list")
def moving_average(d: Draft) -> str:
    return """
    $q = collections.deque(<<[$x], maxlen=2||maxlen=2||[], 2>>)
    $l = [$0]
    for $e in $v:
        $q.append($e)
        <<$q.rotate(1)||$q.appendleft($q[-1] * $x)||pass>>
        $l.append(sum($q) / len($q))
    """


@fragment("l: list, x: float -> t: float")
def heap(d: Draft) -> str:
    return """
    $h = []
    for $e in $l:
        heapq.heappush($h, <<$e||($e, $e * $x)||-$e>>)
    $top = heapq.heappop($h)
    $t = <<np.sum($top)||sum($top) if isinstance($top, tuple) else $top>> * $x + len($h)
    """


@fragment("l: list, x: float -> r: list")
def comprehension(d: Draft) -> str:
    return """
    $r = [<<$e * $x||$e if $e > 0 else $x||np.sin($e)||$k * $x||$e + $l[0]>> for <<$k, $e in enumerate($l)
        ||$k, $e in enumerate(reversed($l))||$k, $e in zip(range(3), $l)>><< if $e > -0.9||  if $k != 1||>>]
    $r.append($0)
    """


@fragment("l: list, x: float -> r: list")
def sorted_lists(d: Draft) -> str:
    return """
    $r = <<sorted($l)||sorted($l, reverse=True)||sorted($l, key=lambda e: -e * e)||sorted($l + [$x], key=abs)
        ||$l[:]||list(dict(zip($l, $l)).values())>>
    <<$r.sort()||$r.reverse()||$r[0] *= $x||$r.sort(key=lambda e: (e > 0, e))>>
    """


@fragment("l: list, v: vec -> t: float")
def extremes(d: Draft) -> str:
    return """
    $i, $e = <<max(enumerate($l), key=lambda p: p[1])||min(enumerate($v), key=lambda p: p[1] ** 2)
        ||max(zip(range(9), $l), key=operator.itemgetter(1))||min((p for p in enumerate($l)), key=lambda p: -p[1])>>
    $t = $e * ($i + $0) <<+ max($l)||- min($v)||* max($l, key=abs)||+ max($e, $0)||+ min(*$v)
        ||+ max($l, default=0.0)>>
    """


@fragment("x: float, l: list -> t: float")
def while_with_a_break(d: Draft) -> str:
    return """
    $t, $k = $x, 0
    while <<True||$k < 9||$t > -5.0>>:
        $t = $t * $0 + $l[$k % len($l)] * 0.3
        $k += 1
        if $k >= 4 <<||or $t > 1.5||or abs($t) < 0.01>>:
            break
        <<if $t < 0: continue||pass>>
        $t += $1
    <<else:||if $k > 3:>>
        $t = -$t
    """


@fragment("l: list, x: float")
def list_edited(d: Draft) -> str:
    return """
    $l.<<append($x)||extend([$x, $0])||insert(0, $x)||insert(1, $l[-1] * $0)||reverse()||sort()||append($l.pop(0))>>
    <<$l[0], $l[-1] = $l[-1], $l[0]||$l[0] *= $x||$l[1:] = [$e * $x for $e in $l[1:]]||$l += [$0]
        ||if len($l) > 2: del $l[0]||if len($l) > 2: $l.pop()||$l[:1] = [$x, $0]>>
    """


@fragment("l: list, x: float -> t: float")
def two_names_of_one_list(d: Draft) -> str:
    return """
    $m = <<$l||$l[:]||list($l)||$l.copy()||[*$l]||$l + []>>
    $m[0] = $x
    <<$m += [$0]||$m = $m + [$0]||$m.append($x)||$m *= 2||$m += $l||$m.extend($m)>>
    $t = $l[0] * len($l) + $m[-1]
    """


@fragment("x: float, y: float -> t: float")
def stack_machine(d: Draft) -> str:
    return """
    $stack = []
    for $op in <<["x", "y", "*", "x", "+"]||"xyx+*"||("x", "x", "*", "y", "-", "s")||["2.5", "x", "*"]>>:
        if $op == "x":
            $stack.append($x)
        elif $op == "y":
            $stack.append($y)
        elif $op == "s":
            $stack.append(math.sin($stack.pop()))
        elif $op in ("+", "-", "*"):
            $b, $a = $stack.pop(), $stack.pop()
            $stack.append($a + $b if $op == "+" else $a - $b if $op == "-" else $a * $b)
        else:
            $stack.append(float($op))
    $t = $stack[-1]
    """


@fragment("v: vec, x: float -> t: float")
def breadth_first(d: Draft) -> str:
    return """
    $edges = {0: [1], 1: [0, $N - 1], $N - 1: [0]}
    $seen, $queue = {0}, <<[(0, $x)]||collections.deque([(0, $x)])>>
    $t = 0.0
    while $queue:
        $node, $weight = $queue.<<pop()||pop()>>
        $t += $weight * $v[$node]
        for $next in $edges[$node]:
            if $next not in $seen:
                $seen.add($next)
                $queue.append(($next, $weight * $0))
    """


@fragment("l: list, v: vec, x: float -> t: float")
def table_of_costs(d: Draft) -> str:
    return """
    $cost = [[$0] * ($N + 1) for $i in range(len($l) + 1)]
    for $i in range(1, len($l) + 1):
        for $j in range(1, $N + 1):
            $best = <<min($cost[$i - 1][$j], $cost[$i][$j - 1])||$cost[$i - 1][$j - 1]
        ||0.5 * ($cost[$i - 1][$j] + $cost[$i][$j - 1])>>
            $cost[$i][$j] = $best + ($l[$i - 1] - $v[$j - 1] * $x) ** 2
    $t = $cost[-1][-1] * 0.3
    """


@fragment("v: vec, l: list, x: float -> t: float")
def stars(d: Draft) -> str:
    return """
    <<$first, *$rest = $v||*$rest, $first = $v||$first, *$rest = $l||($first, *$rest), $other = $l, $x
        ||[$first, *$rest] = sorted($l)>>
    $t = $first * $x + sum($rest) * $0
    $all = [*$rest, $first, *<<$v||$l||[$x]>>]
    $t += $all[-1] * $all[0]
    """


@fragment("x: float, y: float -> t: float")
def matrix_of_lists(d: Draft) -> str:
    return """
    $p = [[$x, $0], [$1, $y]]
    $q = [[0.0] * 2 for $i in range(2)]
    for $i in range(2):
        for $j in range(2):
            for $k in range(2):
                $q[$i][$j] += $p[$i][$k] * $p[$k][$j]
    <<$p[0] = $q[1]||$p = [list(r) for r in zip(*$q)]||$p[0][1], $p[1][0] = $p[1][0], $p[0][1]||$q[0][0] *= $x>>
    $t = $p[0][1] * $q[1][0] + $q[0][0] + sum(map(sum, $p))
    """


@fragment("l: list, x: float -> t: float")
def walrus(d: Draft) -> str:
    return """
    $t = 0.0
    for $e in $l:
        if ($z := $e * $x) > <<0||-0.5>>:
            $t += $z ** 2
        elif <<True||($zz := $z + $0) < 0>>:
            $t -= $z * $0
    """


@fragment("l: list, x: float -> t: float")
def windows(d: Draft) -> str:
    return """
    $t = 0.0
    for $i in range(<<len($l)||0, len($l), 2||len($l) - 1, -1, -1>>):
        $part = $l[$i : $i + 2]
        $t += sum($part) * ($i + $x) / len($part)
    """


@fragment("v: vec, x: float -> t: float")
def iterator_by_hand(d: Draft) -> str:
    return """
    $it = iter(<<$v||list($v)||enumerate($v)||($e * $x for $e in $v)>>)
    $a = next($it)
    $b = next($it, None)
    $t = np.sum($a) * $x
    if $b is not None:
        $t += np.sum($b) * $0
    for $c in $it:
        $t -= np.sum($c)
    """


@fragment("a: mat, x: float -> t: float")
def nested_comprehension(d: Draft) -> str:
    return """
    $p = <<[[$e * $x for $e in $r] for $r in $a]||[$e * $x for $r in $a for $e in $r]
        ||{$i: $r[0] for $i, $r in enumerate($a)}||[sum($r) for $r in $a.T]
        ||[$a[$i, $i] for $i in range(min($a.shape))]||$a.tolist()>>
    $t = np.sum(<<$p if isinstance($p, list) else list($p.values())
        ||list($p.values()) if isinstance($p, dict) else $p>>) * $0
    """


@fragment("l: list -> t: float")
def conditions_over_lists(d: Draft) -> str:
    return """
    if <<any($e > $0 for $e in $l)||all($e > -2 for $e in $l)||len($l) > 2||sum($e > 0 for $e in $l) > 1||not $l
        ||$l[0] in $l||$l[0] < $l[1] < 2>>:
        $t = sum($e ** 2 for $e in $l)
    else:
        $t = $l[0] * $l[-1] + <<[$e > 0 for $e in $l].count(True)||0.5>>
    """


@fragment("v: vec, x: float -> s: dict")
def counted(d: Draft) -> str:
    return """
    $s = dict.fromkeys(["a", "b"], $x)
    for $name, $e in zip(<<itertools.cycle("ab")||["a", "b"] * 3||["a"] * $N>>, $v):
        $s[$name] = $s[$name] + $e
    """


@fragment("v: vec, x: float -> t: float")
def grown_while_read(d: Draft) -> str:
    return """
    $work = [$x, $0]
    for $e in $work:
        if len($work) < 6 and $e < 2.0:
            $work.append($e * $1 + $v[len($work) % $N])
    $t = sum($work)
    """


@fragment("l: list, x: float -> t: float")
def work_list(d: Draft) -> str:
    return """
    $q = <<[$x]||[$x, $0]||list($l)>>
    $t = 0.0
    for <<$e in $q||$i, $e in enumerate($q)||$e, $o in zip($q, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])>>:
        if len($q) < <<5||6>>:
            <<$q.append($e * $0)||$q.insert(len($q), $e + $x)||$q += [$e - $x]>>
        <<$t += $e * $x||$t = $t * $0 + $e>>
        <<pass||$q[0] *= $1>>
    $t += sum($q)
    """


@fragment("x: float -> t: float")
def single_draws(d: Draft) -> str:
    return """
    $rng = <<np.random.default_rng(3)||np.random.RandomState(3)>>
    $t = 0.0
    for $i in range(<<3||4>>):
        if $rng.<<normal()||uniform()||standard_normal()>> < $0:
            $t += $x * $rng.normal(<<0.0, 0.5||loc=0.5||$x, 0.1>>)
        <<$t *= 1.0 + 0.1 * $rng.uniform()||$t = $t + $rng.exponential()||$t -= $rng.permutation(3)[0] * $x>>
    """


@fragment("x: float, l: list -> t: float")
def numbers_of_unknown_kind(d: Draft) -> str:
    return """
    $t = <<0.0||$x>>
    $o = <<0.0||$t>>
    for $k in json.loads("[1.5, 0.5, 2]"):
        <<$o = $t||$o = $k * $x||pass>>
        <<$t += $k * $x||$t *= 0.5 * $k||$t -= $k * $o>>
        <<pass||$l.append($t)||$t, $o = $o, $t>>
    $t = $t + $o
    """
