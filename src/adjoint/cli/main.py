"""The commands: each a small function over the library."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import adjoint
from adjoint.cli import completion
from adjoint.cli.target import TargetError, load_function
from adjoint.demo import add_options as add_demo_options
from adjoint.demo import run as run_demo
from adjoint.diagnostics import DifferentiationError
from adjoint.diagnostics.codes import CATALOGUE, explain
from adjoint.diagnostics.render import show
from adjoint.native.kept import files as cache

OPERATORS = ("grad", "value_and_grad", "jacobian", "hessian")
FORMATS = ("text", "json", "github", "sarif")
_TARGET_HELP = "module:function or file.py:function; methods as module:Class.method"
_ARGS_HELP = (
    "example arguments, expressions with the names of the module and np, where annotations do not tell the types"
)
_EXIT_STATUS = "exit status: 0 all can be differentiated, 1 something is refused, 2 it could not be looked at"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the result is the exit status."""
    options = parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except DifferentiationError as problem:
        show(problem.diagnostics)
        status = 1
    except TargetError as problem:
        print(f"adjoint: {problem}", file=sys.stderr)
        status = 2
    except BrokenPipeError:  # of '| head': nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would complain at its exit
        status = 141  # as of a program that the signal ends
    return status


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    whole = argparse.ArgumentParser(
        prog="adjoint",
        description="Ahead-of-time differentiable programming for Python.",
        epilog="example: adjoint show train.py:loss 1.0 'np.ones(3)'",
    )
    whole.add_argument("--version", action="version", version=f"adjoint {_version()}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)

    check = commands.add_parser(
        "check", help="say whether functions can be differentiated, without running them", epilog=_EXIT_STATUS
    )
    check.add_argument(
        "target",
        metavar="PATH",
        help=f"file, folder, module or package: all that @ad.differentiable declares in it, and the operators that are "
        f"called with functions it names, such as ad.grad(loss); or one function: {_TARGET_HELP}",
    )
    check.add_argument("args", metavar="PATH|ARG", nargs="*", help=f"more of them; of one function {_ARGS_HELP}")
    _add_wrt(check)
    check.add_argument("--format", choices=FORMATS, default="text", help="how to tell (default: text)")
    check.set_defaults(run=_check)

    show_ = commands.add_parser("show", help="print the source of a function's derivative")
    _add_function(show_)
    show_.add_argument("--mode", choices=("reverse", "forward"), default="reverse", help="forward: with directions")
    show_.add_argument("--native", action="store_true", help="print what machine code is made of")
    show_.add_argument("--stage", metavar="NAME", help="print a stage of compiling ('all', or 'list' for their names)")
    show_.add_argument("--tape", action="store_true", help="print what is kept for the reverse sweep, loop by loop")
    show_.set_defaults(run=_show)

    report = commands.add_parser("report", help="write a page with a function beside its derivative")
    _add_function(report, OPERATORS[:2])
    report.add_argument("-o", "--output", metavar="FILE", default="report.html", help="(default: report.html)")
    report.set_defaults(run=_report)

    explain_ = commands.add_parser("explain", help="explain the code of a diagnostic, such as AD0201")
    explain_.add_argument("code", nargs="?", help="the code, AD0201 or 0201; without one, all codes are listed")
    explain_.set_defaults(run=_explain)

    cache_ = commands.add_parser("cache", help="show what is kept of compiled derivatives, or remove it")
    cache_.add_argument("--clear", action="store_true", help="remove all of it")
    cache_.set_defaults(run=_cache)

    complete = commands.add_parser("completion", help="print a script that completes commands in a shell")
    complete.add_argument("shell", choices=completion.SHELLS)
    complete.set_defaults(run=_completion)

    demo = commands.add_parser("demo", help="train a small model, and print the derivative that trained it")
    add_demo_options(demo)
    demo.set_defaults(run=run_demo)
    return whole


def _add_function(parser: argparse.ArgumentParser, operators: Sequence[str] = OPERATORS) -> None:
    parser.add_argument("target", metavar="TARGET", help=_TARGET_HELP)
    parser.add_argument("args", metavar="ARG", nargs="*", help=_ARGS_HELP)
    parser.add_argument("--operator", choices=operators, default="grad", help="which derivative (default: grad)")
    _add_wrt(parser)


def _add_wrt(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wrt", help="the parameters to differentiate for: indices or names, with commas (default: the first)"
    )


def _check(options: argparse.Namespace) -> int:
    from adjoint.cli.findings import Found, look_at, of_function  # lazy
    from adjoint.cli.formats import FORMATS as writers  # lazy

    if ":" in os.path.basename(options.target):
        found = Found((of_function(options.target, options.args, _wrt(options.wrt)),))
    else:
        found = look_at([options.target, *options.args])
    writers[options.format](found)
    if found.unread:
        return 2
    return int(any(finding.verdict == "refused" for finding in found.findings))


def _show(options: argparse.Namespace) -> int:
    from adjoint.cli import showing  # lazy

    _print_python(showing.text_of(options, _derivative(options), _wrt(options.wrt)))
    return 0


def _report(options: argparse.Namespace) -> int:
    from adjoint.api.tools.report import write_page  # lazy
    from adjoint.cli.showing import arguments_for  # lazy

    derivative = _derivative(options)
    file = write_page(options.output, derivative, *arguments_for(options.target, derivative.function, options.args))
    print(file)
    return 0


def _derivative(options: argparse.Namespace) -> Any:
    differentiate: Callable[..., Any] = getattr(adjoint, options.operator)
    wrt = _wrt(options.wrt)
    return differentiate(load_function(options.target), **({} if wrt is None else {"wrt": wrt}))


def _wrt(text: str | None) -> int | str | tuple[int | str, ...] | None:
    if text is None:
        return None
    parts = tuple(int(part) if part.lstrip("-").isdigit() else part for part in map(str.strip, text.split(",")) if part)
    return parts[0] if len(parts) == 1 else parts


def _explain(options: argparse.Namespace) -> int:
    if options.code is None:
        for code, entry in CATALOGUE.items():
            print(f"{code}  {entry.title_for({})}")
        return 0
    given = options.code.upper()
    code = given if given.startswith("AD") else f"AD{given.zfill(4)}"
    if code not in CATALOGUE:
        raise TargetError(f"there is no diagnostic '{options.code}'; 'adjoint explain' lists all")
    print(explain(code))
    return 0


def _completion(options: argparse.Namespace) -> int:
    print(completion.script(options.shell, parser()))
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
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        return
    from rich.console import Console  # lazy
    from rich.syntax import Syntax  # lazy

    Console(soft_wrap=True).print(Syntax(text.rstrip("\n"), "python", theme="ansi_dark", background_color="default"))


def _version() -> str:
    try:
        return version("adjoint")
    except PackageNotFoundError:
        return "(not installed)"
