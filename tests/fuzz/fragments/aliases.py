"""Several names for one memory: which of them is written is decided late, or far away."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("v: vec, w: vec, x: float -> u: vec")
def one_of_two_is_written(d: Draft) -> str:
    return """
    $u = <<$v if $x > $0 else $w||($v, $w)[int($x > 0)]||$v if np.sum($w) > 0 else $w[::-1]||[$v, $w][$x < 0]>>
    $u[<<0||-1||:1>>] <<*= $x||+= $0||= $x>>
    <<$v *= $0||$w[0] = $u[1]||pass>>
    """


@fragment("v: vec, x: float -> w: vec")
def chained_assignment(d: Draft) -> str:
    return """
    $a = $w = <<np.zeros($N)||$v.copy()||$v||np.ones($N) * $x>>
    $a[0] = $x
    $w <<+=||*=||= $a +||= $w *>> $v
    $a[-1] += $w[0]
    """


@fragment("v: vec, x: float -> w: vec")
def previous_and_current(d: Draft) -> str:
    return """
    $prev, $w = $v, $v <<* $0||.copy()||>>
    for $k in range(3):
        $old = <<$w||$w.copy()||$w[:]>>
        $w <<= $w + $x * ($w - $prev)||+= $x * $prev||*= $0>>
        $prev = $old
    """


@fragment("a: mat, x: float")
def rows_swapped_by_hand(d: Draft) -> str:
    return """
    $tmp = $a[0]<<||.copy()||* 1.0>>
    $a[0] = $a[1]
    $a[1] = $tmp <<* $x||+ $x||>>
    """


@fragment("v: vec, x: float -> f: function")
def captured_array(d: Draft) -> str:
    return """
    $w = $v <<* $0||||.copy()>>
    def $f($z, $held=$w):
        <<$held[0] = $held[0] * 0.9||pass||$w[-1] += $z>>
        return $z * np.sum(<<$w||$held>>)
    $w <<*= $x||[0] = $x||= $w * $x>>
    """


@fragment("v: vec, x: float -> p: vecs")
def stored_and_written(d: Draft) -> str:
    return """
    $w = $v * $x
    $kept = {"one": $w, "two": ($w, $x), "three": [$w[1:], $w[::-1]]}
    $w<<[0]||[:]||[-1]>> <<*= $0||= $x>>
    $kept["three"][<<0||1>>][0] <<+= $x||= $1>>
    $kept["two"][0][-1] *= $2
    $p = [$kept["one"], $kept["three"][1]]
    """


@fragment("v: vec, x: float -> t: float")
def written_while_iterated(d: Draft) -> str:
    return """
    $t = 0.0
    for $i, $e in enumerate($v):
        $v[<<-1||$i - 1||($i + 1) % $N||$i>>] <<= $e * $x||+= $e||*= $0>>
        $t += $e * ($i + 1)
    """


@fragment("v: vec, x: float -> t: float")
def elements_by_index(d: Draft) -> str:
    return """
    $t = $x
    for $i in range(len($v)):
        $e = $v[$i]
        <<$v[$i] += $v[$i]||$v[$i] = $e * $v[-1 - $i]||$v[$i], $v[-1] = $v[-1], $v[$i] * $0||$v[$i] -= $e * $x>>
        $t = $t * $0 + $e * $v[$i]
    """


@fragment("v: vec, w: vec, x: float")
def written_by_functions(d: Draft) -> str:
    return """
    $m = $v > <<0||$0>>
    <<np.copyto($w, $v, where=$m)||np.put($w, [0, -1], [$x, $0])||np.putmask($w, $m, $v)
    ||np.place($w, $m, [$x])||np.cumsum($v, out=$w)||np.add($w, $x, out=$w, where=$m)
    ||np.multiply($v[1:], $x, out=$w[:-1])||np.negative($w, out=$w)||np.minimum($w, $v, out=$w)
    ||$w.__setitem__(0, $x)||$w.__imul__($x)||np.maximum.at($w, [0], [$x])
    ||np.exp($w * $0, $w)||np.take($v, [1] * $N, out=$w)||np.matmul(np.eye($N) * $x, $v, out=$w)>>
    """


@fragment("a: mat, x: float")
def sorted_in_place(d: Draft) -> str:
    return """
    <<$a[0].sort()||$a.sort(axis=0)||$a[:, 0].sort()||$a.sort()||$a[1][::-1].sort()||$a.ravel().sort()>>
    $a[0, 0] <<*=||+=>> $x
    """


@fragment("v: vec, x: float -> t: float")
def interrupted_writes(d: Draft) -> str:
    return """
    $t = $x
    try:
        $v[0] *= $x
        $t = $t + $v[0]
        if $v[0] > <<-9||$0||9>>:
            raise <<ValueError||KeyError("no")||ZeroDivisionError>>
        $v[1] = $t
        $t = $t * $0
    except (ValueError, KeyError, ArithmeticError):
        $v[-1] += $t
    """


@fragment("v: vec, x: float -> t: float")
def generator_writes(d: Draft) -> str:
    return """
    def $g($a):
        for $i in range($N):
            yield <<$a[$i]||$a||$a[$i:]||($i, $a[$i])[1]>>
            $a[$i] *= $0
    $t = 0.0
    for $e in $g($v):
        <<$v[-1] += $x||pass||$v[0] = $x>>
        $t += np.sum($e)
    """


@fragment("v: vec, x: float")
def recursion_on_slices(d: Draft) -> str:
    d.above("""
    def $mix(a, x):
        if len(a) < 2:
            <<return||a[0] *= x; return||return None>>
        m = len(a) // 2
        $mix(a[:m], x)
        $mix(a[m:], x * $0)
        a[:m] <<+= a[-m:]||*= a[-1]||-= x * a[m]>>
    """)
    return """
    $mix($v<<||[::-1]||[1:]>>, $x)
    """


@fragment("v: vec, x: float -> w: vec")
def sorted_by_recursion(d: Draft) -> str:
    d.above("""
    def $ordered(items):
        if len(items) <= 1:
            return items
        pivot, rest = items[0], items[1:]
        low = [e for e in rest if e < pivot]
        high = [e for e in rest if e >= pivot]
        return $ordered(low) + [pivot] + $ordered(high)
    """)
    return """
    $w = np.array($ordered(list($v))) * np.arange(1, $N + 1) * $x
    """


@fragment("v: vec, x: float -> w: vec")
def whole_number_store(d: Draft) -> str:
    return """
    $k = np.zeros($N<<, dtype=int||, int||, dtype=np.int64||>>)
    $k[0] = <<3||$N||int(10 * $x)||2>>
    $k[1:] += <<1||2>>
    $w = $v * $k + <<$k / 2||$k // 2||$x>>
    """


@fragment("x: float, v: vec -> t: float")
def rounded(d: Draft) -> str:
    return """
    $t = <<$x % 0.37||$x // 0.3 + $x||round($x, 1) * $x||int($x * 7) * $x||math.floor($x) + $x||np.floor($x * 3) * $x
    ||math.fmod($x, 0.3)||float(np.round($x, 1)) + $x||$x - math.trunc($x)||np.sum($v % 0.3)||np.sum($v // 0.2) * $x
    ||np.sum(np.modf($v)[0])||divmod($x, 0.3)[0] * $x||math.copysign($x, -1.0)||np.sum(np.rint($v) * $v)>>
    """


@fragment("v: vec, x: float -> t: float")
def complex_numbers(d: Draft) -> str:
    return """
    $z = <<np.exp(1j * $x)||complex($x, $0) ** 2||(1 + 2j) * $x||np.sum(np.exp(1j * $v))||np.fft.fft($v)[1]
    ||np.sum($v * (1 - 1j)) * 1j||np.conj(np.sum($v) + 1j * $x)>>
    $t = <<$z.real||$z.imag||abs($z)||$z.real * $z.imag||np.real($z * $z)||np.angle($z + 3.0)||abs($z) ** 2>>
    """


@fragment("l: list, x: float -> t: float")
def lists_in_lists(d: Draft) -> str:
    return """
    $rows = <<[[$x, $0], [$1, $x]]||[$l[:2], $l[-2:]]||[[$x] * 2] * 2||[[$0 for $i in range(2)] for $j in range(2)]>>
    $rows[0][1] = $x * $2
    <<$rows.append($rows[0])||$rows[1] = $rows[0]||$rows[0], $rows[1] = $rows[1], $rows[0]||pass>>
    $rows[-1][0] <<*=||+=>> $0
    $t = sum(sum($r) * ($k + 1) for $k, $r in enumerate($rows))
    """


@fragment("l: list, x: float -> t: float")
def list_asked(d: Draft) -> str:
    return """
    $i = $l.index(<<max($l)||$l[-1]||min($l)||sorted($l)[0]>>)
    $t = $x * $i + $l[$i]
    <<$l.remove($l[0]) if len($l) > 2 else None||$l[$i] = $x||$l.insert($i, $x)||pass>>
    $t += sum($l) * len($l) + ($x in $l)
    """


@fragment("a: mat, x: float -> t: float, l: list")
def zipped_rows(d: Draft) -> str:
    return """
    $l = []
    for $c in <<zip(*$a)||$a.T||zip($a[0], $a[1])||np.transpose($a)||zip(*$a.tolist())>>:
        $l.append(sum($c) * $x)
    $t = sum(sum([list($r) for $r in $a], []))
    """


@fragment("v: vec, x: float")
def strided_stores(d: Draft) -> str:
    return """
    <<$v[::2] *= $x||$v[::2] += $v[::-1][::2]||$v[1::2] = $x||$v[::-2] -= $0 * $v[0]||$v[-1:0:-1] *= $x
    ||$v[[0]] += $v[-1:]||$v[slice(1, None)] = $v[0]||$v[...] *= $v||$v[()] = $v * $x||$v[np.arange($N) > 0] = $x
    ||$v[-2:] = $v[:2] * $x||$v[0], $v[1] = $v[1], $v[0]||$v[:2] = $v[1::-1]>>
    """


@fragment("a: mat, x: float")
def blocks(d: Draft) -> str:
    return """
    <<$a[:1, 1:] = $a[1:2, :-1] * $x||$a[np.ix_([0, 1], [0, 1])] *= $x||$a[1, ::-1] += $a[0]
        ||$a[-1, -1] = $a.sum() * $x
    ||$a[:, [0, 1]] = $a[:, [1, 0]]||$a[[0, 1], [1, 0]] += $x||$a[$a > $0] = $x||$a[:, 1:] -= $a[:, :1]
    ||$a[$a[:, 0] > 0] *= $x||$a[0] = $a[1] = $x||$a[:2, :2] = $a[:2, :2].T||$a[..., -1] *= $a[..., 0]
    ||np.fill_diagonal($a, $x)||$a.T[1:] += $x||$a.reshape(-1)[::2] = $x
        ||$a[1] -= $a[1, 0] / ($a[0, 0] + 3.0) * $a[0]>>
    """


@fragment("x: float, v: vec -> t: float, w: vec")
def copies_of_structures(d: Draft) -> str:
    return """
    $s = {"w": $v, "n": [$x, $0]}
    $c = <<copy.deepcopy($s)||copy.copy($s)||dict($s)||{$k: $e for $k, $e in $s.items()}||$s>>
    $c["w"] <<*=||+=>> $0
    $c["n"][0] = $c["n"][0] * $1
    <<$c["n"] = [$x]||$c["w"] = $c["w"] * $x||pass>>
    $t, $w = $s["n"][0] + $c["n"][-1], $s["w"] + $c["w"]
    """


@fragment("v: vec, x: float -> w: vec")
def ring_buffer(d: Draft) -> str:
    return """
    $buf, $at = np.zeros($N), 0
    for $e in <<[*$v, $x]||np.append($v, $x)||list($v) + [$x, $0]>>:
        $buf[$at % $N] = $e + $0 * $buf[($at - 1) % $N]
        $at += 1
    $w = <<$buf||np.roll($buf, -$at)||np.array([$buf[($at + $i) % $N] for $i in range($N)])>>
    """
