"""Objects whose ``__getattr__`` finds, or raises, anything are not asked for the marks of this library."""

import adjoint as ad
from regressions.differences import refused, right


class Settings(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Anything:
    def __init__(self, rate):
        self.rate = rate

    def __getattr__(self, name):
        return name


class Nothing:
    def __init__(self, rate):
        self.rate = rate

    def __getattr__(self, name):
        raise LookupError(name)


def scaled(x, settings):
    return x * x * settings.rate


def test_as_constants() -> None:
    for settings in (Settings(rate=2.0), Anything(2.0), Nothing(2.0)):
        right(scaled, 1.5, settings)
        right(lambda x, settings=settings: scaled(x, settings), 1.5)


def test_as_what_is_differentiated() -> None:
    for cls in (Anything, Nothing):
        assert ad.grad(scaled, 1)(1.5, cls(2.0)).rate == 2.25
    message = str(refused(lambda: ad.grad(scaled, 1)(1.5, Settings(rate=2.0))))
    assert "is an object of class 'Settings'" in message
    assert "hand over a plain dict: dict(x)" in message
    assert "types.SimpleNamespace(**x)" in message
