"""What NumPy is asked for: sums, products, selections, sorting, linear algebra."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("a: mat, v: vec -> w: vec")
def einsum(d: Draft) -> str:
    return """
    $w = <<np.einsum("ij,j->j", $a, $v)||np.einsum("ij,ik->jk", $a, $a) @ $v||np.einsum("ij->j", $a)
        ||np.einsum("i,i,j->j", $v, $v, $v)||np.einsum("ij,j,ik->k", $a, $v, $a)>> * $0
    """


@fragment("v: vec, w: vec, x: float -> s: square")
def outer_products(d: Draft) -> str:
    return """
    $s = <<np.outer($v, $w)||$v[:, None] * $w||np.multiply.outer($v, $w)||$v[:, None] - $w[None, :]
        ||np.add.outer($v, $w)||np.kron($v, $w).reshape($N, $N)>> * $x
    """


@fragment("v: vec -> w: vec")
def running_sums(d: Draft) -> str:
    return """
    $w = <<np.cumsum($v)||np.cumsum($v[::-1])[::-1]||np.cumprod(1.0 + 0.1 * $v)||$v.cumsum() * $0
        ||np.add.accumulate($v)||np.concatenate([[0.0], np.cumsum($v)[:-1]])||np.diff($v, prepend=$0)
        ||np.gradient($v)||np.diff(np.append($v, $0))>>
    """


@fragment("v: vec, w: vec -> u: vec")
def sorting(d: Draft) -> str:
    return """
    $u = <<np.sort($v)||$v[np.argsort($w)]||np.sort($v)[::-1]||np.take($v, np.argsort($v))||-np.sort(-$v)
        ||np.partition($v, 1)>>
    <<$u.sort()||$u[np.argmax($w)] *= $0||$u[np.argmin($v)] = $1||pass>>
    """


@fragment("v: vec, w: vec, x: float -> u: vec")
def joined(d: Draft) -> str:
    return """
    $long = <<np.concatenate([$v, $w])||np.hstack(($v, $w))||np.append($v, $w)||np.r_[$v, $w]
        ||np.concatenate((np.full($N, $x), $v))>>
    $long[<<0||$N||-1>>] *= $x
    $u = $long[<<:$N||-$N:||::2||1:$N + 1>>]
    <<$u += $long[-1]||pass>>
    """


@fragment("v: vec, x: float -> w: vec")
def where_with_nan(d: Draft) -> str:
    return """
    $w = <<np.where($v > 0, np.sqrt($v), $x)||np.where($v > 0, np.log(np.where($v > 0, $v, 1.0)), 0.0)
        ||np.where($v != 0, $x / $v, 0.0)||np.where($v > $0, $v ** 1.5, $v * $x)
        ||np.nan_to_num(np.sqrt($v), nan=$0)||np.where(np.isnan(np.log($v)), $x, np.sin($v))>>
    """


@fragment("v: vec, x: float -> t: float")
def nan_sums(d: Draft) -> str:
    return """
    $w = $v * $x
    $w[<<0||-1>>] = <<np.nan||$0>>
    $t = <<np.nansum($w)||np.nanmean($w)||np.nansum(np.sqrt($w))||np.sum($w[~np.isnan($w)])||np.nanmax($w)>>
    """


@fragment("v: vec, w: vec, x: float -> u: vec")
def chosen(d: Draft) -> str:
    return """
    $u = <<np.maximum($v, $w)||np.clip($v, -$0, $1)||np.minimum($v, $x)||np.where($v > $w, $v, $w)
        ||np.select([$v > $0, $v > 0], [$v, $w], $x)||np.abs($v)||np.maximum($v, 0.0)||np.fmin($v, $w)
        ||np.choose(np.arange($N) % 2, [$v, $w])||np.piecewise($v, [$v > 0], [lambda z: z * $0, lambda z: z])
        ||np.where($v > 0)[0].size * $v||np.heaviside($v, 0.5) * $w||np.sign($v) * $x>>
    """


@fragment("s: square, v: vec, x: float -> w: vec")
def linear_algebra(d: Draft) -> str:
    return """
    $k = <<$s @ $s.T||np.outer($v, $v)||$s.T @ $s>> * 0.1 + np.eye($N) * <<1.5||(1.0 + $x * $x)>>
    $w = <<np.linalg.solve($k, $v)||np.linalg.inv($k) @ $v||np.linalg.cholesky($k) @ $v||$k @ $v
        ||np.linalg.det($k) * $v * 0.2||np.linalg.norm($k) * $v * 0.2||np.linalg.slogdet($k)[1] + $v
        ||np.linalg.eigvalsh($k + np.diag(np.arange($N)))||np.linalg.qr($k)[1] @ $v * 0.5||np.diag($k) * $v
        ||np.linalg.lstsq($k, $v, rcond=None)[0]>>
    """


@fragment("v: vec, x: float -> w: vec")
def normalised(d: Draft) -> str:
    return """
    $w = <<($v - $v.mean()) / ($v.std() + 0.1)||$v / np.sqrt(np.sum($v ** 2) + $0)
        ||($v - np.min($v)) / (np.ptp($v) + $0)||$v / (1.0 + np.linalg.norm($v))||($v - np.median($v)) * $x
        ||$v - np.average($v, weights=np.arange(1, $N + 1))||($v - $v.mean()) / np.sqrt($v.var(ddof=1) + $0)>>
    """


@fragment("v: vec -> w: vec, t: float")
def softmax(d: Draft) -> str:
    return """
    $m = <<$v.max()||np.max($v)||max($v)>>
    $e = np.exp($v - $m)
    $w = $e / <<$e.sum()||np.sum($e)>>
    $t = $m + np.log(<<np.sum($e)||$e.sum()>>)
    """


@fragment("a: mat, x: float -> t: float")
def pairwise_distances(d: Draft) -> str:
    return """
    $diff = $a[:, None, :] - $a[None, :, :]
    $dist = <<np.sqrt(np.sum($diff ** 2, axis=-1) + 0.1)||np.sum($diff * $diff, -1)
        ||(($diff ** 2).sum(2) + $0) ** 0.5>>
    $t = np.sum(np.exp(-$dist * <<$x||$0>>)) * $1
    """


@fragment("v: vec, w: vec, x: float -> u: vec")
def convolved(d: Draft) -> str:
    return """
    $u = <<np.convolve($v, $w, "same")[:$N]||np.convolve($v, [$0, $1], "full")[:$N]||np.convolve($v, [$0, $x])[1:]
        ||np.interp($v, [-2.0, 0.0, 2.0], [$x, $0, $1])
        ||np.interp(np.linspace(-0.5, 0.5, $N), np.linspace(-1, 1, $N), $v)||np.correlate($v, $w, "full")[:$N]>>
    """


@fragment("a: mat, v: vec, w: vec -> u: vec")
def products(d: Draft) -> str:
    return """
    $u = <<$a.T @ ($a @ $v)||np.dot($a, $v) @ $a||np.tensordot($a, $a, axes=([0], [0])) @ $w||np.dot($v, $w) * $v
        ||np.matmul($v, np.outer($w, $v))||np.inner($v, $w) + $v||np.vdot($v, $w) - $w||($a * $v).sum(axis=0)
        ||np.sum($a @ $w) * $v||np.linalg.multi_dot([$a.T, $a, $v])||$a[0] * ($a @ $v)[0]>> * 0.5
    """


@fragment("v: vec, x: float -> w: vec")
def polynomials(d: Draft) -> str:
    return """
    $w = <<np.polyval([$0, $x, $1], $v)||np.polyval($v, $v)||np.vander($v, 3).sum(axis=1)||$v ** 2 - $x * $v
        ||$v ** np.arange($N)||np.power($v, 2)||np.polynomial.polynomial.polyval($v, [$x, $0])||np.abs($v) ** $x
        ||$v[:, None] ** np.arange(3) @ np.array([$x, $0, 1.0])>>
    """


@fragment("s: square, x: float -> w: vec")
def triangular_parts(d: Draft) -> str:
    return """
    $l = <<np.tril($s)||np.triu($s, 1)||$s - np.diag(np.diag($s))||$s + $s.T||np.tril($s, -1) + np.eye($N)
        ||$s[np.tril_indices($N)].sum() + $s||np.rot90($s)||np.flip($s, 0)||np.fliplr($s)>>
    $w = $l.sum(axis=<<0||1||-1>>) * $x
    """


@fragment("v: vec, x: float -> w: vec")
def filled(d: Draft) -> str:
    return """
    $w = <<np.full($N, $x)||np.full_like($v, $x)||np.ones($N) * $x||np.zeros($N)||np.array([$x] * $N)
        ||np.repeat($x, $N)||np.linspace(0.0, $x, $N)||np.eye($N)[0] * $x||np.broadcast_to($x, ($N,)).copy()
        ||np.empty($N)>>
    <<$w.fill($x)||$w[:] = $v * $x||$w[...] = $x>>
    $w[0] += $v[-1]
    """


@fragment("v: vec, x: float -> w: vec")
def rearranged(d: Draft) -> str:
    return """
    $w = <<np.repeat($v, 2)[:$N]||np.tile($v, 2)[1:$N + 1]||np.roll($v, 1)||np.flip($v)||np.pad($v, 1)[:$N]
        ||np.pad($v, (0, 1), constant_values=$0)[1:]||np.delete(np.append($v, $x), 0)||np.insert($v, 0, $x)[:$N]
        ||np.resize($v, $N)||np.array([*$v[1:], $x])||np.array(list(reversed($v)))
        ||np.pad($v, 1, mode="edge")[:$N]||np.trim_zeros(np.append($v, 0.0))>>
    """


@fragment("a: mat, x: float -> w: vec")
def statistics_by_axis(d: Draft) -> str:
    return """
    $c = <<$a - $a.mean(axis=1, keepdims=True)||$a / (1.0 + np.abs($a).sum(axis=0))||$a - np.max($a, axis=0)
        ||$a * $a.sum(axis=-1)[:, None]||$a - $a.mean()>>
    $w = <<$c.sum(axis=0)||$c.max(axis=0)||np.mean($c * $x, axis=0)||np.prod(1.0 + 0.1 * $c, axis=0)
        ||$c.var(axis=0)||np.linalg.norm($c + 0.1, axis=0)||np.min($c, 0)||np.cumsum($c, axis=0)[-1]
        ||np.einsum("ij,ij->j", $c, $a)||np.median($c, axis=0)||$c[np.argmax($c[:, 0])]>>
    """


@fragment("v: vec, x: float -> w: vec")
def element_by_element(d: Draft) -> str:
    return """
    def $one($z):
        if $z > $0:
            return $z * $x
        return <<math.sin($z)||$z * $z||$z>>
    $w = np.array(<<[$one($e) for $e in $v]||list(map($one, $v))||[$one($v[$i]) for $i in range($N)]
        ||[float($one($e)) for $e in $v]>>)
    """


@fragment("v: vec, x: float -> t: float")
def positions(d: Draft) -> str:
    return """
    $i = <<int(np.argmax($v))||np.argmin($v)||np.searchsorted(np.sort($v), 0.1) % $N||int(np.sum($v > 0)) % $N
        ||np.argmax($v > 0)||np.flatnonzero($v != 9.0)[-1]||int(abs($v[0]) * 10) % $N>>
    $t = $v[$i] * $x + $v[$i - 1]
    <<$v[$i] *= $0||pass>>
    """


@fragment("v: vec, w: vec -> t: float")
def losses(d: Draft) -> str:
    return """
    $r = $v - $w
    $t = <<np.mean($r ** 2)||np.sqrt(np.mean($r ** 2) + 0.1)
        ||np.mean(np.where(np.abs($r) < $0, 0.5 * $r ** 2, np.abs($r)))||np.sum(np.log1p(np.exp(-$r)))
        ||-np.mean(np.log(1.0 / (1.0 + np.exp(-$r))))||np.logaddexp.reduce($r)||np.max(np.abs($r))||$r.dot($r)
        ||np.hypot($r[0], 1.0 + $r[1])||np.arctan2($r[0], 1.0 + $r[1] ** 2)>>
    """


@fragment("v: vec, x: float -> t: float")
def integrals(d: Draft) -> str:
    return """
    $grid = np.linspace(0.0, 1.0, $N)
    $t = <<np.trapezoid($v * $x, $grid)||np.sum(($v[1:] + $v[:-1]) / 2 * np.diff($grid))||np.trapezoid($v, dx=$0)
        ||np.sum(np.sin($grid * $x) * $v) / $N>>
    """


@fragment("v: vec, w: vec, x: float -> t: float")
def grids(d: Draft) -> str:
    return """
    $p, $q = np.meshgrid($v, $w<<||, indexing="ij">>)
    $z = np.sin($p * $x) <<+||*>> $q
    <<$p[0] += $q[-1]||$z[0, :] = $x||pass>>
    $t = np.sum($z) * $0 + np.sum($p)
    """


@fragment("v: vec, x: float -> w: vec")
def reduced(d: Draft) -> str:
    return """
    $w = $v * <<np.multiply.reduce(1.0 + 0.2 * $v)||np.add.reduce($v)||np.prod($v)||sum($v)||max($v)
        ||np.maximum.reduce($v)||math.fsum($v)||math.hypot(*$v)||math.prod($v.tolist())||np.count_nonzero($v > 0)
        ||np.add.reduceat($v, [0, 1])[1]>> + $x
    """


@fragment("v: vec, x: float -> w: vec")
def single_numbers(d: Draft) -> str:
    return """
    $s = <<np.sum($v)||np.float64($x)||np.array($x)||$v[0]||np.sum($v, keepdims=True)[0]||$v.sum().item()
        ||float($v[1])||np.asarray($x)[()]||np.squeeze($v[:1])||$v[0:1].item()>>
    $s = $s * $0
    $s <<+= $x||*= $x||= $s + $v[0]>>
    $w = $v + $s
    """


@fragment("v: vec, w: vec, x: float -> u: vec")
def vectorised_function(d: Draft) -> str:
    d.above("""
    def $act(z, k=1.0):
        return np.tanh(z * k) + <<z||k||0.1 * z ** 2>>
    """)
    return """
    $u = $act($v, <<$x||k=$x||k=$w||$0>>)
    $u[0] = $act($u[0])
    """


@fragment("a: mat, v: vec -> b: mat")
def matrix_expressions(d: Draft) -> str:
    return """
    $b = <<np.sin($a) * $v||$a + np.ones(($M, 1)) * $v||np.where($a > $v, $a, $v)||np.vstack([$v, $a[1:]])
        ||np.stack([$v] * $M)||$a[::-1]||$a[:, ::-1]||np.tanh($a) @ np.outer($v, $v)||np.asfortranarray($a)
        ||$a.T.copy().T||np.concatenate([$a[1:], $a[:1]])||np.array([r * $0 for r in $a])
        ||np.insert($a[1:], 0, $v, axis=0)||np.sort($a, axis=0)||np.take($a, range($M), axis=0)
        ||$a.reshape($N, $M).reshape($M, $N)||np.ascontiguousarray($a.T).T>>
    """


@fragment("v: vec, x: float -> t: float")
def boolean_counts(d: Draft) -> str:
    return """
    $mask = <<$v > 0||$v < $x||($v > -0.5) & ($v < 0.5)||np.isfinite($v)||np.logical_or($v > $0, $v < -$0)>>
    if $mask.<<any()||all()||sum() > 1>>:
        $t = $x * np.sum($v[$mask])<< / max($mask.sum(), 1)||>>
    else:
        $t = $v[0] * $0 + $mask.mean()
    """


@fragment("v: vec, x: float -> w: vec")
def whole_number_arrays(d: Draft) -> str:
    return """
    $k = <<np.arange($N)||np.array([1, 2, 3, 4][:$N])||np.ones($N, dtype=int)||np.arange($N)[::-1].copy()>>
    <<$k[0] += 2||$k = $k * 2||$k[1:] = 1||pass>>
    $w = $v * $k + <<$x * $k||$k / 3||$k||$k % 2>>
    """
