"""Programs of plain loops over elements, as one would write them for Numba, with their arguments."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent.parent / "data" / "pglib"


def objective(x, cost, nb):
    total = 0.0
    for k in range(cost.shape[0]):
        p = x[2 * nb + k]
        total += cost[k, 0] * p * p + cost[k, 1] * p + cost[k, 2]
    return total


def power_flow(x, nb, ng, nl, gb, fb, tb, pd, qd, gs, bs, c):
    """AC optimal power flow: balances of buses, flows of lines, angles, limits."""
    r = np.zeros(2 * nb + 7 * nl)
    op = 2 * nb + 2 * ng
    for i in range(nb):
        v = x[nb + i]
        r[i] = -pd[i] - gs[i] * v * v
        r[nb + i] = -qd[i] + bs[i] * v * v
    for k in range(ng):
        r[gb[k]] += x[2 * nb + k]
        r[nb + gb[k]] += x[2 * nb + ng + k]
    for k in range(nl):
        f = fb[k]
        t = tb[k]
        pf = x[op + k]
        pt = x[op + nl + k]
        qf = x[op + 2 * nl + k]
        qt = x[op + 3 * nl + k]
        r[f] -= pf
        r[t] -= pt
        r[nb + f] -= qf
        r[nb + t] -= qt
        vf = x[nb + f]
        vt = x[nb + t]
        d = x[f] - x[t]
        cs = vf * vt * math.cos(d)
        sn = vf * vt * math.sin(d)
        o = 2 * nb + 7 * k
        r[o] = pf - (c[k, 0] * vf * vf + c[k, 1] * cs + c[k, 2] * sn)
        r[o + 1] = qf - (-c[k, 3] * vf * vf - c[k, 2] * cs + c[k, 1] * sn)
        r[o + 2] = pt - (c[k, 4] * vt * vt + c[k, 5] * cs - c[k, 6] * sn)
        r[o + 3] = qt - (-c[k, 7] * vt * vt - c[k, 6] * cs - c[k, 5] * sn)
        r[o + 4] = d
        r[o + 5] = pf * pf + qf * qf
        r[o + 6] = pt * pt + qt * qt
    return r


def power_flow_lagrangian(x, sigma, lam, cost, nb, ng, nl, gb, fb, tb, pd, qd, gs, bs, c):
    r = power_flow(x, nb, ng, nl, gb, fb, tb, pd, qd, gs, bs, c)
    total = sigma * objective(x, cost, nb)
    for i in range(len(r)):
        total += lam[i] * r[i]
    return total


def brusselator(z, n, alpha):
    """A reaction with diffusion on a periodic grid of n by n cells: the right-hand side for both concentrations."""
    r = np.zeros(2 * n * n)
    m = n * n
    for i in range(n):
        for j in range(n):
            k = i * n + j
            up = ((i + n - 1) % n) * n + j
            down = ((i + 1) % n) * n + j
            left = i * n + (j + n - 1) % n
            right = i * n + (j + 1) % n
            u = z[k]
            v = z[m + k]
            r[k] = 1.0 + u * u * v - 4.4 * u + alpha * (z[up] + z[down] + z[left] + z[right] - 4.0 * u)
            r[m + k] = 3.4 * u - u * u * v + alpha * (z[m + up] + z[m + down] + z[m + left] + z[m + right] - 4.0 * v)
    return r


def control(z, steps, h):
    """A driven pendulum by the midpoint rule: what the states of each step, which are given, violate."""
    r = np.zeros(2 * steps)
    for k in range(steps):
        y = z[2 * k]
        v = z[2 * k + 1]
        u = z[2 * steps + 2 + k]
        ym = y + 0.5 * h * v
        vm = v + 0.5 * h * (u - 9.81 * math.sin(y) - 0.1 * v)
        r[2 * k] = z[2 * k + 2] - y - h * vm
        r[2 * k + 1] = z[2 * k + 3] - v - h * (u - 9.81 * math.sin(ym) - 0.1 * vm)
    return r


def control_lagrangian(z, lam, steps, h):
    r = control(z, steps, h)
    total = 0.0
    for i in range(len(r)):
        total += lam[i] * r[i]
    return total


def elastic_energy(x, triangles, inverses, areas, mu, lam):
    """A neo-Hookean sheet of triangles: the energy of positions in the plane (Bonet and Wood, 2008)."""
    total = 0.0
    for e in range(triangles.shape[0]):
        a = triangles[e, 0]
        b = triangles[e, 1]
        c = triangles[e, 2]
        p = x[2 * b] - x[2 * a]
        q = x[2 * c] - x[2 * a]
        s = x[2 * b + 1] - x[2 * a + 1]
        t = x[2 * c + 1] - x[2 * a + 1]
        f00 = p * inverses[e, 0, 0] + q * inverses[e, 1, 0]
        f01 = p * inverses[e, 0, 1] + q * inverses[e, 1, 1]
        f10 = s * inverses[e, 0, 0] + t * inverses[e, 1, 0]
        f11 = s * inverses[e, 0, 1] + t * inverses[e, 1, 1]
        j = math.log(f00 * f11 - f01 * f10)
        strain = f00 * f00 + f01 * f01 + f10 * f10 + f11 * f11 - 2.0
        total += areas[e] * (0.5 * mu * (strain - 2.0 * j) + 0.5 * lam * j * j)
    return total


def reprojections(x, cameras, points, which_camera, which_point, features):
    """Bundle adjustment: how far cameras see points from where they were seen, weighted; what keeps weights from 0.

    The variables are the cameras, of 11 numbers (rotation, centre, focal length, principal point, distortion), the
    points, and a weight for each observation.
    """
    n = features.shape[0]
    r = np.zeros(3 * n)
    for i in range(n):
        c = 11 * which_camera[i]
        p = 11 * cameras + 3 * which_point[i]
        w = x[11 * cameras + 3 * points + i]
        x0 = x[p] - x[c + 3]
        x1 = x[p + 1] - x[c + 4]
        x2 = x[p + 2] - x[c + 5]
        angle = math.sqrt(x[c] * x[c] + x[c + 1] * x[c + 1] + x[c + 2] * x[c + 2])
        a0 = x[c] / angle
        a1 = x[c + 1] / angle
        a2 = x[c + 2] / angle
        cosine = math.cos(angle)
        sine = math.sin(angle)
        along = (a0 * x0 + a1 * x1 + a2 * x2) * (1.0 - cosine)
        y0 = x0 * cosine + (a1 * x2 - a2 * x1) * sine + a0 * along
        y1 = x1 * cosine + (a2 * x0 - a0 * x2) * sine + a1 * along
        y2 = x2 * cosine + (a0 * x1 - a1 * x0) * sine + a2 * along
        u = y0 / y2
        v = y1 / y2
        squared = u * u + v * v
        scale = x[c + 6] * (1.0 + x[c + 9] * squared + x[c + 10] * squared * squared)
        r[2 * i] = w * (u * scale + x[c + 7] - features[i, 0])
        r[2 * i + 1] = w * (v * scale + x[c + 8] - features[i, 1])
        r[2 * n + i] = 1.0 - w * w
    return r


def sheet(side: int) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Where the corners of a square of ``2 side**2`` triangles are, and the triangles, inverse edges and areas."""
    columns, rows = np.meshgrid(np.arange(side + 1.0), np.arange(side + 1.0))
    corners = np.stack([columns.ravel(), rows.ravel()], 1)
    first = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    lower = np.stack([first, first + 1, first + side + 1], 1)
    upper = np.stack([first + 1, first + side + 2, first + side + 1], 1)
    triangles = np.concatenate([lower, upper])
    edges = np.stack([corners[triangles[:, each]] - corners[triangles[:, 0]] for each in (1, 2)], 2)
    return corners, (triangles, np.ascontiguousarray(np.linalg.inv(edges)), np.full(len(triangles), 0.5))


def scene(cameras: int, points: int, observations: int) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Variables of a bundle adjustment, and its data, as GradBench sizes them."""
    rng = np.random.default_rng(0)
    camera = np.tile([0.1, 0.2, -0.1, 0.0, 0.0, -5.0, 1.2, 0.5, 0.4, 0.01, -0.02], (cameras, 1))
    camera += 0.01 * rng.normal(size=camera.shape)
    x = np.concatenate([camera.ravel(), rng.normal(size=3 * points), rng.uniform(0.5, 1.5, observations)])
    seen = np.arange(observations)
    return x, (cameras, points, seen % cameras, seen % points, rng.normal(size=(observations, 2)))


def _table(text: str, name: str) -> np.ndarray:
    found = re.search(rf"mpc\.{name} = \[(.*?)\];", text, re.S)
    assert found is not None
    rows = [line.split("%")[0].strip().rstrip(";") for line in found.group(1).split("\n")]
    return np.array([[float(part) for part in row.split()] for row in rows if row])


def _case(name: str) -> tuple[float, dict[str, np.ndarray]]:
    """The base of a case file, and its tables, of what is in use."""
    text = (DATA / f"{name}.m").read_text()
    found = re.search(r"baseMVA = ([\d.]+)", text)
    assert found is not None
    tables = {part: _table(text, part) for part in ("bus", "gen", "branch", "gencost")}
    tables["gencost"] = tables["gencost"][tables["gen"][:, 7] > 0]
    tables["gen"] = tables["gen"][tables["gen"][:, 7] > 0]
    tables["branch"] = tables["branch"][tables["branch"][:, 10] > 0]
    return float(found.group(1)), tables


def power_flow_data(name: str) -> tuple[tuple[Any, ...], np.ndarray]:
    """What the constraints take besides the variables, and the costs, of a case file."""
    base, tables = _case(name)
    bus, gen, branch, price = tables.values()
    number = {int(name): place for place, name in enumerate(bus[:, 0])}
    places = [np.array([number[int(each)] for each in column]) for column in (gen[:, 0], branch[:, 0], branch[:, 1])]
    y = 1 / (branch[:, 2] + 1j * branch[:, 3])
    g, b, charge = y.real, y.imag, branch[:, 4] / 2
    tap, shift = np.where(branch[:, 8] == 0, 1, branch[:, 8]), np.radians(branch[:, 9])
    tr, ti = tap * np.cos(shift), tap * np.sin(shift)
    t = tr**2 + ti**2
    flows = [g / t, (-g * tr + b * ti) / t, (-b * tr - g * ti) / t, (b + charge) / t]
    flows += [g, (-g * tr - b * ti) / t, (-b * tr + g * ti) / t, b + charge]
    loads = [bus[:, column] / base for column in (2, 3, 4, 5)]
    cost = np.zeros((len(price), 3))
    for row, terms in enumerate(price):
        given = terms[4 : 4 + int(terms[3])]
        cost[row, 3 - len(given) :] = given
    sizes = (len(bus), len(gen), len(branch))
    return (*sizes, *places, *loads, np.stack(flows, 1)), cost * np.array([base**2, base, 1.0])


def power_flow_bounds(name: str) -> dict[str, np.ndarray]:
    """Where the search begins, and the bounds of variables and constraints, of a case file."""
    base, tables = _case(name)
    bus, gen, branch, _ = tables.values()
    nb, nl = len(bus), len(branch)
    rate = np.where(branch[:, 5] == 0, 1e3, branch[:, 5] / base)
    is_reference = bus[:, 1] == 3
    lower = [np.where(is_reference, 0.0, -np.inf), bus[:, 12], gen[:, 9] / base, gen[:, 4] / base, *[-rate] * 4]
    upper = [np.where(is_reference, 0.0, np.inf), bus[:, 11], gen[:, 8] / base, gen[:, 3] / base, *[rate] * 4]
    g_lower, g_upper = np.zeros(2 * nb + 7 * nl), np.zeros(2 * nb + 7 * nl)
    of_line = 2 * nb + 7 * np.arange(nl)
    g_lower[of_line + 4], g_upper[of_line + 4] = np.radians(branch[:, 11]), np.radians(branch[:, 12])
    for end in (5, 6):
        g_lower[of_line + end], g_upper[of_line + end] = -np.inf, rate**2
    middle = [(gen[:, 8] + gen[:, 9]) / (2 * base), (gen[:, 3] + gen[:, 4]) / (2 * base)]
    start = np.concatenate([np.zeros(nb), np.ones(nb), *middle, np.zeros(4 * nl)])
    found = {"lower": np.concatenate(lower), "upper": np.concatenate(upper), "g_lower": g_lower, "g_upper": g_upper}
    return found | {"start": np.clip(start, found["lower"], found["upper"])}


def cases(large: bool) -> dict[str, tuple[str, Any, tuple[Any, ...]]]:
    """By name: the kind of derivative, the function, and its arguments, the first of which varies."""
    found: dict[str, tuple[str, Any, tuple[Any, ...]]] = {}
    rng = np.random.default_rng(0)
    for name in ("pglib_opf_case118_ieee", *(("pglib_opf_case1354_pegase",) if large else ())):
        data, cost = power_flow_data(name)
        nb, ng, nl = data[:3]
        x, lam = rng.uniform(0.9, 1.1, 2 * nb + 2 * ng + 4 * nl), rng.normal(size=2 * nb + 7 * nl)
        found[f"{name}, constraints"] = "jacobian", power_flow, (x, *data)
        found[f"{name}, Lagrangian"] = "hessian", power_flow_lagrangian, (x, 1.0, lam, cost, *data)
    n = 128 if large else 8
    found[f"Brusselator, {n} x {n}"] = "jacobian", brusselator, (rng.uniform(0.5, 2.0, 2 * n * n), n, 0.1)
    n = 33_333 if large else 33
    z = rng.normal(size=3 * n + 2)
    found[f"control, {n} steps"] = "jacobian", control, (z, n, 0.1)
    found[f"control, {n} steps, Lagrangian"] = "hessian", control_lagrangian, (z, rng.normal(size=2 * n), n, 0.1)
    corners, data = sheet(224 if large else 3)
    found[f"sheet, {len(data[0])} triangles"] = (
        "hessian",
        elastic_energy,
        (corners.ravel() + 0.05 * rng.normal(size=corners.size), *data, 1.0, 2.0),
    )
    x, scenery = scene(*((49, 7776, 31843) if large else (3, 5, 7)))
    found[f"bundle adjustment, {len(scenery[-1])} observations"] = "jacobian", reprojections, (x, *scenery)
    return found
