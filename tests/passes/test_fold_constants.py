"""fold-constants: what is folded, what must not be, and that no file grows by it."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import graphfix
from graphfix.report import Status
from graphfix.testing import assert_rewrite, assert_untouched, outputs_of, run_pass

Array = np.ndarray[Any, Any]
PASS = "fold-constants"
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def initializers(model: onnx.ModelProto) -> dict[str, Array]:
    return {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 15, 17])
def test_shape_arithmetic_becomes_one_constant_under_its_own_name(opset: int) -> None:
    axes = "<axes = [0]> (h)" if opset < 13 else "(h, zero)"
    zero = "" if opset < 13 else ", int64[1] zero = {0}"
    text = (
        f'<ir_version: 3, opset_import: ["" : {opset}]>\n'
        "g (float[2,3,4] x) => (float[2,12] y) { s = Shape (x) "
        f"h = Gather (s, i) u = Unsqueeze {axes} p = Concat <axis = 0> (u, rest) "
        "y = Reshape (x, p) }"
    ).replace("{ s =", f"<int64 i = {{0}}, int64[1] rest = {{-1}}{zero}> {{ s =")
    model = onnx.parser.parse_model(text)
    model.ir_version = 4
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["Reshape"])
    assert initializers(done.after)["p"].tolist() == [2, -1]
    assert list(initializers(done.after)) == ["p"]
    sites = done.with_status(Status.APPLIED)[0].sites
    assert [ref.op for ref in sites[0].removed] == ["Concat", "Unsqueeze", "Gather", "Shape"]


def of_ir_3(opset: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: 3, opset_import: ["" : {opset}]>\n'
        "g (float[2,3,4] x, int64[1] k, int64[1] z) => (float[N,M] y) "
        "<int64[1] k = {-1}, int64[1] z = {0}> "
        "{ s = Shape (x) n = Gather (s, z) p = Concat <axis = 0> (n, k) y = Reshape (x, p) }"
    )


def test_ir_3_gets_constant_nodes() -> None:
    done = assert_rewrite(PASS, of_ir_3(9), feeds=[{"x": X}], after=["Constant", "Reshape"])
    assert done.after.graph.node[0].output[0] == "p"
    assert [i.name for i in done.after.graph.input] == ["x", "k", "z"]
    assert list(initializers(done.after)) == ["k", "z"]


def test_the_limit_of_growth_holds_over_all_rounds(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    sizes = ", ".join(f"int64[1] k{i} = {{30000}}" for i in range(8))
    parts = " ".join(f"c{i} = ConstantOfShape (k{i}) t{i + 1} = Add (t{i}, c{i})" for i in range(8))
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]>\ng (float[30000] t0) => (float[30000] y) '
        f"<{sizes}> {{ {parts} y = Neg (t8) }}"
    )
    path.write_bytes(model.SerializeToString())
    for source in (str(path), model):
        after = graphfix.run(source, "trt8.6", verify="off").model.to_proto()
        assert len(after.SerializeToString()) < path.stat().st_size * 17 / 16 + (1 << 17) + 4096


def test_inside_a_function_constants_are_nodes() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17, "f" : 1]>\n'
        "g (float[2,3,4] x) => (float[N,M] y) { y = f.flat (x) }\n"
        '<domain: "f", opset_import: ["" : 17]>\n'
        "flat (v) => (w) { s = Shape (v) i = Constant <value = int64[1] {0}> () "
        "n = Gather (s, i) m = Constant <value = int64[1] {-1}> () "
        "p = Concat <axis = 0> (n, m) w = Reshape (v, p) }"
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}])
    ops = [node.op_type for node in done.after.functions[0].node]
    assert ops.count("Constant") >= 1
    assert "Gather" not in ops
    assert "Shape" not in ops


def test_an_output_of_the_graph_is_not_folded_but_what_it_is_made_of_is() -> None:
    done = assert_rewrite(
        PASS,
        HEAD + "g (float[2,3,4] x) => (int64[3] y) <int64[1] k = {2}> "
        "{ s = Shape (x) m = Mul (s, k) y = Add (m, k) }",
        feeds=[{"x": X}],
        after=["Add"],
    )
    assert initializers(done.after)["m"].tolist() == [4, 6, 8]


def test_captured_constants_are_folded_in_branches() -> None:
    text = (
        HEAD + "g (float[2,3,4] x, bool c) => (float[N,M] y) <int64[1] k = {2}, int64[1] r = {-1}> "
        "{ d = Add (k, k) y = If (c) <then_branch = t () => (float[N,M] a) "
        "{ p = Concat <axis = 0> (d, r) a = Reshape (x, p) }, else_branch = e () => "
        "(float[N,M] b) { q = Concat <axis = 0> (k, r) b = Reshape (x, q) }> }"
    )
    feeds = [{"x": X, "c": np.array(flag)} for flag in (True, False)]
    done = assert_rewrite(PASS, text, feeds=feeds, after=["If"])
    branches = {a.name: a.g for a in done.after.graph.node[0].attribute}
    assert [n.op_type for n in branches["then_branch"].node] == ["Reshape"]
    found = numpy_helper.to_array(branches["then_branch"].initializer[0]).tolist()
    assert found == [4, -1]


def test_the_counter_of_a_loop_is_not_a_constant() -> None:
    text = (
        HEAD + "g (int64 count, int64[1] x) => (int64[1] y) "
        "<bool yes = {1}, int64 two = {2}> { three = Add (two, two) "
        "y = Loop (count, yes, x) <body = b (int64 i, bool c, int64[1] v) => "
        "(bool c2, int64[1] v2) { c2 = Identity (c) j = Mul (i, three) v2 = Add (v, j) }> }"
    )
    feed = {"count": np.array(3), "x": np.array([1])}
    done = assert_rewrite(PASS, text, feeds=[feed], after=["Loop"])
    body = done.after.graph.node[0].attribute[0].g
    assert [n.op_type for n in body.node] == ["Identity", "Mul", "Add"]
    assert outputs_of(done.after, feed)["y"].tolist() == [13]


def test_floats_are_folded_by_onnxruntime() -> None:
    done = assert_rewrite(
        PASS,
        HEAD + "g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> "
        "{ a = Exp (w) b = Sqrt (a) y = Mul (x, b) }",
        feeds=[{"x": np.array([1, 2], np.float32)}],
        after=["Mul"],
    )
    np.testing.assert_allclose(initializers(done.after)["b"], np.exp([0.5, 1.0]), rtol=1e-6)


def test_what_cannot_be_computed_is_refused_and_the_rest_folded() -> None:
    model = onnx.parser.parse_model(
        HEAD + "g (float[2] x) => (float[2] y, float[K] z) "
        "<float[2] w = {1.0, 2.0}, int64[1] five = {5}, float[3] v = {1.0, 2.0, 3.0}> "
        "{ a = Exp (w) y = Mul (x, a) b = Softmax <axis = 7> (v) z = Neg (b) }"
    )
    for name, size in (("a", 2), ("b", 3)):
        model.graph.value_info.append(
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])
        )
    done = run_pass(PASS, model)
    assert "Exp" not in done.ops
    assert done.ops == ["Mul", "Softmax", "Neg"]
    assert any("cannot compute" in reason for reason in done.reasons)


@pytest.mark.parametrize("op", ["ConstantOfShape", "Expand"])
def test_no_file_grows_by_folding(op: str) -> None:
    inputs = ["shape"] if op == "ConstantOfShape" else ["one", "shape"]
    graph = helper.make_graph(
        [helper.make_node(op, inputs, ["big"]), helper.make_node("Add", ["x", "big"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2048, 2048])],
        [
            numpy_helper.from_array(np.array([2048, 2048]), "shape"),
            numpy_helper.from_array(np.array(1, np.float32), "one"),
        ],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    done = run_pass(PASS, model)
    assert done.after == model


def test_many_small_constants_do_not_make_a_big_file() -> None:
    nodes: list[onnx.NodeProto] = []
    for index in range(40):
        nodes.append(helper.make_node("ConstantOfShape", ["shape"], [f"c{index}"]))
        last = "x" if index == 0 else f"y{index - 1}"
        nodes.append(helper.make_node("Add", [last, f"c{index}"], [f"y{index}"]))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16384])],
        [helper.make_tensor_value_info("y39", TensorProto.FLOAT, [16384])],
        [numpy_helper.from_array(np.array([16384]), "shape")],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    done = run_pass(PASS, model)
    assert done.after.ByteSize() <= model.ByteSize() + (1 << 17) + (1 << 12)


def test_a_result_smaller_than_its_parts_is_folded_whatever_its_size() -> None:
    weights = np.random.default_rng(1).normal(size=(300, 300)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Transpose", ["w"], ["t"]),
            helper.make_node("MatMul", ["x", "t"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 300])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 300])],
        [numpy_helper.from_array(weights, "w")],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    feed = {"x": np.ones((2, 300), np.float32)}
    # onnxruntime packs constant weights and adds up in another order then.
    done = assert_rewrite(PASS, model, feeds=[feed], after=["MatMul"], rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(initializers(done.after)["t"], weights.T)


@pytest.mark.parametrize("kind", [TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN])
def test_narrow_floats_are_moved_bit_for_bit(kind: int) -> None:
    values = helper.make_tensor("w", kind, [2, 2], [1.0, 2.0, 3.0, 4.0])
    graph = helper.make_graph(
        [
            helper.make_node("Transpose", ["w"], ["t"]),
            helper.make_node("Cast", ["t"], ["c"], to=TensorProto.FLOAT),
            helper.make_node("Add", ["x", "c"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2])],
        [values],
    )
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 21)])
    done = run_pass(PASS, model)
    assert not done.with_status(Status.FAILED)
    assert done.ops == ["Add"]
    assert initializers(done.after)["c"].tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_a_split_folds_the_outputs_that_are_used() -> None:
    done = assert_rewrite(
        PASS,
        HEAD + "g (float[2,3,4] x) => (float[2,12] y) <int64[2] k = {1, 2}, int64[1] r = {-1}> "
        "{ s = Shape (x) a, b = Split (s, k) p = Concat <axis = 0> (a, r) y = Reshape (x, p) }",
        feeds=[{"x": X}],
        after=["Reshape"],
    )
    assert list(initializers(done.after)) == ["p"]


def test_linear_in_nodes() -> None:
    import sys

    def calls(count: int) -> int:
        """Count the function calls that it takes; unlike seconds they repeat."""
        nodes: list[onnx.NodeProto] = []
        last = "s"
        nodes.append(helper.make_node("Shape", ["x"], ["s"]))
        for index in range(count):
            nodes.append(helper.make_node("Add", [last, "k"], [f"a{index}"]))
            last = f"a{index}"
        nodes.append(helper.make_node("Identity", [last], ["y"]))
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
            [helper.make_tensor_value_info("y", TensorProto.INT64, [2])],
            [numpy_helper.from_array(np.array([1]), "k")],
        )
        opsets = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, ir_version=8, opset_imports=opsets)
        seen = 0

        def watch(frame: object, event: str, argument: object) -> None:
            nonlocal seen
            seen += event == "call"

        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            done = run_pass(PASS, model)
        finally:
            sys.setprofile(before)
        assert done.ops == ["Identity"]
        assert initializers(done.after)[last].tolist() == [2 + count, 3 + count]
        return seen

    calls(10)
    assert calls(2000) < 4.4 * calls(500)


_SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)
_STEPS = st.lists(
    st.sampled_from(["Add", "Sub", "Mul", "Div", "Neg", "Gather", "Slice", "Cast"]), max_size=6
)


@given(sizes=_SIZES, steps=_STEPS, constant=st.integers(1, 9), index=st.integers(-1, 0))
def test_any_shape_arithmetic_keeps_its_value(
    sizes: list[int], steps: list[str], constant: int, index: int
) -> None:
    nodes, last = [helper.make_node("Shape", ["x"], ["s"])], "s"
    for position, op in enumerate(steps):
        name = f"v{position}"
        if op in ("Add", "Sub", "Mul", "Div"):
            nodes.append(helper.make_node(op, [last, "k"], [name]))
        elif op == "Gather":
            nodes.append(helper.make_node(op, [last, "i"], [name]))
        elif op == "Slice":
            nodes.append(helper.make_node(op, [last, "i", "far"], [name]))
        elif op == "Cast":
            nodes.append(helper.make_node(op, [last], [name], to=TensorProto.INT64))
        else:
            nodes.append(helper.make_node(op, [last], [name]))
        last = name
    nodes.append(helper.make_node("Identity", [last], ["y"]))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("y", TensorProto.INT64, ["K"])],
        [
            numpy_helper.from_array(np.array([constant]), "k"),
            numpy_helper.from_array(np.array([index]), "i"),
            numpy_helper.from_array(np.array([1000]), "far"),
        ],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    feed = {"x": np.zeros(sizes, np.float32)}
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Identity"])
    assert last in initializers(done.after)


@pytest.mark.parametrize("times", [2, 3])
def test_a_constant_joined_with_itself_counts_once(times: int) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>\n'
        f"g (int64[1] x) => (int64[n] y) {{ s = Concat <axis = 0> ({', '.join('c' * times)}) "
        "y = Add (s, x) }"
    )
    model.graph.initializer.append(numpy_helper.from_array(np.arange(20_000), "c"))
    assert_untouched(PASS, model)


def test_what_was_declared_of_a_node_is_dropped_with_it() -> None:
    text = HEAD + (
        "g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}, float[n] a, float[4] b>"
        "{ a = Neg (w) b = Mul (x, a) y = Neg (b) }"
    )
    done = assert_rewrite(PASS, text, feeds=[{"x": X[0, 0]}], after=["Mul", "Neg"])
    assert [info.name for info in done.after.graph.value_info] == ["b"]


TIED = """g (int64[N] i, float[N, {columns}] x) => (float[A, B] a, float[C, D] y) {{
        a = {reads} t = Transpose <perm = [1, 0]> (w) y = {product} }}"""


def tied(reads: str = "Gather (w, i)", product: str = "MatMul (x, t)", columns: int = 32) -> Any:
    model = onnx.parser.parse_model(
        HEAD + TIED.format(reads=reads, product=product, columns=columns)
    )
    rng = np.random.default_rng(0)
    given = rng.standard_normal((64, columns)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(given, "w"))
    return model


def test_tied_weights_are_not_stored_the_other_way_round() -> None:
    assert_untouched(PASS, tied())
    model = tied()
    result = graphfix.run(model, target="trt8")
    assert result.exit_code == 0
    assert result.model is not None
    assert result.model.to_proto().ByteSize() < model.ByteSize() + 1000


@pytest.mark.parametrize(
    ("reads", "product", "columns"),
    [
        ("Neg (x)", "MatMul (x, t)", 32),  # nothing else reads them
        ("Gather (w, i)", "MatMul (x, t)", 4),  # a kilobyte
        ("Gather (w, i)", "Gemm (x, t)", 32),  # engines want constants there
        ("Neg (x) u = Transpose (w) b = MatMul (x, u)", "MatMul (x, t)", 32),
    ],
)
def test_other_transposes_are_computed(reads: str, product: str, columns: int) -> None:
    model = tied(reads, product, columns)
    feed = {"i": np.array([3, 0]), "x": np.ones((2, columns), np.float32)}
    done = assert_rewrite(PASS, model, feeds=[feed], rtol=1e-4, atol=1e-4)
    assert "Transpose" not in done.ops
