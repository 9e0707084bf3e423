"""Equal elements, that stay equal: what is largest, smallest, in order, between two."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("v: vec, x: float -> w: vec")
def equal_elements(d: Draft) -> str:
    return """
    $w = <<$v.copy()||$v * $0||np.array($v)>>
    $w[1] = $w[0]
    <<$w[-1] = $w[0]||$w[:] = $x||$w = np.repeat($w[:1], $N) * $x||pass>>
    """


@fragment("v: vec, x: float -> t: float")
def chosen_among_equals(d: Draft) -> str:
    return """
    $w = <<np.full($N, $x)||np.concatenate([$v, $v])||np.repeat($v, 2)||np.array([$x, $x, $0])>>
    $t = <<np.max($w)||np.min($w)||$w.max() * $x||np.sort($w)[0]||np.sort($w)[-2:].sum()||np.median($w)||max($w)
        ||min($w.tolist())||sorted($w)[1]||$w[np.argmax($w)]||np.partition($w, 1)[1]||np.maximum($w, $w[::-1]).sum()
        ||np.maximum.reduce($w)||np.ptp($w)||np.amax($w, keepdims=True)[0]||np.unique($w).sum()||np.quantile($w, 0.5)
        ||np.minimum.accumulate($w).sum()||np.clip($w, $w.min(), $w.max()).sum()||np.fmax($w, $w).sum()>>
    """


@fragment("x: float, y: float -> t: float")
def equal_numbers(d: Draft) -> str:
    return """
    $a, $b = $x * $y, $y * $x
    $t = <<max($a, $b)||min($a, $b, $a)||sorted([$a, $b])[0]||np.maximum($a, $b)||np.fmin($b, $a)
        ||max([$a, $b], key=lambda $e: $e)||($a if $a >= $b else $b)||heapq.nsmallest(1, [$a, $b])[0]>> + $x
    """


@fragment("a: mat -> w: vec")
def equal_rows(d: Draft) -> str:
    return """
    $b = np.vstack([$a, $a])
    $w = <<$b.max(axis=0)||np.sort($b, axis=0)[0]||np.median($b, axis=0)||np.min($b, 0)||np.nanmax($b, axis=0)
        ||np.take_along_axis($b, np.argmax($b, axis=0)[None], 0)[0]||np.maximum($b[:$M], $b[$M:])[0]>>
    """
