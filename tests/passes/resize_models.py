"""Models with one Resize or Upsample, for the tests of the resize passes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]
IR = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9}


def assert_valid(model: ModelProto) -> None:
    """Assert that the checker and strict shape inference have no complaint."""
    checker: Any = onnx.checker
    checker.check_model(model, full_check=True)


def model_of(
    nodes: Sequence[NodeProto],
    *,
    x: Sequence[int | str],
    y: Sequence[int | str | None],
    opset: int,
    constants: dict[str, Array] | None = None,
    dtype: int = TensorProto.FLOAT,
) -> ModelProto:
    """Return a model from `x` to `y`; constants are Constant nodes where IR 3 wants that."""
    ir = IR.get(opset, 10)
    given = {k: numpy_helper.from_array(v, k) for k, v in (constants or {}).items()}
    made = [helper.make_node("Constant", [], [k], value=v) for k, v in given.items()]
    graph = helper.make_graph(
        [*(made if ir < 4 else ()), *nodes],
        "g",
        [helper.make_tensor_value_info("x", dtype, x)],
        [helper.make_tensor_value_info("y", dtype, y)],
        [] if ir < 4 else list(given.values()),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
    assert_valid(model)
    return model


def resize_model(
    x: Sequence[int | str],
    *,
    scales: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
    roi: Sequence[float] | None = None,
    opset: int = 13,
    y: Sequence[int | str | None] | None = None,
    dtype: int = TensorProto.FLOAT,
    **attributes: Any,
) -> ModelProto:
    """Return a model with one Resize in the form of the opset."""
    constants: dict[str, Array] = {}
    inputs = ["x"]
    if opset >= 11:
        if roi is not None or opset < 13:
            constants["roi"] = np.array([] if roi is None else roi, dtype=np.float32)
        inputs.append("roi" if "roi" in constants else "")
        if scales is not None or opset < 13:
            constants["scales"] = np.array([] if scales is None else scales, dtype=np.float32)
        inputs.append("scales" if "scales" in constants else "")
        if sizes is not None:
            constants["sizes"] = np.array(sizes, dtype=np.int64)
            inputs.append("sizes")
    else:
        constants["scales"] = np.array(scales, dtype=np.float32)
        inputs.append("scales")
    node = helper.make_node("Resize", inputs, ["y"], name="r", **attributes)
    shape = [None] * len(x) if y is None else list(y)
    return model_of([node], x=x, y=shape, opset=opset, constants=constants, dtype=dtype)


def upsample_model(
    x: Sequence[int | str], scales: Sequence[float], *, opset: int = 9, mode: str = "linear"
) -> ModelProto:
    """Return a model with one Upsample in the form of the opset (7 to 9)."""
    shape: list[int | str | None] = [None] * len(x)
    if opset < 9:
        node = helper.make_node(
            "Upsample", ["x"], ["y"], name="u", mode=mode, scales=[float(s) for s in scales]
        )
        return model_of([node], x=x, y=shape, opset=opset)
    node = helper.make_node("Upsample", ["x", "scales"], ["y"], name="u", mode=mode)
    constants: dict[str, Array] = {"scales": np.array(scales, dtype=np.float32)}
    return model_of([node], x=x, y=shape, opset=opset, constants=constants)


def in_branch(model: ModelProto) -> ModelProto:
    """Return the model with its nodes inside the two branches of an If."""
    branches: list[onnx.GraphProto] = []
    made = {output for node in model.graph.node for output in node.output}
    for name in ("a", "b"):
        nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in model.graph.node]
        for node in nodes:
            node.input[:] = [f"{i}_{name}" if i in made else i for i in node.input]
            node.output[:] = [f"{o}_{name}" for o in node.output]
        output = onnx.ValueInfoProto.FromString(model.graph.output[0].SerializeToString())
        output.name = f"{output.name}_{name}"
        branches.append(helper.make_graph(nodes, name, [], [output]))
    choice = helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    graph = helper.make_graph(
        [choice],
        "g",
        [*model.graph.input, condition],
        list(model.graph.output),
        list(model.graph.initializer),
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def reference(model: ModelProto, feed: dict[str, Array]) -> Array:
    """Return what the reference evaluator of ONNX makes of the feed."""
    evaluator: Any = ReferenceEvaluator(model)
    return np.asarray(evaluator.run(None, feed)[0])


def ramp(*shape: int, dtype: type[np.generic] = np.float32) -> dict[str, Array]:
    """Return a feed with numbers that no interpolation reproduces by chance."""
    values = np.random.default_rng(7).standard_normal(shape)
    return {"x": values.astype(dtype)}
