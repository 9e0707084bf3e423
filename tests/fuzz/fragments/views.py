"""Arrays written in place: rows as names, views of views, work arrays, stores that overlap."""

from __future__ import annotations

from fuzz.fragments.draft import MAKERS, Draft, fragment

MAKERS["vec"] = ["$new = np.linspace($0, $x, $N)"]
MAKERS["float"] = ["$new = $0"]
MAKERS["mat"] = [
    "$new = np.outer(np.linspace($0, 1.0, $M), $v)",
    "$new = np.stack([$v * (k + $x) for k in range($M)])",
    "$new = np.arange($M * $N).reshape($M, $N) * $x * $0",
    "$new = np.tile($v, ($M, 1))",
    "$new = np.array([$v] * $M)",
    "$new = np.outer($v, np.linspace($0, 1.0, $M)).T",
    "$new = np.zeros(($M, $N)) + $v",
]
MAKERS["square"] = [
    "$new = np.outer($v, $v) + 2.0 * np.eye($N)",
    "$new = np.diag($v) + $x",
    "$new = np.array([[$x * i + j * $0 for j in range($N)] for i in range($N)])",
]
MAKERS["vecs"] = [
    "$new = [$v.copy(), $0 * $w]",
    "$new = [$v, $v * $x, $w]",
    "$new = [np.full($N, $x) for k in range(2)]",
    "$new = [$v] + [$v * $0]",
]


@fragment("a: mat, x: float -> r: vec")
def row_as_a_name(d: Draft) -> str:
    return """
    $r = $a[<<0||-1||1>>]
    $r *= $0
    $r[<<1||0||-1>>] <<= $x||+= $x||= $r[0] * $x>>
    """


@fragment("v: vec, x: float -> w: vec")
def view_of_a_view(d: Draft) -> str:
    return """
    $b = $v[<<1:||:-1||:>>]
    $c = $b[::-1]
    $c[0] <<+=||*=||=>> $x
    $w = $v[::-1]
    $w[<<0||-1>>] *= $0
    """


@fragment("a: mat, x: float")
def rows_in_a_loop(d: Draft) -> str:
    return """
    for <<$r in $a||$i, $r in enumerate($a)||$r in reversed($a)||$r in $a[::-1]>>:
        <<$r[:] = np.sin($r) * $x||$r -= $r.mean()||$r *= $0||$r[0] = $r[-1] * $x
        ||$r[...] = $r / (1.0 + np.sum($r * $r))>>
    """


@fragment("a: mat")
def rows_swapped(d: Draft) -> str:
    return """
    <<$a[[0, 1]] = $a[[1, 0]]||$a[0], $a[1] = $a[1].copy(), $a[0].copy()||$a[0], $a[1] = $a[1], $a[0]
        ||$a[0, :], $a[-1, :] = $a[-1, :] * 0.5, $a[0, :]||$a[:] = $a[::-1]>>
    """


@fragment("a: mat, x: float -> t: float")
def reshaped_and_written(d: Draft) -> str:
    return """
    $w = <<$a.reshape(-1)||$a.ravel()||$a.T.ravel()||$a.flatten()||$a.T.reshape(-1)||$a.copy().ravel()
        ||$a.T.copy().reshape(-1)||np.ravel($a)||$a.reshape($N, $M)||$a.T>>
    $w[<<0||-1||1||:1>>] <<= $x||*= $x||+= $0>>
    $t = np.sum($w * $0) + $a[0, -1]
    """


@fragment("a: mat, x: float")
def transposed_and_written(d: Draft) -> str:
    return """
    <<$a.T[0] = $x||$a.T[0] *= $x||$a[:, 0] = $a[:, 1] * $x||$a[:, -1] += $a[:, 0]||$a.flat[1] = $x
        ||$a[:, ::-1][0] *= $0||np.swapaxes($a, 0, 1)[1] -= $x>>
    """


@fragment("v: vec, x: float -> w: vec")
def buffers_swapped(d: Draft) -> str:
    return """
    $cur, $nxt = $v.copy(), np.zeros_like($v)
    for $k in range(<<2||3>>):
        $nxt[0] = $cur[0] * $x
        for $i in range(1, $N):
            $nxt[$i] = $cur[$i] + $0 * $cur[$i - 1]
        $cur, $nxt = $nxt, $cur
    $w = $cur <<+ $nxt||- $1 * $nxt||>>
    """


@fragment("v: vec, x: float -> w: vec, t: float")
def workspace(d: Draft) -> str:
    return """
    $w = np.empty($N)
    $t = 0.0
    for $k in range(2):
        np.multiply($v, $x + $k, out=$w)
        <<np.sin($w, out=$w)||np.add($w, $v, $w)||np.subtract($v, $w, out=$w)||np.clip($w, -0.9, 0.9, out=$w)>>
        $t += np.sum($w) * $0
    """


@fragment("v: vec, x: float")
def overlapping_store(d: Draft) -> str:
    return """
    <<$v[1:] = $v[:-1] * $0||$v[1:] += $v[:-1] * $x||$v[:-1] -= $v[1:]||$v[:] = $v[::-1]||$v += $v[::-1] * $0
        ||$v[1:], $v[:-1] = $v[:-1] * $x, $v[1:] * $0>>
    """


@fragment("v: vec, x: float -> w: vec")
def masked_store(d: Draft) -> str:
    return """
    $w = $v <<* 1.0||.copy()||+ $x>>
    $w[<<$w > 0||$v < $x||~($w > $0)||($w > 0) & ($v < 0.9)||np.abs($w) > $0>>] <<*= $x||= $x||= 0.0||+= $0>>
    """


@fragment("v: vec, w: vec, x: float")
def scattered(d: Draft) -> str:
    return """
    $idx = <<np.array([0, $N - 1, 0])||[1, 0, 0]||np.argsort($v)[[0, 1, 0]]>>
    <<np.add.at($w, $idx, $v[$idx] * $x)||$w[$idx] += $v[$idx]||$w[$idx] = np.array([$x, $0, $v[0]])
        ||np.subtract.at($w, $idx, $x)||$w[$idx] *= $x>>
    """


@fragment("v: vec, x: float -> w: vec")
def gathered(d: Draft) -> str:
    return """
    $idx = <<np.array([$N - 1] * $N)||np.arange($N)[::-1]||[0] * $N||np.argsort($v)||(np.arange($N) + 1) % $N>>
    $w = $v[$idx]
    $w[0] <<*=||+=>> $x
    """


@fragment("s: square, x: float -> t: float")
def diagonal_written(d: Draft) -> str:
    return """
    <<np.fill_diagonal($s, $x)||$s[np.arange($N), np.arange($N)] += $x||$s[np.diag_indices($N)] = $x
        ||$s.flat[:: $N + 1] = $x||$s[range($N), range($N)] *= $x>>
    $t = np.trace($s) * $0 + $s[0, 1]
    """


@fragment("v: vec, x: float")
def list_of_views(d: Draft) -> str:
    return """
    $parts = <<[$v[:1], $v[1:]]||np.split($v, [1])||[$v[$i : $i + 1] for $i in range($N)]||[$v, $v[::-1]]>>
    for $p in $parts:
        $p <<*=||+=>> <<$x||$0||$p>>
    """


@fragment("a: mat, x: float -> w: vec")
def parts_of_a_matrix(d: Draft) -> str:
    return """
    $p, $q = <<$a[0], $a[1]||$a[0], $a[0]||$a[:2]>>
    $p <<+=||*=>> <<$q||$x>>
    $q[0] = $p[1] * $0
    $w = $p <<||- $q||.copy()>>
    """


@fragment("v: vec, x: float -> w: vec")
def copy_or_not(d: Draft) -> str:
    return """
    $w = <<np.asarray($v)||np.array($v)||np.atleast_1d($v)||np.ascontiguousarray($v)||$v.copy()||$v[:]
        ||$v.astype(float)||np.asarray($v, dtype=float)||$v.view()||$v.squeeze()||np.copy($v)||+$v
        ||np.array($v, copy=None)||$v.astype(float, copy=False)||$v.reshape($N)||np.require($v)>>
    $w[0] = $x * $0
    """


@fragment("a: mat, v: vec, x: float")
def broadcast_store(d: Draft) -> str:
    return """
    <<$a[:] = $v||$a[...] += $v[None, :]||$a[:, 0] = $x||$a[1:] = $v * $x||$a *= $v||$a[:, :] = $x||$a += $a[0]
        ||$a -= $a.mean(axis=0)||$a /= 1.0 + np.sum($a * $a, axis=1, keepdims=True)||np.copyto($a, $v)>>
    """


@fragment("v: vec, x: float -> t: float")
def new_axis(d: Draft) -> str:
    return """
    $c = <<$v[:, None]||$v[None]||$v.reshape(-1, 1)||np.expand_dims($v, 1)>>
    $c <<+=||*=>> $x
    $t = np.sum($c * $c<<||.T>>) * 0.1 + $v[0]
    """


@fragment("v: vec, x: float -> w: vec")
def rows_of_a_buffer(d: Draft) -> str:
    return """
    $buf = np.<<zeros((3, $N))||empty((3, $N))||ones((3, $N))>>
    $buf[0] = $v
    for $k in range(1, 3):
        $buf[$k] = <<$buf[$k - 1] * $x||np.sin($buf[$k - 1]) + $x||$buf[$k - 1][::-1] * $0>>
    $buf[0] += $buf[2]
    $w = <<$buf[0]||$buf.sum(axis=0)||$buf[-1]||$buf[1:].mean(0)||$buf[[0, 2]].sum(0)>>
    """


@fragment("v: vec, x: float -> w: vec")
def window_shifted(d: Draft) -> str:
    return """
    $w = $v <<* $0||.copy()||[::-1].copy()>>
    for $k in range(3):
        <<$w[:-1] = $w[1:]||$w[1:] = $w[:-1].copy()||$w = np.roll($w, 1)||$w[:] = np.roll($w, -1)>>
        $w[<<-1||0>>] = $x * ($k + 1) <<||+ $w[1]>>
    """


@fragment("v: vec, x: float")
def handed_to_a_writer(d: Draft) -> str:
    d.above("""
    def $scale(a, s, start=0):
        a[start:] *= s
        <<return a||return None||a[0] = a[0] + s>>
    """)
    return """
    <<$scale($v, $x)||$scale($v[1:], $x)||$scale($v[::-1], s=$x)||$scale($v, $x, start=1)||$scale(s=$0, a=$v)>>
    """


@fragment("s: square, x: float")
def triangles(d: Draft) -> str:
    return """
    for $i in range($N):
        for $j in range($i):
            <<$s[$i, $j] = $s[$j, $i] * $x||$s[$j, $i] += $0 * $s[$i, $j]
        ||$s[$i, $j], $s[$j, $i] = $s[$j, $i], $s[$i, $j]||$s[$i][$j] *= $x>>
    """


@fragment("a: mat, x: float -> w: vec")
def three_axes(d: Draft) -> str:
    return """
    $c = np.zeros((2, $M, $N))
    $c[0] = $a
    $c[1] = $c[0] * $x
    <<$c[:, 0] += $c[:, 1]||$c[..., 0] *= $0||$c[1, 0, :] = $x||$c.reshape(2, -1)[1] += $x||$c[0, 1:] -= $c[1, :-1]>>
    $w = $c<<.sum(axis=(0, 1))||[:, 0].sum(0)||[1, -1]||.mean(axis=0)[0]>>
    """


@fragment("a: mat, x: float -> b: mat")
def matrix_rebuilt(d: Draft) -> str:
    return """
    $b = <<np.zeros_like($a)||np.empty_like($a)||np.empty(($M, $N))||np.zeros($a.shape)>>
    for $i in range($a.shape[0]):
        for $j in range($a.shape[1]):
            $b[$i, $j] = <<$a[$i, $j] * $x||$a[$i][$j] + $x * $a[$i, $j - 1]||math.sin($a[$i, $j])>>
    <<$a[:] = $b||$a += $b||pass>>
    """


@fragment("p: vecs, x: float -> w: vec")
def list_of_arrays(d: Draft) -> str:
    return """
    <<$p[0] *= $x||$p[0][1] = $x||$p.append($p[0] * $x)||$p[-1] = $p[0]||$p[0], $p[1] = $p[1], $p[0]
        ||$p[0][:], $p[1][:] = $p[1] * $0, $p[0]>>
    for $a in $p:
        $a <<+=||*=>> $0
    $w = <<sum($p)||$p[0] + $p[-1]||$p[-1]||np.mean($p, axis=0)||functools.reduce(np.add, $p)>>
    """


@fragment("p: vecs -> a: vec")
def arrays_stacked(d: Draft) -> str:
    return """
    $st = <<np.stack($p)||np.array($p)||np.vstack($p)||np.stack($p, axis=1).T||np.asarray($p)
        ||np.concatenate($p).reshape(-1, $N)>>
    $st[0] *= $0
    $a = <<$st.sum(0)||$st[0]||$st[-1] - $p[0]||np.tanh($st).mean(axis=0)>>
    """


@fragment("v: vec, x: float -> w: vec")
def while_in_place(d: Draft) -> str:
    return """
    $w = $v
    $i = 0
    while $i < $N - 1:
        <<$w[$i + 1] += $w[$i] * $x||$w[$i], $w[$i + 1] = $w[$i + 1], $w[$i] * $0||$w[$i] = np.sum($w[$i:]) * $x>>
        $i += 1
    """


@fragment("v: vec, x: float -> t: float")
def read_before_and_after(d: Draft) -> str:
    return """
    $before = <<$v[0]||$v * 1.0||$v[:1]||$v>>
    $v <<*= $x||+= $x||[0] = $x||[:] = $v * $x>>
    $t = np.sum($before * $v) * $0
    """


@fragment("a: mat, v: vec -> t: float")
def matrix_by_key(d: Draft) -> str:
    return """
    $views = {"top": $a[0], "rest": $a[1:], "col": $a[:, 0]}
    $views["top"] += $v
    $views["col"][:] = $views["col"] * $0
    <<$views["rest"] *= $1||$views["rest"] = $views["rest"] * $1||$views["top"][0] = $views["rest"][0, 0]>>
    $t = np.sum($a * $0) + np.sum($views["rest"])
    """
