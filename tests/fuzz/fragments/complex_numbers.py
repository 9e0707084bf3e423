"""Complex numbers on the way from real ones to real ones: waves, transforms, roots, rotations."""

from __future__ import annotations

from fuzz.fragments.draft import MAKERS, Draft, fragment

MAKERS["waves"] = [
    "$new = $v + 1j * $w",
    "$new = np.exp(1j * $v) * $x",
    "$new = np.fft.fft($v)",
    "$new = np.array([complex($e, $x) for $e in $v])",
]


@fragment("z: waves, x: float -> y: waves")
def turned(d: Draft) -> str:
    return """
    $y = <<$z * np.exp(1j * $x)||np.conj($z) * $x||$z ** 2 * (0.3 - 0.2j)||$z / (1.5 + 0.2j + $x * 1j)
        ||$z.conjugate() + $x||np.sin($z) * 0.2||1j * $z - $x||np.roll($z, 1) * $z
        ||np.where($z.real > 0, $z, $x * $z)||-$z[::-1]>>
    """


@fragment("z: waves -> w: vec")
def parts_of_waves(d: Draft) -> str:
    return """
    $w = <<$z.real||$z.imag * $0||np.abs($z) ** 2||np.real($z * np.conj($z))||np.abs($z + 2.0)||np.angle($z + 2.5) * $0
        ||($z * $z).imag||np.hypot($z.real, $z.imag + 2.0)>>
    """


@fragment("z: waves, v: vec, x: float -> y: waves")
def waves_in_place(d: Draft) -> str:
    return """
    $y = <<$z.copy()||np.zeros($N, dtype=complex)||np.array($z)>>
    $y[<<0||-1||::2||:>>] <<+=||*=||=>> <<$x||$x * 1j||$v[0] + 0.5j>>
    <<$y.real[:] = $v||$y.imag *= $x||$y.real += $0||pass>>
    """


@fragment("v: vec, x: float -> w: vec")
def filtered(d: Draft) -> str:
    return """
    $spectrum = <<np.fft.rfft($v)||np.fft.fft($v)[:$N // 2 + 1]>>
    $spectrum = $spectrum * <<np.exp(-$x * np.arange($spectrum.size))||(1.0 + $x * 1j)||$x>>
    $w = np.fft.irfft($spectrum, $N)
    """


@fragment("x: float, y: float -> t: float")
def one_complex_number(d: Draft) -> str:
    return """
    $z = <<complex($x, $y)||$x + 1j * $y||complex($x) * (0.3 + 0.4j)>>
    <<$z = $z * $z + 0.2j||$z *= 1j||$z = $z.conjugate() * $x||pass>>
    $t = <<$z.real * $z.imag||abs($z) ** 2||($z * $z).real||cmath.exp($z * 0.3).imag||abs($z + 2.0)>>
    """


@fragment("z: waves, s: square -> t: float")
def products_of_waves(d: Draft) -> str:
    return """
    $t = <<np.vdot($z, $z).real||np.sum($s @ $z).real||np.sum(np.outer($z, $z)).imag||np.dot($z, $z).imag
        ||np.sum(np.cumsum($z)).real||np.sum(np.fft.ifft($z)).real||np.mean($z).imag||abs(np.sum($z) + 3.0)>>
    """


@fragment("x: float -> t: float")
def mandelbrot(d: Draft) -> str:
    return """
    $z, $c = 0j, complex($x * 0.3, $0 * 0.3)
    for $k in range(4):
        $z = $z * $z + $c
        <<if abs($z) > 2: break||pass>>
    $t = abs($z) ** 2 + $z.real
    """
