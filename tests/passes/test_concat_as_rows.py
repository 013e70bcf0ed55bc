"""concat-as-rows: the same values in the same order, joined along the last of two axes."""

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import written

PASS = "concat-as-rows"


def _text(first: list[int], second: list[int], axis: int, opset: int = 13) -> str:
    result = [*first]
    result[axis] += second[axis]
    return written(f"@y = Concat <axis = {axis}> (x, z)", f"float{first} x, float{second} z",
                   f"float{result}", opset=opset)  # fmt: skip


@pytest.mark.parametrize("opset", [7, 13, 21])
@pytest.mark.parametrize(
    ("first", "second", "axis", "rows"),
    [
        ([1, 1], [1, 1], 0, 1),
        ([1, 1, 5], [1, 1, 5], 0, 1),
        ([2, 3, 3, 2], [2, 3, 3, 2], 1, 2),
        ([2, 3, 1, 1], [2, 3, 1, 1], -2, 6),
        ([2, 1, 3], [2, 4, 3], 1, 2),
    ],
)
def test_values(first: list[int], second: list[int], axis: int, rows: int, opset: int) -> None:
    feed = {
        "x": np.arange(np.prod(first), dtype=np.float32).reshape(first),
        "z": -np.arange(1, 1 + np.prod(second), dtype=np.float32).reshape(second),
    }
    done = assert_rewrite(
        PASS, _text(first, second, axis, opset), feeds=[feed],
        after=["Reshape", "Reshape", "Concat", "Reshape"],
    )  # fmt: skip
    concat = next(node for node in done.after.graph.node if node.op_type == "Concat")
    assert [attribute.i for attribute in concat.attribute] == [1]
    shapes = [info for info in done.after.graph.node if info.op_type == "Reshape"]
    assert len(shapes) == 1 + len(concat.input)
    given = outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(given, np.concatenate([feed["x"], feed["z"]], axis))
    assert given.size % rows == 0


def test_it_repairs_for_the_engine_that_joins_along_another_axis() -> None:
    result = graphfix.run(
        parse(_text([1, 1, 5], [1, 1, 5], 0)), target="tflite1.29", trust_rules=True
    )
    assert [finding.feature for finding in result.report.findings_before] == [
        "form:Concat.equal-axes"
    ]
    assert result.exit_code == 0
    assert result.report.findings_after == ()


def test_what_may_be_joined_along_another_axis_is_repaired_for_all_sizes() -> None:
    text = written("@y = Concat <axis = -2> (x, z)", "float[B,4,P,8] x, float[B,4,S,8] z",
                   "float[B,4,T,8]", opset=17)  # fmt: skip
    result = graphfix.run(parse(text), target="tflite1.29", trust_rules=True)
    before = result.report.findings_before
    assert [(finding.feature, finding.certain) for finding in before] == [
        ("form:Concat.equal-axes", False)
    ]
    assert result.exit_code == 0
    assert result.report.findings_after == ()
    for past, new in ((8, 8), (0, 1), (3, 2)):
        shape = [(2, 4, size, 8) for size in (past, new)]
        x, z = (np.arange(np.prod(each), dtype=np.float32).reshape(each) for each in shape)
        given = outputs_of(result.model.to_proto(), {"x": x, "z": z})["y"]
        np.testing.assert_array_equal(given, np.concatenate([x, z], 2))
