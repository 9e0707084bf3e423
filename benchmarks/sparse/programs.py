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


def _table(text: str, name: str) -> np.ndarray:
    found = re.search(rf"mpc\.{name} = \[(.*?)\];", text, re.S)
    assert found is not None
    rows = [line.split("%")[0].strip().rstrip(";") for line in found.group(1).split("\n")]
    return np.array([[float(part) for part in row.split()] for row in rows if row])


def power_flow_data(name: str) -> tuple[tuple[Any, ...], np.ndarray]:
    """What the constraints take besides the variables, and the costs, of a case file."""
    text = (DATA / f"{name}.m").read_text()
    found = re.search(r"baseMVA = ([\d.]+)", text)
    assert found is not None
    base = float(found.group(1))
    bus, gen, branch, price = (_table(text, part) for part in ("bus", "gen", "branch", "gencost"))
    price, gen, branch = price[gen[:, 7] > 0], gen[gen[:, 7] > 0], branch[branch[:, 10] > 0]
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
    return found
