"""The texts of what machine code is made of: collected while derivatives run, without compiling anything."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import adjoint as ad
from adjoint.api.tools.float_leaves import clone, leaves
from adjoint.codegen.python import emit
from adjoint.dispatch import persistent_cache
from adjoint.dispatch.specialize import forget
from adjoint.native import backend
from adjoint.native.compile.not_native import NotNative
from adjoint.native.llvm.signatures import kinds_of
from programs.registry import Case


class _Collecting(backend.Core):
    """A core that takes down the text for its arguments, and runs as Python."""

    texts: list[str]
    agreeing: bool

    def _for(self, args: Sequence[Any]) -> Any:
        try:
            form = self._form(kinds_of(args), args if self.agreeing else None)
            self.texts.append(emit(form, counted=True).text)
        except NotNative as reason:
            self.texts.append(f"# not compiled: {reason}\n")
        self._latest = self.interpreted
        return self._latest


@contextmanager
def collected(agreeing: bool = False) -> Iterator[list[str]]:
    """The texts of what is called for the first time meanwhile: for any extents, or such that agree as those given."""
    texts: list[str] = []
    core = type("Collecting", (_Collecting,), {"texts": texts, "agreeing": agreeing})
    with (
        mock.patch.object(backend, "Core", core),
        mock.patch.object(persistent_cache, "found", lambda *_: None),
    ):
        yield texts


def machine_text(run: Callable[..., Any], *args: Any) -> str:
    """The texts of all that a derivative compiles when it is called."""
    forget()  # else what was compiled before would not be compiled
    with collected() as texts, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        run(*args)
    return "\n".join(texts)


def text_of_case(case: Case) -> str:
    """The text for machine code of the gradient of a program, or of its pullback where its value is no number."""
    args = clone(case.arguments())
    wrt = tuple(place for place, arg in enumerate(args) if leaves(arg))
    value = case.function(*clone(args))
    if isinstance(value, (float, np.floating)) and wrt:
        return machine_text(ad.grad(case.function, wrt, native=True), *args)
    return machine_text(lambda *given: ad.vjp(case.function, *given, native=True), *args)
