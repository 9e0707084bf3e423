"""Calls of what has a rule, in all the ways in which NumPy takes them: right, or refused with a code.

The one idea: an example call of a rule is spelled anew (:mod:`fuzz.call_forms.spelling`). NumPy says whether that is a
call: what it takes must have a derivative that agrees with differences, forward and in reverse, or a refusal
(:mod:`fuzz.call_forms.agreement`).
"""

from fuzz.call_forms.agreement import check, check_form
from fuzz.call_forms.spelling import Form, callees, generate

__all__ = ["Form", "callees", "check", "check_form", "generate"]
