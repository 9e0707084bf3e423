"""Errors carry their diagnostics."""

import ast
import copy
import pickle
import warnings

import pytest

from adjoint.diagnostics import DifferentiationError, DifferentiationWarning, Span, diagnostic, error, span_of, warn

SPAN = Span("nowhere.py", 1, 0, 1, 5)


def test_an_error_is_a_type_error_with_diagnostics():
    problem = diagnostic("AD0301", SPAN, "this")
    caught = DifferentiationError(problem)
    assert isinstance(caught, TypeError)
    assert caught.diagnostics == (problem,)
    assert caught.diagnostics[0].code == "AD0301"
    assert caught.diagnostics[0].span == SPAN
    assert caught.diagnostics[0].severity == "error"


def test_several_may_be_given_as_a_sequence():
    problems = [diagnostic("AD0301", None), diagnostic("AD0302", None)]
    assert DifferentiationError(problems).diagnostics == DifferentiationError(*problems).diagnostics == tuple(problems)


@pytest.mark.parametrize("kind", [DifferentiationError, DifferentiationWarning])
def test_errors_can_be_pickled_and_copied(kind):
    caught = kind(diagnostic("AD0201", SPAN, "here", notes=["fact"]), diagnostic("AD0304", None))
    caught.add_note("added")
    for other in (pickle.loads(pickle.dumps(caught)), copy.copy(caught), copy.deepcopy(caught)):
        assert type(other) is kind and other.diagnostics == caught.diagnostics
        assert str(other) == str(caught)
        assert other.args == caught.args and other.__notes__ == ["added"]


def test_the_argument_is_the_text():
    caught = error("AD0201", None, "here")
    assert caught.args == (str(caught),) and "AD0201" in "it failed: " + caught.args[0]
    caught.place_at(SPAN)
    assert caught.args == (str(caught),) and "nowhere.py:1" in caught.args[0]
    assert DifferentiationError().args == (str(DifferentiationError()),)


def test_helps_come_from_the_catalogue_unless_given():
    assert diagnostic("AD0304", None).helps == ("assign it before the branch or the loop",)
    assert diagnostic("AD0304", None, helps=["other"]).helps == ("other",)
    assert diagnostic("AD0304", None, helps=()).helps == ()


def test_notes_can_be_added():
    assert diagnostic("AD0304", None, notes=["a"]).with_notes("b").notes == ("a", "b")


def test_unknown_codes_are_refused():
    with pytest.raises(KeyError):
        diagnostic("AD9999", None)


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(diagnostic("AD0501", None, name="x"))
    (one,) = caught
    assert one.category is DifferentiationWarning
    assert one.filename == __file__
    assert one.message.diagnostics[0].severity == "warning"
    title, *_ = str(one.message).splitlines()
    assert title == "warning[AD0501]: the derivative with respect to 'x' is zero"


def test_spans_count_characters():
    text = "α = 'ß'; β = f(α,\n  é)\n"
    lines = text.splitlines()
    call = ast.parse(text).body[1].value
    assert span_of(call, "a.py", lambda n: lines[n - 1]) == Span("a.py", 1, 13, 2, 4)


def test_a_node_without_a_position_takes_that_of_its_first_child():
    node = ast.parse("lambda x, y: x").body[0].value
    assert span_of(node.args, "a.py", lambda n: "lambda x, y: x") == Span("a.py", 1, 7, 1, 8)
