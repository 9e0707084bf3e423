"""Algorithms as they stand in textbooks."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("s: square, v: vec -> w: vec")
def gaussian_elimination(d: Draft) -> str:
    return """
    $m = $s * 0.1 + 2.0 * np.eye($N)
    $w = $v<<.copy()||>>
    for $k in range($N - 1):
        for $i in range($k + 1, $N):
            $q = $m[$i, $k] / $m[$k, $k]
            $m[$i, $k:] <<-= $q * $m[$k, $k:]||= $m[$i, $k:] - $q * $m[$k, $k:]>>
            $w[$i] -= $q * $w[$k]
    for $i in reversed(range($N)):
        $w[$i] = ($w[$i] - $m[$i, $i + 1 :] @ $w[$i + 1 :]) / $m[$i, $i]
    """


@fragment("s: square, x: float -> t: float")
def cholesky_by_hand(d: Draft) -> str:
    return """
    $m = 0.1 * ($s @ $s.T) + np.eye($N) * (1.0 + $x * $x)
    $l = np.zeros(($N, $N))
    for $i in range($N):
        for $j in range($i + 1):
            $acc = $m[$i, $j] - <<np.dot($l[$i, :$j], $l[$j, :$j])||sum($l[$i, $k] * $l[$j, $k] for $k in range($j))>>
            $l[$i, $j] = <<np.sqrt($acc)||math.sqrt($acc)>> if $i == $j else $acc / $l[$j, $j]
    $t = np.sum($l) + 2 * np.sum(np.log(np.diag($l)))
    """


@fragment("s: square, v: vec -> w: vec")
def gram_schmidt(d: Draft) -> str:
    return """
    $basis = []
    for $r in $s * 0.3 + np.eye($N):
        $u = $r<<.copy()||* 1.0||>>
        for $b in $basis:
            $u <<= $u - ($u @ $b) * $b||-= ($u @ $b) * $b>>
        $basis.append($u / np.linalg.norm($u))
    $w = sum(($v @ $b) * $b * ($i + 1) for $i, $b in enumerate($basis))
    """


@fragment("a: mat, v: vec, x: float -> w: vec")
def attention(d: Draft) -> str:
    return """
    $q, $k, $val = $a * $x, np.tanh($a), $a[::-1]
    $scores = $q @ $k.T / math.sqrt($N)
    $scores <<-= $scores.max(axis=1, keepdims=True)||= $scores - $scores.max(axis=-1)[:, None]>>
    <<$scores[0, -1] = -1e9||pass||$scores = np.where(np.tri($M) > 0, $scores, -1e9)>>
    $p = np.exp($scores)
    $p /= $p.sum(axis=1, keepdims=True)
    $w = ($p @ $val)[<<0||-1>>] + $v
    """


@fragment("a: mat, x: float -> b: mat")
def batch_norm(d: Draft) -> str:
    return """
    $run = {"mean": np.zeros($N), "var": np.ones($N)}
    $b = $a
    for $k in range(2):
        $mu, $var = $b.mean(axis=0), $b.var(axis=0)
        $run["mean"] <<= 0.9 * $run["mean"] + 0.1 * $mu||*= 0.9>>
        $run["var"] = 0.9 * $run["var"] + 0.1 * $var
        $b = ($b - $mu) / np.sqrt($var + $0) * $x + $run["mean"]
    """


@fragment("a: mat, x: float -> t: float")
def convolution_by_loops(d: Draft) -> str:
    return """
    $kernel = np.array([[$x, $0], [$1, -$x]])
    $out = np.zeros(($M - 1, $N - 1))
    for $i in range($M - 1):
        for $j in range($N - 1):
            $out[$i, $j] = <<np.sum($a[$i : $i + 2, $j : $j + 2] * $kernel)
        ||($a[$i : $i + 2, $j : $j + 2] * $kernel).sum()
            ||sum($a[$i + $p, $j + $q] * $kernel[$p, $q] for $p in range(2) for $q in range(2))>>
    $t = np.sum(np.maximum($out, 0.0)) + np.max($out)
    """


@fragment("a: mat, v: vec, x: float -> t: float")
def two_layers_by_hand(d: Draft) -> str:
    return """
    $h = $a @ $v
    $act = <<np.maximum($h, 0.0)||np.tanh($h)||1.0 / (1.0 + np.exp(-$h))||np.where($h > 0, $h, $0 * $h)>>
    $back = 2.0 * ($act - $x)
    $dh = $back * <<($h > 0)||(1.0 - $act ** 2)||$act * (1.0 - $act)>>
    $grads = {"w": np.outer($dh, $v), "b": $dh}
    $t = sum(np.sum($g ** 2) for $g in $grads.values()) * $0
    """


@fragment("v: vec, w: vec, x: float -> t: float")
def bodies_that_attract(d: Draft) -> str:
    return """
    $pos, $vel = $v<<.copy()||>>, $w * $x
    for $step in range(2):
        $force = np.zeros($N)
        for $i in range($N):
            for $j in range($i + 1, $N):
                $r = $pos[$j] - $pos[$i]
                $f = $r / (abs($r) ** 3 + $0)
                $force[$i] += $f
                $force[$j] -= $f
        $vel <<+= 0.1 * $force||= $vel + 0.1 * $force>>
        $pos += 0.1 * $vel
    $t = $pos @ $vel
    """


@fragment("x: float, y: float -> t: float, l: list")
def predators_and_prey(d: Draft) -> str:
    return """
    $l = [$x + 1.5]
    $other = [$y + 1.5]
    for $k in range(3):
        $p, $q = $l[-1], $other[-1]
        $l.append($p + 0.1 * ($p * $0 - $p * $q))
        $other.append($q + 0.1 * ($p * $q - $1 * $q))
    $t = max($l) - min($other)
    """


@fragment("x: float, y: float -> t: float")
def option_price(d: Draft) -> str:
    return """
    def $cdf($z):
        return 0.5 * (1.0 + math.erf($z / math.sqrt(2.0)))
    $s, $vol = 1.0 + $x * $x, 0.2 + $y * $y
    $one = (math.log($s / $0) + 0.5 * $vol ** 2) / $vol
    $t = $s * $cdf($one) - $0 * $cdf($one - $vol)
    """


@fragment("v: vec, x: float -> t: float")
def interpolation_tables(d: Draft) -> str:
    return """
    $pos = abs($x) % 1.0 * ($N - 1)
    $i = min(<<int($pos)||math.floor($pos)||int(np.floor($pos))>>, $N - 2)
    $t = $v[$i] * (1 - ($pos - $i)) + $v[$i + 1] * ($pos - $i)
    """


@fragment("v: vec, x: float -> t: float")
def curve_by_corner_cutting(d: Draft) -> str:
    return """
    $pts = <<list($v)||$v.copy()||$v>>
    for $r in range(1, $N):
        for $i in range($N - $r):
            $pts[$i] = (1 - $x) * $pts[$i] + $x * $pts[$i + 1]
    $t = $pts[0]
    """


@fragment("v: vec, x: float -> t: float")
def lagrange(d: Draft) -> str:
    return """
    $t = 0.0
    for $i in range($N):
        $term = $v[$i]
        for $j in range($N):
            if $j == $i:
                continue
            $term *= ($x - $j) / ($i - $j)
        $t += $term
    $t *= 0.1
    """


@fragment("s: square, x: float -> t: float")
def shortest_paths(d: Draft) -> str:
    return """
    $dist = <<np.abs($s) + 0.1||$s * $s + $0||[[abs($e) + 0.1 for $e in $r] for $r in $s]>>
    for $k in range($N):
        for $i in range($N):
            for $j in range($N):
                <<$dist[$i][$j] = min($dist[$i][$j], $dist[$i][$k] + $dist[$k][$j])
                ||if $dist[$i][$k] + $dist[$k][$j] < $dist[$i][$j]: $dist[$i][$j] = $dist[$i][$k] + $dist[$k][$j]>>
    $t = np.sum($dist) * $x * 0.2
    """


@fragment("v: vec, w: vec, x: float -> t: float")
def best_path(d: Draft) -> str:
    return """
    $score = $v * $x
    $back = []
    for $k in range(2):
        $all = $score[:, None] + np.outer($w, $v) * $0
        $back.append(<<np.argmax($all, axis=0)||$all.argmax(0)>>)
        $score = <<$all.max(axis=0)||np.max($all, 0)||$all[$back[-1], np.arange($N)]>> + $w
    $at = int(np.argmax($score))
    $t = $score[$at] + $v[$back[0][$at]]
    """


@fragment("v: vec, x: float -> w: vec")
def fourier_by_recursion(d: Draft) -> str:
    d.above("""
    def $fft(a):
        n = len(a)
        if n == 1:
            return a
        even, odd = $fft(a[::2]), $fft(a[1::2])
        turn = np.exp(-2j * np.pi * np.arange(n // 2) / n)
        return np.concatenate([even + turn * odd, even - turn * odd])
    """)
    return """
    $spec = $fft(np.array([$v[0], $x, $v[-1], $0]))
    $w = <<np.abs($spec)[:2].sum() * $v||$spec.real[1] * $v||np.fft.ifft($spec).real[0] + $v>> * 0.3
    """


@fragment("v: vec, x: float -> w: vec")
def embedding(d: Draft) -> str:
    return """
    $table = np.outer(np.arange(1.0, 4.0), $v) * $x
    $ids = <<[0, 2, 0]||np.array([1, 1, 2])||(2, 0)>>
    $rows = $table[<<np.array($ids)||list($ids)>>]
    $rows[0] *= $0
    $w = $rows.sum(axis=0) + $table[1]
    """


@fragment("v: vec, x: float -> t: float, w: vec")
def particles(d: Draft) -> str:
    return """
    $w, $weights = $v * 1.0, np.ones($N) / $N
    for $obs in (0.2, $x):
        $weights <<*= np.exp(-($w - $obs) ** 2)||= $weights * np.exp(-($w - $obs) ** 2)>>
        $weights /= $weights.sum()
        <<$w = $w[np.argsort(-$weights)]||$w += 0.1 * $obs||$w[np.argmin($weights)] = $obs>>
    $t = $weights @ $w
    """


@fragment("x: float, y: float -> t: float")
def matrix_powers(d: Draft) -> str:
    return """
    $p = np.array([[$x, 0.3], [$0, $y]])
    $r = <<np.linalg.matrix_power($p, 3)||$p @ $p @ $p||functools.reduce(np.matmul, [$p] * 3)||$p.dot($p)>>
    <<$r @= $p||$p[0] = $r[0]||$r **= 2||pass>>
    $t = $r[0, 1] - $r.trace() + $p[1, 0]
    """


@fragment("x: float, y: float -> t: float")
def rotation(d: Draft) -> str:
    return """
    $c, $s = math.cos($x), math.sin($x)
    $rot = <<np.array([[$c, -$s], [$s, $c]])||np.array([$c, -$s, $s, $c]).reshape(2, 2)
        ||np.stack([[$c, -$s], [$s, $c]])>>
    $p = np.array([$y, $0])
    for $k in range(2):
        $p = $rot @ $p + $0
    $t = $p[0] * $p[1]
    """


@fragment("v: vec, x: float -> t: float")
def decompositions(d: Draft) -> str:
    return """
    $m = np.outer($v, $v) + np.diag(np.arange(1.0, $N + 1)) + $x * np.ones(($N, $N)) * 0.1
    $t = <<np.linalg.eigh($m)[0][0]||np.sum(np.linalg.svd($m, compute_uv=False) * np.arange($N))
        ||np.linalg.cond($m) * 0.01
    ||np.linalg.eigvalsh($m)[-1]||np.linalg.slogdet($m)[1]||np.linalg.norm($m, 2)||np.trace(np.linalg.inv($m))
    ||np.abs(np.linalg.eigh($m)[1][0, 0])||np.linalg.norm($m, "nuc")>> * $0
    """


@fragment("v: vec -> t: float")
def shortest_path(d: Draft) -> str:
    return """
    $edges = {0: [(1, $v[0] ** 2), (2, $v[1] ** 2 + 0.1)], 1: [(2, $v[-1] ** 2)], 2: []}
    $far, $heap = {0: 0.0}, [(0.0, 0)]
    while $heap:
        $c, $u = heapq.heappop($heap)
        <<if $c > $far.get($u, 1e9): continue||pass>>
        for $k, $q in $edges[$u]:
            if $c + $q < $far.get($k, 1e9):
                $far[$k] = $c + $q
                heapq.heappush($heap, ($c + $q, $k))
    $t = $far[2]
    """


@fragment("s: square -> m: square")
def power_by_squaring(d: Draft) -> str:
    return """
    $m, $base, $n = np.eye($N), $s * 0.5, <<5||4||6>>
    while <<$n||$n != 0>>:
        if $n % 2 == 1:
            $m = $m @ $base
        $base = $base @ $base
        $n = $n // 2
    """
