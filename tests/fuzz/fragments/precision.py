"""Single precision among double: what is converted, stored, mixed and summed."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("v: vec, x: float -> w: vec", weight=0.5)
def in_single_precision(d: Draft) -> str:
    return """
    $s = <<$v.astype(np.float32)||np.asarray($v, dtype=np.float32)||np.float32($x) * $v.astype(np.float32)
        ||np.array($v, np.float32)>>
    $s = <<$s * $x||np.tanh($s)||$s + np.float32(0.5)||$s * $s||np.sqrt($s * $s + 1)||$s / $s.dtype.type(1.5)>>
    $w = <<$s.astype(float)||$s * 1.0||$s + $v||np.concatenate([$s, $v])[:$N]||$s>>
    """


@fragment("v: vec, x: float -> w: vec, t: float", weight=0.5)
def stored_in_single_precision(d: Draft) -> str:
    return """
    $buffer = np.<<zeros||empty||ones>>($N, dtype=np.float32)
    <<$buffer[:] = $v * $x||for $i in range($N): $buffer[$i] = $v[$i] * $x
    ||$buffer[:] = np.multiply($v, $x, out=np.empty($N))>>
    $buffer[0] <<*=||+=||=>> $x
    $w = $buffer.astype(np.float64)
    $t = float(<<$buffer.sum()||$buffer[0]||$buffer @ $buffer||np.mean($buffer)>>)
    """


@fragment("x: float, y: float -> t: float", weight=0.5)
def a_number_in_single_precision(d: Draft) -> str:
    return """
    $s = <<np.float32($x)||np.float32($x * $y)>>
    $t = <<float($s * $s)||float(np.sin($s)) * $y||$s * $x||float($s) + $y||float($s + $y)>>
    """
