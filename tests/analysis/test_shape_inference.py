"""What ends the process in onnx's own shape inference does not end ours."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from graphfix.analysis.shape_inference import infer_shapes

READERS: list[tuple[str, str, int, dict[str, Any]]] = [
    ("", "EyeLike", 9, {"dtype": TensorProto.INT64}),
    ("", "EyeLike", 22, {"dtype": TensorProto.INT64}),
    ("", "RegexFullMatch", 20, {"pattern": "a"}),
    ("ai.onnx.ml", "LabelEncoder", 1, {"classes_strings": ["a"]}),
    ("ai.onnx.ml", "TreeEnsemble", 5, {}),
    ("ai.onnx.ml", "DictVectorizer", 1, {"string_vocabulary": ["a"]}),
]


def of_unknown_type(domain: str, op: str, version: int, attributes: dict[str, Any]) -> Any:
    """Return a model in which the operator reads what an unknown one gives."""
    nodes = [
        helper.make_node("Unknown", [], ["x"], domain="acme"),
        helper.make_node(op, ["x"], ["y"], domain=domain, **attributes),
        helper.make_node("Relu", ["a"], ["b"]),
    ]
    typed = helper.make_tensor_value_info("a", TensorProto.FLOAT, [2, 3])
    opsets = {"": version if not domain else 18, "acme": 1}
    if domain:
        opsets[domain] = version
    return helper.make_model(
        helper.make_graph(nodes, "g", [typed], []),
        opset_imports=[helper.make_opsetid(d, v) for d, v in opsets.items()],
    )


def shapes(model: onnx.ModelProto) -> dict[str, list[int]]:
    return {
        info.name: [d.dim_value for d in info.type.tensor_type.shape.dim]
        for info in model.graph.value_info
    }


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("case", READERS, ids=lambda case: f"{case[1]}-{case[2]}")
def test_a_type_that_is_not_known_does_not_end_the_process(
    case: tuple[str, str, int, dict[str, Any]], strict: bool
) -> None:
    model = of_unknown_type(*case)
    inferred = infer_shapes(model, strict_mode=strict, data_prop=True)
    assert shapes(inferred)["b"] == [2, 3]
    assert [(n.op_type, n.domain) for n in inferred.graph.node] == [
        (n.op_type, n.domain) for n in model.graph.node
    ]
    assert inferred.opset_import == model.opset_import


def test_onnx_itself_still_ends_the_process() -> None:
    """The reason for the detour: where this fails, a newer onnx may do without."""
    raw = of_unknown_type(*READERS[0]).SerializeToString()
    code = (
        "import sys, onnx; raw = sys.stdin.buffer.read();"
        "onnx.shape_inference.infer_shapes(onnx.load_model_from_string(raw), strict_mode=True)"
    )
    ended = subprocess.run([sys.executable, "-c", code], input=raw, check=False)
    assert ended.returncode < 0


def test_batch_dims_below_zero_do_not_end_the_process() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[0,0,0,0] x, int64[0,0,0,0] i) => (float[2] y) {
            y = GatherND <batch_dims: int = -1> (x, i)
        }""")
    assert infer_shapes(model, data_prop=True).graph.node == model.graph.node


def test_a_type_found_on_the_way_is_used_in_every_scope() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[2,3] a, bool c) => (int64[m,n] y) {
            b = Relu (a)
            e = EyeLike <dtype: int = 7> (b)
            y = If (c) <
                then_branch = t () => (int64[p,q] u) {
                    r = Relu (b)
                    u = EyeLike <dtype: int = 7> (r)
                },
                else_branch = f () => (int64[p,q] v) { v = Identity (e) }
            >
        }""")
    inferred = infer_shapes(model, strict_mode=True)
    assert shapes(inferred)["e"] == [2, 3]
    then = inferred.graph.node[2].attribute[0].g
    assert [d.dim_value for d in then.output[0].type.tensor_type.shape.dim] == [2, 3]


@pytest.mark.parametrize(("attributes", "bins"), [({}, 9), ({"onesided": 0}, 16)])
def test_a_spectrum_has_one_side_by_default(attributes: dict[str, int], bins: int) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        g (float[2, 64, 1] x) => (float[2, M] y) <int64 step = {4}, int64 n = {16}>
        { s = STFT (x, step, "", n) y = Flatten (s) }"""
    )
    node = model.graph.node[0]
    node.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items())
    inferred = infer_shapes(model)
    assert shapes(inferred)["s"] == [2, 13, bins, 2]
    assert [a.name for a in inferred.graph.node[0].attribute] == list(attributes)


def of_text(text: str, **options: bool) -> onnx.ModelProto:
    return infer_shapes(
        onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 18]> {text}'), **options
    )


@pytest.mark.parametrize("to", [1, 2, 3, 4, 5, 6, 9, 10, 16])
def test_a_size_is_not_followed_through_a_cast_that_may_change_it(to: int) -> None:
    text = (
        f"g (float[300] x) => (float y) {{ s = Shape (x) a = Cast <to = {to}> (s) "
        "b = Cast <to = 7> (a) z = ConstantOfShape (b) y = ReduceSum <keepdims = 0> (z) }"
    )
    inferred = of_text(text, data_prop=True)
    assert shapes(inferred) == {"s": [1], "a": [1], "b": [1], "z": [0]}
    types = {info.name: info.type.tensor_type.elem_type for info in inferred.graph.value_info}
    assert (types["a"], types["b"]) == (to, TensorProto.INT64)
    assert [node.op_type for node in inferred.graph.node][:3] == ["Shape", "Cast", "Cast"]
    assert [len(node.attribute) for node in inferred.graph.node][:3] == [0, 1, 1]
    kept = of_text(text.replace(f"to = {to}", "to = 7"), data_prop=True)
    assert shapes(kept)["z"] == [300]


def test_sums_of_int32_are_not_computed_as_int64() -> None:
    text = (
        "g (float[5] x) => (float y) <int32[1] w = {70000}, int32[1] v = {70000}> { a = Mul (w, v) "
        "b = Cast <to = 7> (a) z = ConstantOfShape (b) y = ReduceSum <keepdims = 0> (z) }"
    )
    inferred = of_text(text, data_prop=True)
    assert shapes(inferred)["z"] == [0]
    assert inferred.graph.node[0].op_type == "Mul"


def test_a_value_that_a_caller_may_override_decides_no_size() -> None:
    text = (
        "g (float[6] x, int64[2] w) => (float y) <int64[2] w = {2, 3}> "
        "{ z = Reshape (x, w) y = ReduceSum <keepdims = 0> (z) }"
    )
    inferred = of_text(text)
    assert shapes(inferred) == {"z": [0, 0]}
    assert [tensor.name for tensor in inferred.graph.initializer] == ["w"]
    fixed = onnx.parser.parse_model(f'<ir_version: 3, opset_import: ["": 18]> {text}')
    assert shapes(infer_shapes(fixed)) == {"z": [2, 3]}
