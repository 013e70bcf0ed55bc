"""gather-by-constants-to-slices: runs of indices cut out and joined."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_refused, assert_rewrite

PASS = "gather-by-constants-to-slices"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[{x}] x) => (float[{y}] y) '
X = np.arange(15, dtype=np.float32).reshape(3, 5) - 4


def text(indices: str, axis: int, y: str, x: str = "3,5") -> str:
    head = HEAD.format(x=x, y=y)
    return head + f"<int64{indices}> {{ y = Gather <axis = {axis}> (x, i) }}"


@pytest.mark.parametrize(
    ("indices", "axis", "y", "after"),
    [
        ("[3] i = {0, 1, 4}", 1, "3,3", ["Slice", "Slice", "Concat"]),
        ("[3] i = {-1, 0, 1}", -1, "3,3", ["Slice", "Slice", "Concat"]),
        ("[2] i = {1, 2}", 0, "2,5", ["Slice"]),
        ("[2] i = {2, 1}", 0, "2,5", ["Slice", "Slice", "Concat"]),
        ("[2,2] i = {0, 1, 1, 2}", 0, "2,2,5", ["Slice", "Slice", "Concat", "Reshape"]),
        ("[2] i = {0, 0}", 1, "3,2", ["Slice", "Slice", "Concat"]),
    ],
)
def test_values(indices: str, axis: int, y: str, after: list[str]) -> None:
    assert_rewrite(PASS, text(indices, axis, y), feeds=[{"x": X}], after=after)


def test_slices_of_opset_9_have_attributes() -> None:
    graph = text("[2] i = {2, 0}", 0, "2,5").replace(": 17", ": 9")
    assert_rewrite(PASS, graph, feeds=[{"x": X}], after=["Slice", "Slice", "Concat"])


def test_an_open_axis_is_cut_from_its_front() -> None:
    graph = text("[2] i = {0, 2}", 0, "2,5", "N,5")
    assert_rewrite(
        PASS,
        graph,
        feeds=[{"x": X}],
        after=["Slice", "Slice", "Concat"],
        no_small_sides="the third row is taken",
    )


def test_what_is_not_known_is_refused() -> None:
    graph = text("[2] i = {0, -1}", 0, "2,5", "N,5")
    assert_refused(PASS, graph, "an index counts from its end")
    graph = HEAD.format(x="3,5", y="N,5").replace("(float", "(int64[N] i, float", 1)
    assert_refused(PASS, graph + "{ y = Gather (x, i) }", "the indices")


def test_ncnn_takes_one_index_and_gets_several_in_slices() -> None:
    model = parser.parse_model(text("[3] i = {0, 1, 4}", 1, "3,3"))
    assert [f.feature for f in graphfix.check(model, "ncnn1.0")] == ["form:Gather.indices"]
    assert graphfix.run(model, "ncnn1.0").exit_code == 0
    assert not graphfix.check(parser.parse_model(text("[1] i = {4}", 1, "3,1")), "ncnn1.0")
