"""Sites of packed weights are looked at with few rows, and what knows how many there are is not."""

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.one_site import certify
from graphfix.proving.sites.packed_rows import with_few_rows
from graphfix.proving.sites.site_proof import Case
from graphfix.report import Verdict

ROWS, COLUMNS, BLOCK = 1024, 256, 32
BLOCKS = COLUMNS // BLOCK


def side(nodes: list[NodeProto]) -> ModelProto:
    """Return a model with weights as inputs, as sites with big ones have them."""
    shapes: dict[str, tuple[int, list[str | int | None]]] = {
        "x": (TensorProto.FLOAT, ["n", COLUMNS]),
        "w": (TensorProto.UINT8, [ROWS, BLOCKS, BLOCK // 2]),
        "s": (TensorProto.FLOAT, [ROWS, BLOCKS]),
    }
    given = [helper.make_tensor_value_info(n, k, s) for n, (k, s) in shapes.items()]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "site", given, [out])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def before() -> ModelProto:
    node = helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft")
    for name, value in (("K", COLUMNS), ("N", ROWS), ("bits", 4), ("block_size", BLOCK)):
        node.attribute.append(helper.make_attribute(name, value))
    return side([node])


def written(rows: int, *, middle: int = 8) -> ModelProto:
    """Return the formula with nodes; `rows` is -1 where it does not know how many there are."""

    def constant(name: str, array: object) -> NodeProto:
        tensor = helper.make_tensor  # keep the call below short
        values = np.asarray(array)
        kind = helper.np_dtype_to_tensor_dtype(values.dtype)
        return helper.make_node(
            "Constant", [], [name], value=tensor(name, kind, values.shape, values.reshape(-1))
        )

    return side(
        [
            constant("fifteen", np.uint8(15)),
            constant("four", np.uint8(4)),
            constant("middle", np.float32(middle)),
            constant("last", np.array([-1])),
            constant("blocks", np.array([rows, BLOCKS, BLOCK])),
            constant("matrix", np.array([rows, COLUMNS])),
            helper.make_node("BitwiseAnd", ["w", "fifteen"], ["low"]),
            helper.make_node("BitShift", ["w", "four"], ["high"], direction="RIGHT"),
            helper.make_node("Unsqueeze", ["low", "last"], ["low1"]),
            helper.make_node("Unsqueeze", ["high", "last"], ["high1"]),
            helper.make_node("Concat", ["low1", "high1"], ["pairs"], axis=-1),
            helper.make_node("Reshape", ["pairs", "blocks"], ["bytes"]),
            helper.make_node("Cast", ["bytes"], ["numbers"], to=TensorProto.FLOAT),
            helper.make_node("Sub", ["numbers", "middle"], ["steps"]),
            helper.make_node("Unsqueeze", ["s", "last"], ["scales"]),
            helper.make_node("Mul", ["steps", "scales"], ["floats"]),
            helper.make_node("Reshape", ["floats", "matrix"], ["rows"]),
            helper.make_node("Transpose", ["rows"], ["columns"], perm=[1, 0]),
            helper.make_node("MatMul", ["x", "columns"], ["y"]),
        ]
    )


def test_rows_and_the_attribute_that_counts_them_are_fewer() -> None:
    sides = with_few_rows(before(), written(-1))
    assert sides is not None
    for model in sides:
        dims = {i.name: i.type.tensor_type.shape.dim[0].dim_value for i in model.graph.input}
        assert dims["w"] == dims["s"] == 40
    assert {a.name: a.i for a in sides[0].graph.node[0].attribute}["N"] == 40
    assert {a.name: a.i for a in before().graph.node[0].attribute}["N"] == ROWS


def test_what_is_right_is_equal_with_few_rows() -> None:
    found = certify(Case(before(), written(-1)), Evaluators({}))
    assert (found.status, found.shorter) == (Verdict.EQUAL, True)
    assert found.samples > 1


def test_what_is_wrong_is_found() -> None:
    found = certify(Case(before(), written(-1, middle=7)), Evaluators({}))
    assert found.status is Verdict.MISMATCH


def test_what_knows_the_number_of_rows_is_looked_at_as_it_is() -> None:
    found = certify(Case(before(), written(ROWS)), Evaluators({}))
    assert (found.status, found.shorter) == (Verdict.EQUAL, False)


def test_others_have_no_rows() -> None:
    other = side([helper.make_node("Identity", ["x"], ["y"])])
    assert with_few_rows(other, other) is None
