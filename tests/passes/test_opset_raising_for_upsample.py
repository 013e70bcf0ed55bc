"""opset-raising-for-upsample: opset 10 where scales of Upsample are computed."""

import numpy as np
import pytest

import graphfix
from graphfix.report import Verdict
from graphfix.testing import assert_rewrite, parse
from tests.passes.lowering_models import written

PASS = "opset-raising-for-upsample"
SIZED = '@y = Upsample <mode = "nearest"> (x, s)'
X = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
LIKE = """<ir_version: 4, opset_import: ["" : 9]> g (float[1,2,H,W] x, float[1,2,K,L] z)
 => (float[1,2,A,B] y) <float[2] o = {1, 1}> {
 h = Shape (z) i = Slice <axes = [0], starts = [2], ends = [4]> (h) d = Cast <to = 1> (i)
 e = Shape (x) f = Slice <axes = [0], starts = [2], ends = [4]> (e) g = Cast <to = 1> (f)
 q = Div (d, g) k = Concat <axis = 0> (o, q) y = Upsample <mode = "nearest"> (x, k) }"""


@pytest.mark.parametrize("place", ["main", "branch"])
def test_computed_scales(place: str) -> None:
    text = written(SIZED, "float[1,1,H,W] x, float[4] s", "float[1,1,A,B]", opset=9, place=place)
    feeds = [{"x": X, "s": np.array(s, np.float32)} for s in ([1, 1, 1.4, 2.3], [1, 1, 2, 1])]
    for feed in feeds:
        if place == "branch":
            feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=feeds, no_small_sides="the scales are fed")
    assert [entry.version for entry in done.after.opset_import if not entry.domain] == [10]


def test_what_openvino_reads_differently() -> None:
    result = graphfix.run(parse(LIKE), "openvino2026.4")
    assert [f.rule for f in result.report.findings_before] == ["upsample-of-half-pixels"]
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    assert not result.report.findings_after
    assert {node.op_type for node in result.model.to_proto().graph.node} >= {"Resize", "Shape"}
