"""The commands: each a small function over the library."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import adjoint
from adjoint.cli.target import TargetError, evaluate, load_function, load_module
from adjoint.demo import add_options as add_demo_options
from adjoint.demo import run as run_demo
from adjoint.diagnostics import DifferentiationError
from adjoint.diagnostics.codes import CATALOGUE, explain
from adjoint.diagnostics.render import show
from adjoint.native.kept import files as cache

_OPERATORS = ("grad", "value_and_grad", "jacobian", "hessian")
_TARGET_HELP = "module:function or file.py:function; methods as module:Class.method"
_ARGS_HELP = "example arguments, as Python expressions (np is NumPy), where annotations do not tell the types"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the result is the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except DifferentiationError as problem:
        show(problem.diagnostics)
        status = 1
    except TargetError as problem:
        print(f"adjoint: {problem}", file=sys.stderr)
        status = 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="adjoint",
        description="Ahead-of-time differentiable programming for Python.",
        epilog="example: adjoint show train.py:loss 1.0 'np.ones(3)'",
    )
    parser.add_argument("--version", action="version", version=f"adjoint {_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    check = commands.add_parser("check", help="say whether functions can be differentiated, without running them")
    _add_function(check, f"{_TARGET_HELP}; a module or file alone, for all that @ad.differentiable declares in it")
    check.set_defaults(run=_check)

    show_ = commands.add_parser("show", help="print the source of a function's derivative")
    _add_function(show_)
    show_.add_argument("--operator", choices=_OPERATORS, default="grad", help="which derivative (default: grad)")
    show_.set_defaults(run=_show)

    explain_ = commands.add_parser("explain", help="explain the code of a diagnostic, such as AD0201")
    explain_.add_argument("code", nargs="?", help="the code; without one, all codes are listed")
    explain_.set_defaults(run=_explain)

    cache_ = commands.add_parser("cache", help="show what is kept of compiled derivatives, or remove it")
    cache_.add_argument("--clear", action="store_true", help="remove all of it")
    cache_.set_defaults(run=_cache)

    demo = commands.add_parser("demo", help="train a small model, and print the derivative that trained it")
    add_demo_options(demo)
    demo.set_defaults(run=run_demo)
    return parser


def _add_function(parser: argparse.ArgumentParser, help_: str = _TARGET_HELP) -> None:
    parser.add_argument("target", metavar="TARGET", help=help_)
    parser.add_argument("args", metavar="ARG", nargs="*", help=_ARGS_HELP)
    parser.add_argument(
        "--wrt", help="the parameters to differentiate for: indices or names, with commas (default: the first)"
    )


def _check(options: argparse.Namespace) -> int:
    if ":" not in options.target and not options.args:
        return _check_declared(options.target)
    _source("grad", options)
    print(f"{options.target}: differentiable")
    return 0


def _check_declared(where: str) -> int:
    """Checks all functions and methods of a module that are declared to be differentiable."""
    from adjoint.api.differentiable_functions import declared_in, is_abstract, lacking_in, verdict  # lazy

    module = load_module(where)
    status = 0
    for name, member, owner in declared_in(module):
        if is_abstract(member):
            print(f"{where}:{name}: declared for what overrides it")
            continue
        found = verdict(member, None, owner)
        if found.problems:
            show(found.problems)
            status = 1
        else:
            told = f"not checked: {found.untold}" if found.untold else "differentiable"
            print(f"{where}:{name}: {told}")
    warned = tuple(lacking_in(module))
    if warned:
        show(warned)
    return status


def _show(options: argparse.Namespace) -> int:
    _print_python(_source(options.operator, options))
    return 0


def _source(operator: str, options: argparse.Namespace) -> str:
    """The source of a derivative; everything that can be refused is refused here."""
    function = load_function(options.target)
    differentiate: Callable[..., Any] = getattr(adjoint, operator)
    derivative = differentiate(function, **({} if options.wrt is None else {"wrt": _wrt(options.wrt)}))
    return str(adjoint.source(derivative, *evaluate(options.args)))


def _wrt(text: str) -> int | str | tuple[int | str, ...]:
    parts = tuple(int(part) if part.lstrip("-").isdigit() else part for part in map(str.strip, text.split(",")) if part)
    return parts[0] if len(parts) == 1 else parts


def _explain(options: argparse.Namespace) -> int:
    if options.code is None:
        for code, entry in CATALOGUE.items():
            print(f"{code}  {entry.title_for({})}")
        return 0
    code = options.code.upper()
    if code not in CATALOGUE:
        raise TargetError(f"there is no diagnostic '{options.code}'; 'adjoint explain' lists all")
    print(explain(code))
    return 0


def _cache(options: argparse.Namespace) -> int:
    if options.clear:
        print(f"{_derivatives(cache.clear())} removed from {cache.place()}")
        return 0
    kept = cache.entries()
    for name, size in kept.items():
        print(f"{size / 1024:9.1f} KiB  {name}")
    print(f"{_derivatives(len(kept))}, {sum(kept.values()) / 1024:.1f} KiB, in {cache.place()}")
    return 0


def _derivatives(count: int) -> str:
    return f"{count} compiled {'derivative' if count == 1 else 'derivatives'}"


def _print_python(text: str) -> None:
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console  # lazy
    from rich.syntax import Syntax  # lazy

    Console(soft_wrap=True).print(Syntax(text, "python", theme="ansi_dark", background_color="default"))


def _version() -> str:
    try:
        return version("adjoint")
    except PackageNotFoundError:
        return "(not installed)"
