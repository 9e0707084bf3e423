"""What ``adjoint check`` found, for people and for other programs."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import adjoint
from adjoint.cli.findings import Found
from adjoint.diagnostics import Diagnostic, Span
from adjoint.diagnostics.codes import CATALOGUE, lookup
from adjoint.diagnostics.render import render, show
from adjoint.diagnostics.spans import shown_path


def as_text(found: Found) -> None:
    """A line for each function; what is refused in full, on standard error."""
    for finding in found.findings:
        where = f"{shown_path(finding.file)}:{finding.line}: {finding.name}"
        if finding.verdict != "refused":
            told = finding.verdict + (f": {finding.reason}" if finding.reason else "")
            print(f"{where}: {told}" if finding.verdict != "declared" else f"{where}: declared {finding.reason}")
        else:
            print(f"{where}: refused", flush=True)
    if problems := _problems(found):
        sys.stdout.flush()
        show(problems)
    for reason in found.unread:
        print(f"adjoint: {reason}", file=sys.stderr)
    if len(found.findings) > 1:
        count = Counter(finding.verdict for finding in found.findings)
        print(", ".join(f"{number} {verdict}" for verdict, number in sorted(count.items())))
    if not (found.findings or found.unread or found.warnings):
        print("nothing to check: no function is declared, and no operator called with a function that a module names")


def as_json(found: Found) -> None:
    """One document, with every finding."""
    findings = [
        {
            "file": shown_path(one.file),
            "line": one.line,
            "column": one.column,
            "name": one.name,
            "verdict": one.verdict,
            "reason": one.reason,
            "diagnostics": [_as_data(problem) for problem in one.problems],
        }
        for one in found.findings
    ]
    warnings = [_as_data(problem) for problem in found.warnings]
    _print({"version": 1, "findings": findings, "warnings": warnings, "unread": list(found.unread)})


def as_github(found: Found) -> None:
    """Commands that GitHub shows beside the lines of a change."""
    for problem in _problems(found):
        span = problem.span
        fields = {"title": f"{problem.code} {problem.title}"}
        if span is not None:
            lines = {"file": shown_path(span.file), "line": span.line, "endLine": span.end_line}
            columns = {"col": span.column + 1, "endColumn": span.end_column + 1} if span.line == span.end_line else {}
            fields = {**{key: str(value) for key, value in (lines | columns).items()}, **fields}
        told = ",".join(f"{key}={_escaped(value, property_=True)}" for key, value in fields.items())
        print(f"::{problem.severity} {told}::{_escaped(_message(problem))}")
    for reason in found.unread:
        print(f"::error::{_escaped(reason)}")


def as_sarif(found: Found) -> None:
    """One document in SARIF 2.1.0, which code hosts and editors read."""
    problems = _problems(found)
    codes = sorted({problem.code for problem in problems})
    rules = [
        {
            "id": code,
            "shortDescription": {"text": CATALOGUE[code].title_for({})},
            "fullDescription": {"text": " ".join(lookup(code).explanation.split("\n\n")[0].split())},
            "defaultConfiguration": {"level": CATALOGUE[code].severity},
        }
        for code in codes
    ]
    results = [
        {
            "ruleId": problem.code,
            "ruleIndex": codes.index(problem.code),
            "level": problem.severity,
            "message": {"text": f"{problem.title}\n{_message(problem)}"},
            "locations": [_location(label.span, label.text) for label in problem.labels[:1]],
            "relatedLocations": [_location(label.span, label.text) for label in problem.labels[1:]],
        }
        for problem in problems
    ]
    told = [{"level": "error", "message": {"text": reason}} for reason in found.unread]
    driver = {"name": "Adjoint", "version": adjoint.__version__, "rules": rules}
    invocation = {"executionSuccessful": not told, "toolExecutionNotifications": told}
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    _print({"$schema": schema, "version": "2.1.0", "runs": [run]})


FORMATS = {"text": as_text, "json": as_json, "github": as_github, "sarif": as_sarif}


def _problems(found: Found) -> tuple[Diagnostic, ...]:
    """What is to be told, once each: of one problem that several calls lead to, the first."""
    told: dict[Any, Diagnostic] = {}
    for problem in _all(found):
        told.setdefault((problem.code, problem.title, problem.labels or problem.notes), problem)
    return tuple(told.values())


def _all(found: Found) -> Iterator[Diagnostic]:
    for finding in found.findings:
        yield from finding.problems
    yield from found.warnings


def _message(problem: Diagnostic) -> str:
    labels = [label.text for label in problem.labels if label.text]
    return "\n".join(
        [*labels, *(f"note: {note}" for note in problem.notes), *(f"help: {way}" for way in problem.helps)]
    )


def _as_data(problem: Diagnostic) -> dict[str, Any]:
    labels = [
        {**_region(label.span), "file": shown_path(label.span.file), "text": label.text} for label in problem.labels
    ]
    return {
        "code": problem.code,
        "severity": problem.severity,
        "title": problem.title,
        "labels": labels,
        "notes": list(problem.notes),
        "helps": list(problem.helps),
        "rendered": render([problem]),
    }


def _region(span: Span) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
    }


def _location(span: Span, text: str) -> dict[str, Any]:
    keys = {"line": "startLine", "column": "startColumn", "end_line": "endLine", "end_column": "endColumn"}
    region = {keys[key]: value for key, value in _region(span).items()}
    path = shown_path(span.file)
    uri = Path(path).as_uri() if os.path.isabs(path) else Path(path).as_posix()
    place = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
    return {**place, "message": {"text": text}} if text else place


def _escaped(text: str, property_: bool = False) -> str:
    pairs: Iterable[tuple[str, str]] = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
    for old, new in (*pairs, *(((":", "%3A"), (",", "%2C")) if property_ else ())):
        text = text.replace(old, new)
    return text


def _print(document: dict[str, Any]) -> None:
    print(json.dumps(document, indent=2, ensure_ascii=False))
