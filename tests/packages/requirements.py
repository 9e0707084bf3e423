"""Which packages are looked at, and the environment that they are installed in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGES = {
    "filterpy": "filterpy",
    "fluids": "fluids",
    "ht": "ht",
    "pvlib": "pvlib",
    "chemicals": "chemicals",
    "statsmodels": "statsmodels",
    "lmfit": "lmfit",
    "astropy": "astropy",
    "scikit-fem": "skfem",
    "iminuit": "iminuit",
    "pykalman": "pykalman",
    "arch": "arch",
}
"""The modules of the packages, by the names that they are installed by."""

ROOT = Path(__file__).parents[2]
ALSO = ("numba", "scipy", "pandas", "matplotlib", "cffi", "typing-extensions")


def python(folder: Path, packages: list[str]) -> Path:
    """The interpreter of an environment that has these packages; what is missing is installed, Adjoint left out."""
    found = folder / "bin" / "python"
    if not found.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    missing = [name for name in packages if not _has(found, name)]
    if missing:
        pip = [str(found), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *ALSO, *missing], check=True)
    return found


def _has(interpreter: Path, package: str) -> bool:
    code = f"import importlib.metadata as m; m.version({package!r}); m.version('numba')"
    return subprocess.run([str(interpreter), "-c", code], capture_output=True, check=False).returncode == 0
