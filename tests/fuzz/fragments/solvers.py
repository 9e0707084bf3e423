"""Numerical methods as they are written by hand."""

from __future__ import annotations

from fuzz.fragments.draft import Draft, fragment


@fragment("x: float, y: float -> t: float")
def newton(d: Draft) -> str:
    return """
    $t = <<1.0||$y||$0>>
    for $k in range(<<4||6>>):
        $r = $t ** 3 + $t * (1.0 + $x * $x) - $y
        $s = 3 * $t ** 2 + 1.0 + $x * $x
        $t = $t - $r / $s
        <<if abs($r) < 1e-13: break||pass>>
    """


@fragment("x: float, y: float -> t: float")
def bisection(d: Draft) -> str:
    return """
    $lo, $hi = -3.0 - abs($y), 3.0 + abs($y)
    while $hi - $lo > 1e-2:
        $mid = 0.5 * ($lo + $hi)
        if $mid ** 3 + $mid - $x > 0:
            $hi = $mid
        else:
            $lo = $mid
    $t = 0.5 * ($lo + $hi)
    for $k in range(3):
        $t -= ($t ** 3 + $t - $x) / (3 * $t ** 2 + 1)
    """


@fragment("v: vec, x: float -> w: vec")
def euler_steps(d: Draft) -> str:
    return """
    $w = $v <<||.copy()||* 1.0>>
    $time, $dt = 0.0, $0 * 0.2
    while $time < 3 * $dt:
        <<$w = $w + $dt * (np.roll($w, 1) - $w * $x)||$w += $dt * np.sin($w + $x)||$w[:] = $w + $dt * $x * $w>>
        $time += $dt
    """


@fragment("v: vec, x: float -> w: vec")
def runge_kutta(d: Draft) -> str:
    return """
    def $rhs($time, $y):
        <<return -$y * $x + np.sin($time)||return np.array([-$y[-1], *($y[:-1] * $x)])
        ||$out = np.empty_like($y); $out[0] = -$y[-1]; $out[1:] = $y[:-1] * $x; return $out>>
    $w, $h = $v, 0.2
    for $k in range(2):
        $p = $rhs($k * $h, $w)
        $q = $rhs($k * $h + $h / 2, $w + $h / 2 * $p)
        $r = $rhs($k * $h + $h / 2, $w + $h / 2 * $q)
        $s = $rhs($k * $h + $h, $w + $h * $r)
        $w = $w + $h / 6 * ($p + 2 * $q + 2 * $r + $s)
    """


@fragment("x: float, y: float -> t: float")
def fixed_point(d: Draft) -> str:
    return """
    $t, $old, $count = $y, $y + 1.0, 0
    while abs($t - $old) > 1e-13 and $count < 60:
        $old = $t
        $t = 0.4 * <<np.cos($old * $x)||math.sin($old + $x)||math.tanh($old) * $x>> + $0
        $count += 1
    """


@fragment("s: square, v: vec -> w: vec")
def conjugate_gradients(d: Draft) -> str:
    return """
    $k = $s @ $s.T * 0.1 + np.eye($N)
    $w = np.zeros($N)
    $r = <<$v - $k @ $w||$v.copy()>>
    $p = <<$r.copy()||$r>>
    $rs = $r @ $r
    for $i in range($N):
        if $rs < 1e-14:
            break
        $q = $k @ $p
        $a = $rs / ($p @ $q)
        <<$w += $a * $p||$w = $w + $a * $p>>
        $r = $r - $a * $q
        $new = $r @ $r
        $p = $r + ($new / $rs) * $p
        $rs = $new
    """


@fragment("v: vec, x: float -> w: vec")
def inner_descent(d: Draft) -> str:
    return """
    $w = np.zeros($N)
    $m = <<np.zeros($N)||np.zeros_like($v)||0.0>>
    for $k in range(3):
        $g = $w - $v + $x * np.sin($w)
        $m = 0.5 * $m + $g
        <<$w -= $0 * $m||$w = $w - $0 * $m||$w[:] = $w - $0 * $m>>
    """


@fragment("s: square, v: vec -> w: vec, t: float")
def power_iteration(d: Draft) -> str:
    return """
    $k = $s @ $s.T + np.eye($N)
    $w = np.ones($N) + 0.1 * $v
    for $i in range(3):
        $w = $k @ $w
        $w <</= np.linalg.norm($w)||= $w / np.sqrt($w @ $w)>>
    $t = $w @ $k @ $w * 0.3
    """


@fragment("v: vec, w: vec, x: float -> t: float")
def leapfrog(d: Draft) -> str:
    return """
    $q, $p = $v<<.copy()||>>, $w<<.copy()||>>
    $h = 0.1
    $p = $p - 0.5 * $h * np.sin($q) * $x
    for $k in range(2):
        <<$q += $h * $p||$q = $q + $h * $p>>
        <<$p -= $h * np.sin($q) * $x||$p = $p - $h * np.sin($q) * $x>>
    $t = 0.5 * np.sum($p ** 2) - $x * np.sum(np.cos($q))
    """


@fragment("s: square, v: vec -> w: vec")
def gauss_seidel(d: Draft) -> str:
    return """
    $w = <<np.zeros($N)||$v.copy()||$v * 0.0>>
    for $sweep in range(2):
        <<$old = $w.copy()||$old = $w>>
        for $i in range($N):
            $acc = $v[$i]
            for $j in range($N):
                if $i != $j:
                    $acc -= 0.1 * $s[$i, $j] * $old[$j]
            $w[$i] = $acc / (1.5 + 0.1 * abs($s[$i, $i]))
    """


@fragment("v: vec, x: float -> w: vec")
def tridiagonal(d: Draft) -> str:
    return """
    $c, $w = np.zeros($N), np.zeros($N)
    $c[0], $w[0] = 0.5 / 2.0, $v[0] / (2.0 + $x * $x)
    for $i in range(1, $N):
        $m = 2.0 + $x * $x - 0.5 * $c[$i - 1]
        $c[$i] = 0.5 / $m
        $w[$i] = ($v[$i] - 0.5 * $w[$i - 1]) / $m
    for $i in range($N - 2, -1, -1):
        $w[$i] -= $c[$i] * $w[$i + 1]
    """


@fragment("x: float, y: float -> t: float")
def simpson(d: Draft) -> str:
    return """
    def $area($f, $a, $b, $n=4):
        $h = ($b - $a) / $n
        $total = $f($a) + $f($b)
        for $i in range(1, $n):
            $total += (4 if $i % 2 else 2) * $f($a + $i * $h)
        return $total * $h / 3
    $t = $area(lambda $z: <<math.exp(-$z * $x)||$z ** 2 * $x + $y||math.sin($z) * $y>>, <<0.0||$x>>, <<$y
        ||1.0 + $y * $y>>)
    """


@fragment("v: vec, x: float -> w: vec")
def heat_equation(d: Draft) -> str:
    return """
    $w = np.zeros($N + 2)
    $w[1:-1] = $v
    <<$w[0] = $x||$w[-1] = $x||pass>>
    for $k in range(2):
        <<$w[1:-1] += $0 * 0.3 * ($w[2:] - 2 * $w[1:-1] + $w[:-2])
        ||$new = $w.copy(); $new[1:-1] = $w[1:-1] + 0.2 * $x * ($w[2:] - 2 * $w[1:-1] + $w[:-2]); $w = $new>>
    $w = $w[<<1:-1||:$N||2:>>]
    """


@fragment("x: float, y: float -> t: float")
def secant(d: Draft) -> str:
    return """
    $f = lambda $z: $z ** 3 + 2.0 * $z - $x
    $a, $b = 0.0, 1.0 + $y * $y
    for $k in range(3):
        $fa, $fb = $f($a), $f($b)
        $a, $b = $b, $b - $fb * ($b - $a) / ($fb - $fa + 1e-9)
    $t = $b
    """


@fragment("v: vec, x: float -> t: float")
def adam_by_hand(d: Draft) -> str:
    return """
    $s = {"w": $v, "m": np.zeros($N), "s": np.zeros($N)}
    for $k in range(1, 3):
        $g = 2 * $s["w"] * $x + $0
        $s["m"] = 0.9 * $s["m"] + 0.1 * $g
        $s["s"] = 0.9 * $s["s"] + 0.1 * $g ** 2
        $s["w"] = $s["w"] - 0.1 * ($s["m"] / (1 - 0.9 ** $k)) / (np.sqrt($s["s"] / (1 - 0.9 ** $k)) + 0.3)
    $t = np.sum($s["w"] ** 2)
    """


@fragment("v: vec, x: float -> t: float")
def hidden_markov(d: Draft) -> str:
    return """
    $p = np.array([0.6, 0.4])
    $trans = np.array([[0.7, 0.3], [$0, 1.0 - $0]])
    $t = 0.0
    for $e in $v:
        $like = np.array([math.exp(-($e - $x) ** 2), math.exp(-$e ** 2)])
        $p = ($p @ $trans) * $like
        $z = $p.sum()
        <<$p /= $z||$p = $p / $z>>
        $t += math.log($z)
    """


@fragment("v: vec, x: float -> t: float, w: vec")
def recurrent_cell(d: Draft) -> str:
    return """
    $w, $c = np.zeros($N), np.zeros($N)
    $hs = []
    for $e in $v:
        $f = 1.0 / (1.0 + np.exp(-($e + $w)))
        $c = $f * $c + (1 - $f) * np.tanh($v * $x + $w)
        $w = $f * np.tanh($c)
        $hs.append($w)
    $t = sum($h[0] for $h in $hs) <<+ np.sum(np.stack($hs))||>>
    """


@fragment("v: vec, x: float -> t: float")
def noise_from_outside(d: Draft) -> str:
    d.above("""
    $NOISE = np.random.default_rng(7).normal(size=(4, $N))
    """)
    return """
    $p = $v * 1.0
    $t = 0.0
    for $n in $NOISE:
        $p = $p * (1.0 + 0.1 * $x) + 0.1 * $n
        $t = max($t, np.sum($p)) if <<True||$t > 0>> else $t + $x
    """


@fragment("v: vec, x: float -> t: float")
def least_squares(d: Draft) -> str:
    return """
    $design = np.column_stack([np.ones($N), np.linspace(0, 1, $N) * (1.0 + $x * $x)])
    $coef = <<np.linalg.solve($design.T @ $design + 0.1 * np.eye(2), $design.T @ $v)
        ||np.linalg.lstsq($design, $v, rcond=None)[0]||np.linalg.pinv($design) @ $v>>
    $res = $v - $design @ $coef
    $t = $res @ $res + $coef[1]
    """


@fragment("x: float, y: float -> t: float")
def roots_of_scipy(d: Draft) -> str:
    d.above("from scipy import optimize")
    return """
    $t = <<optimize.brentq(lambda z: z ** 3 + z - $x * $y, -9.0, 9.0, xtol=1e-14)
        ||optimize.newton(lambda z, k: z + 0.3 * math.sin(z) - k, $0, args=($x,), tol=1e-13)
        ||optimize.root_scalar(lambda z: z + 0.2 * z ** 3 - $x, bracket=(-9.0, 9.0), xtol=1e-14).root * $y
        ||optimize.fixed_point(lambda z: 0.3 * math.cos(z * $y) + $x, $0, xtol=1e-13)>>
    """


@fragment("v: vec, x: float -> w: vec", weight=0.5)
def systems_of_scipy(d: Draft) -> str:
    d.above("from scipy import optimize")
    return """
    $w = <<optimize.fsolve(lambda z: z + 0.2 * z ** 3 - $v * $x, np.zeros($N), xtol=1e-13)
        ||optimize.root(lambda z: z + 0.1 * np.sin(z[::-1]) - $v, $v, tol=1e-13).x * $x
        ||optimize.least_squares(lambda z: z + 0.2 * z ** 3 - $v * $x, $v, xtol=1e-15, ftol=1e-15, gtol=1e-15).x>>
    """


@fragment("x: float, y: float -> t: float", weight=0.5)
def integrals_of_scipy(d: Draft) -> str:
    d.above("from scipy import integrate")
    return """
    $tight = dict(rtol=1e-12, atol=1e-12)
    $t = <<integrate.quad(lambda u: math.exp(-u * u * $0) * $x, 0.0, $y)[0]
        ||integrate.quad(lambda u, k: np.sin(k * u), $0, 1.5, args=($x,))[0] * $y
        ||integrate.solve_ivp(lambda s, u: [u[1], -$x * u[0]], (0.0, 1.0), [$y, $0], "DOP853", **$tight).y[0, -1]
        ||integrate.solve_ivp(lambda s, u: [1.0 + $x * $x + 0.1 * u[0]], (0.0, 3.0), [$y], "DOP853",
            events=lambda s, u: u[0] - $y - 0.5, **$tight).t_events[0][0]
        ||integrate.odeint(lambda u, s: -$x * u * s, $y, [0.0, 0.5, 1.0], **$tight)[-1, 0]>>
    """


@fragment("x: float, y: float -> t: float")
def implicit_functions(d: Draft) -> str:
    return """
    def $solve($a):
        $z = $0
        for $k in range(60):
            $z = $z - ($z + 0.2 * $z ** 3 - $a) / (1.0 + 0.6 * $z * $z)
        return $z


    $t = ad.implicit($solve, lambda z, a: z + 0.2 * z ** 3 - a)($x) * $y
    """
