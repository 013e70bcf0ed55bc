"""Sample reports, one for each way in which a run can end."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest

from graphfix.report import (
    Accuracy,
    Certificate,
    FileFacts,
    Finding,
    IoChange,
    NodeRef,
    Outcome,
    OutputDifference,
    Report,
    Severity,
    Site,
    Status,
    Verdict,
    Verification,
)

SOURCE = FileFacts("in/model.onnx", "a" * 64, 17, 8, 120, 1_234_567)
OUTPUT = FileFacts("in/model.trt8.onnx", "b" * 64, 13, 8, 131, 1_240_000)


def mod_finding(index: int) -> Finding:
    """A certain finding about a Mod node that a pass removes."""
    return Finding(
        rule="trt/op-support",
        feature="op:Mod",
        severity=Severity.REJECT,
        node=NodeRef(f"/layers/{index}/Mod", index, "Mod", "", (f"m{index}",), "main"),
        message="TensorRT 8.4 has no importer for Mod",
        engine_text="No importer registered for op: Mod",
        removed_by=("mod-elimination",),
        source="operator table",
    )


FOREIGN = Finding(
    rule="trt/domain",
    feature="op:acme::Warp",
    severity=Severity.REJECT,
    node=NodeRef("", 7, "Warp", "acme", ("w",), "main/If_3.then_branch"),
    message="acme::Warp is no operator that TensorRT knows",
)
UNSURE = Finding(
    rule="trt/resize-rank",
    feature="rank:Resize.5",
    severity=Severity.BUILDER,
    node=NodeRef("up", 9, "Resize", "", ("r",)),
    message="Resize of rank 5 may be refused",
    certain=False,
    missing="rank of x",
    removed_by=("resize-linear-to-matmul",),
)
NOTE = Finding(
    rule="trt/opset",
    feature="opset:too-high",
    severity=Severity.NOTE,
    node=NodeRef(),
    message="TensorRT 8.6 supports opsets up to 17; it accepts 18 but may misread it",
)


def site(index: int, status: Verdict = Verdict.EQUAL, accuracy: Accuracy = Accuracy.EXACT) -> Site:
    """A place where a Mod became three nodes."""
    return Site(
        node=mod_finding(index).node,
        accuracy=accuracy,
        removed=(mod_finding(index).node,),
        added=(NodeRef(f"/layers/{index}/Mod_div", -1, "Div", "", ("d",)),),
        certificate=Certificate(status, 0.0, 0.0, 5),
    )


FIXED = Report(
    version="0.1.0",
    target="trt8.4",
    input=SOURCE,
    output=OUTPUT,
    findings_before=(*(mod_finding(i) for i in range(12)), NOTE),
    outcomes=(
        Outcome("mod-elimination", Status.APPLIED, "", tuple(site(i) for i in range(12))),
        Outcome("dead-code", Status.NOT_NEEDED),
    ),
    findings_after=(NOTE,),
    io_changes=(),
    verification=Verification(
        Verdict.EQUAL, "", "onnxruntime 1.31, 5 samples", (OutputDifference("y", 1.2e-7, 3e-6),)
    ),
    seconds={"load": 0.1, "verify": 0.4},
    notes=("trt8.4 is what JetPack 5.0 holds",),
)

LEFT = replace(
    FIXED,
    findings_before=(mod_finding(0), FOREIGN, UNSURE),
    outcomes=(
        Outcome("mod-elimination", Status.APPLIED, "", (site(0),)),
        Outcome("mod-elimination", Status.REFUSED, "the divisor may be 0", (site(1),)),
        Outcome("mod-elimination", Status.REFUSED, "the dtype is unknown", (site(2),)),
        Outcome(
            "resize-linear-to-nearest",
            Status.REFUSED,
            "it is lossy",
            (Site(UNSURE.node, Accuracy.LOSSY),),
        ),
        Outcome("cast-elimination", Status.FAILED, "it raised ValueError: x", ()),
    ),
    findings_after=(FOREIGN, UNSURE),
    output=replace(OUTPUT, path="in/model.trt8.partial.onnx"),
)

ODD_NUMBERS = replace(
    FIXED,
    outcomes=(
        Outcome(
            "mod-elimination",
            Status.APPLIED,
            "",
            (
                replace(site(0), certificate=Certificate(Verdict.LOSSY, inf, nan, 2)),
                replace(site(1), certificate=None),
            ),
        ),
    ),
    io_changes=(IoChange("x", "uint8 [1, 3]", "float32 [1, 3]"),),
    verification=Verification(
        Verdict.LOSSY,
        "lossy repairs were allowed",
        "onnxruntime",
        (
            OutputDifference("y", inf, nan, Verdict.LOSSY),
            OutputDifference("z", None, None, Verdict.INCONCLUSIVE),
        ),
    ),
)

NOTHING = replace(
    FIXED,
    findings_before=(),
    findings_after=(),
    output=replace(OUTPUT, sha256=SOURCE.sha256),
    outcomes=(Outcome("dead-code", Status.NOT_NEEDED),),
    verification=Verification(Verdict.SKIPPED, "nothing was changed"),
)

NO_TARGET = replace(
    FIXED,
    target="",
    findings_before=(),
    findings_after=(),
    verification=Verification(Verdict.OFF, "asked for"),
)

DIFFERENT = replace(
    FIXED,
    output=None,
    verification=Verification(
        Verdict.MISMATCH, "y moved", "onnxruntime", (OutputDifference("y", 2.5, 1.0),)
    ),
)

UNPROVED = replace(
    FIXED, verification=Verification(Verdict.INCONCLUSIVE, "the output never changes")
)

SAMPLES: dict[str, tuple[Report, int]] = {
    "fixed": (FIXED, 0),
    "left": (LEFT, 1),
    "odd numbers": (ODD_NUMBERS, 0),
    "nothing to do": (NOTHING, 0),
    "no target": (NO_TARGET, 0),
    "different": (DIFFERENT, 4),
    "not proved": (UNPROVED, 1),
    "strict": (replace(LEFT, output=None), 1),
}


@pytest.fixture(params=list(SAMPLES))
def sample(request: pytest.FixtureRequest) -> tuple[Report, int]:
    """Each sample report with the exit code that belongs to it."""
    return SAMPLES[request.param]


@pytest.fixture
def samples() -> dict[str, tuple[Report, int]]:
    """All of them, by name."""
    return SAMPLES
