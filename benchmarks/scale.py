"""``python -m benchmarks.scale``: what tasks of Dask and messages of MPI cost; writes the tables of ``docs/scale.md``.

Needs the packages of ``adjoint[dask,mpi]`` and ``mpich``. The times are those of this machine; the model extends them
by a network that is assumed, and says so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
SIZES = (1, 1_000, 100_000)
LATENCY, BANDWIDTH = 2e-6, 10e9
"""Of the network that the model assumes: seconds for a message, bytes per second."""
PROCESSES = (16, 128, 1024, 10_000)


# Dask


def squares(w: Any, X: Any, pause: float) -> Any:
    """A shard's work, simulated by a pause: processors are missing here."""
    time.sleep(pause)
    return np.sum((X @ w) ** 2)


def on_dask(calls: int) -> dict[str, Any]:
    """What calls need, in time and of processors, and how they compare with one shard after another."""
    from distributed import Client, LocalCluster

    import adjoint as ad

    found: dict[str, Any] = {"calls": {}, "processors": {}}
    with (
        LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for shards in (16, 64, 256):
            X = np.ones((shards, 2))
            X.flags.writeable = False
            for pause in (0.0, 0.01, 0.03):
                df = ad.distributed.value_and_grad(squares, over="X", shards=shards, check=False)
                run = partial(df, np.ones(2), X, pause, client=client)
                found["calls"][shards, pause] = _times(run, calls)
                if (shards, pause) == (16, 0.0):
                    found["processors"]["a group of shards"] = _processors(client, run, 4 * calls)
        apart = ad.distributed.value_and_grad(squares, over="X", shards=16, check=False)
        apart._group = 1
        X = np.ones((16, 2))
        X.flags.writeable = False
        run = partial(apart, np.ones(2), X, 0.0, client=client)
        found["processors"]["one shard"] = _processors(client, run, 4 * calls)
        few, many = (_processors(client, partial(_nothing, client, count), calls) for count in (40, 440))
        found["task"] = tuple([(more - less) / 400 for less, more in zip(few, many, strict=True)])
    return found


def _nothing(client: Any, count: int) -> None:
    client.gather(client.map(abs, range(count), pure=False))


def _processors(client: Any, run: Callable[[], Any], count: int) -> tuple[float, float]:
    """The seconds of processors that a call takes: of client and scheduler, which are this process, and of workers."""
    run()
    before, here = sum(client.run(time.process_time).values()), time.process_time()
    for _ in range(count):
        run()
    here, after = time.process_time() - here, sum(client.run(time.process_time).values())
    return here / count, (after - before) / count


def _times(run: Callable[[], Any], count: int) -> tuple[float, float]:
    """The median of some calls, and the fastest."""
    run()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


# MPI: what one of several processes runs


def exchanges(u: Any, comm: Any, steps: int) -> Any:
    """Messages to the next process and from the one before."""
    y = np.zeros_like(u)
    for _ in range(steps):
        comm.Sendrecv(u, (comm.rank + 1) % comm.size, 0, y, (comm.rank - 1) % comm.size, 0)
        u = y * 1.0
    return np.sum(u)


def sums(u: Any, comm: Any, steps: int) -> Any:
    """Sums over all processes."""
    y = np.zeros_like(u)
    for _ in range(steps):
        comm.Allreduce(u, y)
        u = y * 0.5
    return np.sum(u)


def alone(u: Any, comm: Any, steps: int) -> Any:
    """The same without messages."""
    y = np.zeros_like(u)
    for _ in range(steps):
        y[...] = u
        u = y * 0.5
    return np.sum(u)


def process(turns: int) -> None:
    """Times the programs, and prints what they need for a step, the fastest of several turns."""
    from mpi4py import MPI

    import adjoint as ad

    comm, steps = MPI.COMM_WORLD, 20
    clock = time.thread_time if comm.size == 1 else time.perf_counter
    found = {}
    for f in (exchanges, sums, alone):
        for size in SIZES:
            u = np.ones(size)
            for name, run in (("value", f), ("gradient", ad.value_and_grad(f))):
                times = []
                for _ in range(turns + 1):
                    comm.Barrier()
                    start = clock()
                    run(u, comm, steps)
                    times.append((clock() - start) / steps)
                found[f"{f.__name__} {size} {name}"] = comm.allreduce(min(times[1:]), op=MPI.MAX)
    if comm.rank == 0:
        print(json.dumps(found))


def on_mpi(count: int, turns: int) -> dict[str, float]:
    """What so many processes print."""
    launcher = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if launcher is None:
        raise SystemExit("there is no mpiexec: pip install mpich")
    command = [launcher, "-n", str(count), sys.executable, "-m", "benchmarks.scale", "--process", str(turns)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


# The page


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f}" if seconds < 1e-4 else f"{seconds * 1e6:,.0f}"


def table_of_dask(found: dict[str, Any]) -> str:
    calls = found["calls"]
    rows = [
        [
            str(shards),
            *(f"{spent * 1e3:.0f} ms" for spent in calls[shards, 0.0]),
            *(f"{shards * pause / spent:.1f}" for pause in (0.01, 0.03) for spent in calls[shards, pause]),
        ]
        for shards in sorted({shards for shards, _ in calls})
    ]
    head = ["shards", "a call without work", "fastest", "times as fast, 10 ms", "fastest", "30 ms", "fastest"]
    first = table(head, rows)
    rows = [
        [name, *(f"{seconds * 1e3:.1f} ms" for seconds in spent)]
        for name, spent in sorted(found["processors"].items(), reverse=True)
    ]
    rows.append(["(a task that does nothing)", *(f"{seconds * 1e3:.2f} ms" for seconds in found["task"])])
    head = ["a call with 16 shards, where a task is", "client and scheduler, of a processor", "workers"]
    return f"{first}\n\n{table(head, rows)}"


def table_of_messages(by_count: dict[int, dict[str, float]]) -> str:
    rows = []
    for count, found in by_count.items():
        for name, title in (("exchanges", "`Sendrecv`"), ("sums", "`Allreduce`")):
            for size in SIZES:
                value, gradient = (found[f"{name} {size} {what}"] for what in ("value", "gradient"))
                rows.append([str(count), title, f"{size:,}", micro(value), micro(gradient)])
    return table(["processes", "call", "numbers", "value, µs a step", "value and gradient"], rows)


def costs(found: dict[str, float], name: str) -> float:
    """What the software needs for a message there and back, beyond what a step needs without messages."""
    return found[f"{name} 1 gradient"] - found["alone 1 gradient"]


def table_of_model(task: float, found: dict[str, float]) -> str:
    halo, total = costs(found, "exchanges"), costs(found, "sums")
    rows = []
    for count in PROCESSES:
        rounds = math.ceil(math.log2(count))
        exchange = 2 * (halo + 2 * (LATENCY + 8_000 / BANDWIDTH))
        one = total + 2 * 2 * rounds * LATENCY
        large = one + 2 * 2 * 8e6 / BANDWIDTH
        tasks = count + math.ceil(count / 7)
        rows.append([f"{count:,}", micro(exchange), micro(one), micro(large), f"{tasks * task:.2g} s"])
    head = ["processes", "halo, µs a step", "sum of 1 number", "sum of 10⁶ numbers", "a call of Dask"]
    return table(head, rows)


def write(parts: dict[str, str]) -> None:
    """Puts tables in their places in the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
        assert mark.search(text), name
        text = mark.sub(lambda found: f"{found[1]}{part}\n{found[2]}", text)  # noqa: B023
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--process", type=int, metavar="TURNS", help="run as one of several processes")
    parser.add_argument("--quick", action="store_true", help="few turns, and the page is not written")
    parser.add_argument("--dask", action="store_true", help="measure that alone, and write its table")
    options = parser.parse_args()
    if options.process:
        process(options.process)
        return
    turns = 2 if options.quick else 20
    dask = on_dask(2 if options.quick else 8)
    if options.dask:
        print(table_of_dask(dask))
        write({"dask": table_of_dask(dask)})
        return
    by_count = {count: on_mpi(count, turns) for count in (1, 2, 4)}
    import distributed

    load = os.getloadavg()[1]
    said = (
        f"{os.cpu_count()} cores ({platform.machine()}), with a load of {load:.0f} while it was measured; Python "
        f"{platform.python_version()}, dask {distributed.__version__}, NumPy {np.__version__}."
    )
    parts = {
        "machine": said,
        "dask": table_of_dask(dask),
        "messages": table_of_messages(by_count),
        "model": table_of_model(dask["task"][0], by_count[1]),
    }
    print("\n\n".join(parts.values()))
    if not options.quick:
        write(parts)


if __name__ == "__main__":
    main()
