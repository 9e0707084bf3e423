"""Python's search for garbage, put off while nearly all that is made is still needed."""

from __future__ import annotations

import gc


class Uncollected:
    """While it is open, no search for garbage interrupts: in what a compilation makes there is hardly any."""

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            gc.enable()


class Lasting(Uncollected):
    """While it is open, what is made is there to stay, as modules are: later searches take it for old at once."""

    def __exit__(self, *_: object) -> None:
        if self._enabled and not gc.get_freeze_count():  # else somebody keeps objects frozen
            gc.freeze()
            gc.unfreeze()  # into the oldest generation
        super().__exit__()


class Compilation(Lasting):
    """While it is open, a compilation runs: of the first, most is there to stay, as it loads much of the compiler."""

    _first = True

    def __exit__(self, *_: object) -> None:
        if Compilation._first and self._enabled:
            Compilation._first = False
            super().__exit__()
        else:
            Uncollected.__exit__(self)
