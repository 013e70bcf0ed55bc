"""Findings as JUnit XML, which CI reads: a suite is a model, a case a problem that it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, fromstring, indent, tostring

from graphfix.rendering.grouping import group_findings
from graphfix.rendering.style import printable
from graphfix.report import Finding


def check_junit(path: str, target: str, findings: Sequence[Finding]) -> str:
    """Return the JUnit XML of a check; the arguments are those of the text view.

    Each problem is a case that failed, once with all its nodes; what does not block is in the
    output of the suite. A model without problems is one case that passed.
    """
    groups = [g for g in group_findings(findings) if g.findings[0].blocks]
    suite = Element(
        "testsuite",
        name=printable(f"graphfix check {path}"),
        tests=str(max(len(groups), 1)),
        failures=str(len(groups)),
        errors="0",
        skipped="0",
    )
    if not groups:
        SubElement(suite, "testcase", classname=printable(path), name=f"no problem for {target}")
    for group in groups:
        case = SubElement(
            suite,
            "testcase",
            classname=printable(path),
            name=printable(f"{target}: {group.feature} ({group.rule})"),
        )
        first = group.findings[0]
        failure = SubElement(case, "failure", type=str(group.severity))
        failure.set("message", printable(first.message))
        lines = [printable(line) for line in first.engine_text.splitlines()]
        lines += [f"node: {label}" for label in group.nodes]
        lines.append(f"removed by: {group.removers or 'no pass'}")
        failure.text = "\n".join(lines)
    others = [f for f in findings if not f.blocks]
    if others:
        said = SubElement(suite, "system-out")
        said.text = "\n".join(printable(f"{f.severity}: {f.message}") for f in others)
    return _document([suite])


def joined_junit(texts: Sequence[str], unread: Mapping[str, str]) -> str:
    """Return one document of those of several models.

    Args:
        texts: The documents.
        unread: Why other models could not be looked at, by their paths: an error each.
    """
    suites = [suite for text in texts for suite in fromstring(text)]
    for path, why in unread.items():
        counts = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
        suite = Element("testsuite", {"name": printable(f"graphfix check {path}"), **counts})
        case = SubElement(suite, "testcase", classname=printable(path), name="is read")
        SubElement(case, "error", type="unreadable", message=printable(why))
        suites.append(suite)
    return _document(suites)


def _document(suites: Sequence[Element]) -> str:
    root = Element("testsuites")
    root.extend(suites)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"
