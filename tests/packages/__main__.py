"""``python -m packages``: installs packages in an environment of their own, calls their functions, prints the table."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from packages.requirements import PACKAGES, ROOT, python
from packages.table import document, rows

LIMIT = 120.0
"""After how many seconds a function counts as hanging."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m packages", description=__doc__)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(PACKAGES)}; all, where none is named")
    parser.add_argument("--folder", type=Path, default=ROOT / ".packages", help="where the environment and results lie")
    parser.add_argument("--only", default="", help="functions whose full name contains this, checked again")
    parser.add_argument("--write", action="store_true", help="write docs/packages.md")
    given = parser.parse_args()
    names = given.packages or list(PACKAGES)
    given.folder.mkdir(exist_ok=True, parents=True)
    interpreter = python(given.folder / "venv", names)
    for name in names:
        results = given.folder / f"{name}.jsonl"
        if given.only and results.exists():
            lines = [line for line in results.read_text().splitlines() if given.only not in json.loads(line)["name"]]
            results.write_text("".join(f"{line}\n" for line in lines if '"end"' not in line))
        else:
            results.write_text("")
        followed(interpreter, PACKAGES[name], results)
        print(*rows(given.folder, [name]), sep="\n", flush=True)
    if given.write:
        (ROOT / "docs" / "packages.md").write_text(document(given.folder))
    return 0


def followed(interpreter: Path, module: str, results: Path, worker: str = "packages.worker") -> None:
    """Has the functions of a package checked, by another process each time one ended in a function."""
    environment = {**os.environ, "MPLBACKEND": "agg"}
    paths = [str(ROOT / "src"), str(ROOT / "tests"), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    while True:
        with tempfile.TemporaryDirectory() as folder:
            command = [str(interpreter), "-m", worker, module, str(results.absolute())]
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            end = _watched(process, results)
            said = process.communicate()[1].decode(errors="replace").strip().splitlines()
        lines = [json.loads(line) for line in results.read_text().splitlines()]
        last = lines[-1] if lines else {"kind": "end"}
        if last.get("kind") == "end" or "doing" not in last:
            if end or not lines:
                print(f"{module}: {end} {said[-1:]}", file=sys.stderr)
            return
        kind = "failed" if last["doing"] == "differentiated" else "not called"
        with results.open("a") as out:
            out.write(json.dumps({"name": last["name"], "kind": kind, "reason": end or "it ends the process"}) + "\n")


def _watched(process: subprocess.Popen[bytes], results: Path) -> str:
    """Waits for a process that writes; how it was ended where it wrote nothing for too long."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.2)
        now = results.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > LIMIT:
            process.kill()
            return f"it takes more than {LIMIT:.0f} seconds"
    return f"it ends the process ({process.returncode})" if process.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
