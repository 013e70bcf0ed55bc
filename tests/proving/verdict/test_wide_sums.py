"""What fused normalisations round of long rows counts as rounding; what is wrong does not."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.verdict.wide_sums import summed_widely
from graphfix.testing import run_pass

WIDE = 4096
HEAD = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]


def model(op: str, *, opset: int = 21, kind: int = TensorProto.FLOAT) -> ModelProto:
    """Return a normalisation of rows of 4,096 numbers."""
    skips = op.startswith("Skip")
    names = ["x", "s"] if skips else ["x"]
    node = helper.make_node(
        op, [*names, "w"], ["y", "", "", "z"] if skips else ["y"], epsilon=1e-5,
        domain="com.microsoft" if skips else "",
    )  # fmt: skip
    weights = np.linspace(0.5, 1.5, WIDE).astype(helper.tensor_dtype_to_np_dtype(kind))
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(name, kind, ["rows", WIDE]) for name in names],
        [helper.make_tensor_value_info(n, kind, ["rows", WIDE]) for n in (*"yz"[: len(names)],)],
        [numpy_helper.from_array(weights, "w")],
    )
    imports = [helper.make_opsetid("", opset), HEAD[1]]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def feed_of(proto: ModelProto) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    chosen = np.array([0, 1, -1, 1.5, -3, 100, 1e3], np.float32)
    return {i.name: rng.choice(chosen, (3, WIDE)) for i in proto.graph.input}


@pytest.mark.parametrize("opset", [17, 21])
@pytest.mark.parametrize("op", ["SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_the_copy_computes_the_same_more_exactly(op: str, opset: int) -> None:
    proto = model(op, opset=opset)
    copy = summed_widely(proto)
    assert copy is not None
    assert op not in {node.op_type for node in copy.graph.node}
    feed = feed_of(proto)
    found = RunnableModel(copy).open().run(dict(feed))
    total = np.sum([value.astype(np.float64) for value in feed.values()], axis=0)
    exact = total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-5)
    exact *= np.linspace(0.5, 1.5, WIDE).astype(np.float32)
    np.testing.assert_allclose(np.asarray(found["y"]), exact, rtol=2e-7)
    first = RunnableModel(proto).open().run(dict(feed))
    assert (
        np.abs(np.asarray(first["y"]) - exact).max()
        > 4 * np.abs(np.asarray(found["y"]) - exact).max()
    )


def test_other_forms_are_left_alone() -> None:
    proto = model("SimplifiedLayerNormalization")
    proto.graph.node[0].attribute.append(helper.make_attribute("axis", 1))
    assert summed_widely(proto) is None
    assert summed_widely(model("SkipSimplifiedLayerNormalization")) is not None


def test_a_repair_is_equal_and_a_wrong_one_is_not() -> None:
    proto = model("SkipSimplifiedLayerNormalization")
    feed = feed_of(proto)
    before = RunnableModel(proto).open().run(dict(feed))
    done = run_pass("skip-layer-normalization-to-add", proto)
    after = RunnableModel(done.after).open().run(dict(feed))
    judge = Judge(RunnableModel(proto))
    assert judge.take(dict(feed), before, after)
    assert not judge.broken
    wrong = Judge(RunnableModel(proto))
    wrong.take(dict(feed), before, {**after, "y": np.asarray(after["y"]) * np.float32(1.001)})
    assert "y" in wrong.broken
