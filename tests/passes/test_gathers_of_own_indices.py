"""gathers-of-own-indices: indices that several Gathers read."""

import numpy as np

import graphfix
from graphfix.testing import assert_rewrite, parse

PASS = "gathers-of-own-indices"
TABLES = (
    "<float[3] k = {1, 2, 3}, float[3] m = {5, 4, 2}, float[4] l = {1, 3, 5, 7}, "
    "float[2,2] t = {1, 2, 3, 4}> "
)
FEED = {"i": np.array([0, -1, 1])}
TWO = "g = Gather (k, i) h = Gather (m, i) y = Sub (g, h)"


def _text(body: str, opset: int = 17, kind: str = "int64", size: str = "3", y: str = "A") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind}[{size}] i) => (float[{y}] y) '
        f"{TABLES}{{ {body} }}"
    )


def test_three_tables_read_three_tensors() -> None:
    body = "g = Gather (k, i) h = Gather (m, i) d = Sub (g, h) e = Gather (l, i) y = Mul (d, e)"
    done = assert_rewrite(PASS, _text(body), feeds=[FEED])
    read = [node.input[1] for node in done.after.graph.node if node.op_type == "Gather"]
    assert len(set(read)) == 3
    assert done.ops.count("Max") == 3


def test_copies_of_indices() -> None:
    body = "n = Identity (i) g = Gather (k, i) h = Gather (m, n) y = Sub (g, h)"
    assert "Max" in assert_rewrite(PASS, _text(body), feeds=[FEED]).ops


def test_it_repairs_for_the_engine_that_takes_them_for_one() -> None:
    result = graphfix.run(parse(_text(TWO)), target="rknn2.3")
    found = [finding.feature for finding in result.report.findings_before]
    assert "form:Gather.shared-indices" in found
    assert result.exit_code == 0
    assert result.report.findings_after == ()
