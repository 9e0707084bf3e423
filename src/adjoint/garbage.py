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
