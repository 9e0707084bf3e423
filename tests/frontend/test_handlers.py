"""What lowers calls of Python's own functions is found by where these come from."""

import subprocess
import sys

CODE = """
from importlib import import_module
from adjoint.frontend.calls import handlers

for family in (*handlers._FAMILIES, "iterators.of_itertools.calls", "control.contexts_of_generators"):
    before = set(handlers.HANDLERS)
    import_module(f"adjoint.frontend.{family}")
    for constant in set(handlers.HANDLERS) - before:
        print(family, family in handlers._families(constant), constant)
"""


def test_each_is_looked_for_where_it_is():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) > 150
    assert [line for line in lines if line.split()[1] != "True"] == []
