"""The headline says what happened: over findings, repairs, interface and verification."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from graphfix.rendering.wording import headline
from graphfix.report import IoChange, Report, Status, Verdict, Verification

Samples = dict[str, tuple[Report, int]]
VERDICTS = (Verdict.EQUAL, Verdict.OFF, Verdict.LOSSY)


@pytest.mark.parametrize(
    ("found", "repaired", "io", "target", "verdict"),
    list(itertools.product([True, False], [True, False], [True, False], ["trt8.4", ""], VERDICTS)),
)
def test_the_word_fits_what_happened(
    samples: Samples, *, found: bool, repaired: bool, io: bool, target: str, verdict: Verdict
) -> None:
    fixed, _ = samples["fixed"]
    report = replace(
        fixed,
        target=target,
        findings_before=fixed.findings_before if found else (),
        findings_after=(),
        outcomes=tuple(o for o in fixed.outcomes if repaired or o.status is not Status.APPLIED),
        io_changes=(IoChange("x", "[n, 3]", "[1, 3]"),) if io else (),
        verification=Verification(verdict),
    )
    said = headline(report, 0)
    changed = repaired or io
    word = said.word.partition(",")[0]
    assert word == ("OK" if not changed else "FIXED" if found else "CHANGED")
    assert ("was repaired" in said.sentence) == (changed and found)
    assert ("copied unchanged" in said.sentence) <= (not changed)
    assert ("its nodes unchanged" in said.sentence) == (io and not repaired and not found)
    if changed:
        assert ("both were run and compared" in said.sentence) == (verdict is Verdict.EQUAL)
    assert ("known" in said.sentence) == bool(target)


@pytest.mark.parametrize("name", ["left", "not proved", "strict", "different"])
@pytest.mark.parametrize("dry_run", [True, False])
def test_what_ends_in_another_code_is_never_called_fixed_or_done(
    samples: Samples, name: str, *, dry_run: bool
) -> None:
    said = headline(*samples[name], dry_run=dry_run)
    assert said.word in ("PROBLEMS", "NOT VERIFIED", "DIFFERENT", "NOT DONE")
    assert "was repaired" not in said.sentence
