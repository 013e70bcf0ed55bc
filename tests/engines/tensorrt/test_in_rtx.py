"""TensorRT for RTX itself: what its parser and builder say, where this machine has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto, parser

from graphfix.api import run
from graphfix.bisection.asking.engine_findings import with_engine
from graphfix.engines.engine import engine_of
from graphfix.engines.hosting.host import Refused
from graphfix.engines.hosting.places import python_of
from graphfix.pipeline.files import CheckRequest, check_file
from graphfix.report import Verdict

ENGINE = engine_of("trt-rtx")
HERE = [name for name in ENGINE.names() if python_of(name, ENGINE.requirements)]
needs_rtx = pytest.mark.skipif(
    not HERE, reason="no TensorRT for RTX here: graphfix targets --install trt-rtx"
)


@pytest.fixture(scope="module")
def target() -> str:
    """The newest one that is here."""
    return HERE[-1] if HERE else "trt-rtx1.7"


def model(graph: str) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {graph}')


@needs_rtx
def test_it_builds_what_is_repaired(target: str) -> None:
    graph = "(float[N, 4] x) => (float[N, 4] y) { i = Identity (x) y = Add (i, x) }"
    result = run(model(graph), target, verify="engine")
    assert result.exit_code == 0
    assert result.report.verification.status in (Verdict.BUILT, Verdict.EQUAL)


@needs_rtx
@pytest.mark.parametrize(
    ("graph", "stage", "words"),
    [
        ("(float[4] x) => (float[4] y) { y = Det (x) }", "parse", "operator Det: "),
        (
            "(float[1,9,4] b, float[1,1,9] s) => (int64[n,3] y) <int64[1] k = {3}>"
            " { y = NonMaxSuppression (b, s, k) }",
            "build",
            "has no runners that implement it",
        ),
    ],
)
def test_a_refusal_has_its_stage_and_words(
    target: str, tmp_path: Path, graph: str, stage: str, words: str
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model(graph).SerializeToString())
    with ENGINE.host(target) as host, pytest.raises(Refused, match=words) as refused:
        host.load(path, {})
    assert refused.value.stage == stage


@needs_rtx
def test_check_names_the_node_that_it_refuses(target: str, tmp_path: Path) -> None:
    graph = (
        "(float[1,9,4] b, float[1,1,9] s) => (int64[n,3] z) <int64[1] k = {3}>"
        " { c = Abs (b) y = NonMaxSuppression (c, s, k) z = Neg (y) }"
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(model(graph).SerializeToString())
    request = CheckRequest(path, target=target)
    found = with_engine(request, check_file(request))
    blocking = [finding for finding in found.findings if finding.blocks]
    assert {finding.node.outputs for finding in blocking} == {("y",)}, blocking
    assert "it does not take the model" in " ".join(found.notes)
