"""The compiler's small classes behave like dataclasses, however many fields they have."""

import dataclasses

import pytest

from adjoint import records

FEW, MANY = 3, 20


def with_fields(count, module, **options):
    """A class with a field that is needed, and others with defaults, the last of which is made anew."""
    names = [f"field_{place}" for place in range(count)]
    body = {"__annotations__": dict.fromkeys(names, "object"), **{name: 0 for name in names[1:]}}
    body[names[-1]] = module.field(default_factory=list)
    return module.dataclass(**options)(type("Example", (), body))


@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"slots": True}, {"kw_only": True}], ids=str)
def test_they_are_made_like_dataclasses(count, options):
    ours, theirs = (with_fields(count, module, **options) for module in (records, dataclasses))
    for given in ({"field_0": 1}, {"field_0": 1, "field_1": 2}, {f"field_{i}": i for i in range(count)}):
        one, other = ours(**given), theirs(**given)
        assert repr(one) == repr(other)
        assert one == ours(**given) and one != ours(**{**given, "field_0": 7})
        assert repr(records.replace(one, field_1=5)) == repr(dataclasses.replace(other, field_1=5))
    last = f"field_{count - 1}"
    assert getattr(ours(field_0=1), last) == [] and getattr(ours(field_0=1), last) is not getattr(ours(field_0=1), last)


@pytest.mark.parametrize("count", [FEW, MANY])
def test_by_place(count):
    ours, theirs = (with_fields(count, module) for module in (records, dataclasses))
    assert repr(ours(1, 2)) == repr(theirs(1, 2))
    assert repr(ours(*range(count))) == repr(theirs(*range(count)))


@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize("given", [((), {}), ((1,), {"other": 2}), ((1,), {"field_0": 2}), ((1,) * 30, {})], ids=str)
def test_what_does_not_fit_is_refused(count, given):
    args, kwargs = given
    for module in (records, dataclasses):
        with pytest.raises(TypeError):
            with_fields(count, module)(*args, **kwargs)
