"""Reducing: few nodes, small sizes, plain weights, in few runs, and always a valid model."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import graphfix
from graphfix import InvalidModel, UsageError
from graphfix.reduction.command import Command
from graphfix.reduction.search import first_place, shortened
from tests.reduction.long_models import checked, long_model, looking_for

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'


def holds(*texts: str) -> Callable[[Path], bool]:
    """Return a question that a model answers with yes if its file holds all of these."""

    def fails(path: Path) -> bool:
        raw = checked(path).SerializeToString()
        return all(text.encode() in raw for text in texts)

    return fails


def read(path: Path) -> ModelProto:
    return ModelProto.FromString(path.read_bytes())


def ops(model: graphfix.Model) -> list[str]:
    return [node.op_type for node in model.to_proto().graph.node]


def test_a_thousand_nodes_become_one(tmp_path: Path) -> None:
    model = long_model(1000, {617: "Erf"})
    found = graphfix.reduce(model, looking_for("Erf", tmp_path))
    assert (found.before.nodes, found.after.nodes) == (1000, 1)
    assert found.runs <= 40
    assert found.complete
    assert found.failure == "exit code 3"
    assert found.output == "it cannot do Erf"
    assert found.notes == ()
    proto = found.model.to_proto()
    checked(proto)
    assert [node.name for node in proto.graph.node] == ["n617"]
    assert len(proto.graph.input) == len(proto.graph.output) == 1
    assert [dim.dim_value for dim in proto.graph.input[0].type.tensor_type.shape.dim] == [1, 1]
    assert len(model.graph.node) == 1000, "the model given is not changed"


@pytest.mark.parametrize("place", [0, 999])
def test_at_the_ends(place: int) -> None:
    found = graphfix.reduce(long_model(1000, {place: "Erf"}), holds("Erf"))
    assert ops(found.model) == ["Erf"]
    assert found.runs <= 40


def test_two_nodes_far_apart() -> None:
    found = graphfix.reduce(long_model(1000, {100: "Erf", 900: "Softplus"}), holds("Erf", "Softp"))
    assert sorted(ops(found.model)) == ["Erf", "Softplus"]
    assert found.runs <= 100


def test_nodes_that_must_follow_each_other() -> None:
    text = (
        f"{HEAD} g (float[2,3] x) => (float[2,3] y) "
        "{ a = Abs(x) b = Exp(a) c = Neg(b) d = Relu(c) y = Tanh(d) }"
    )

    def fails(path: Path) -> bool:
        graph = read(path).graph
        makers = {name: node.op_type for node in graph.node for name in node.output}
        return any(n.op_type == "Relu" and makers.get(n.input[0]) == "Neg" for n in graph.node)

    found = graphfix.reduce(onnx.parser.parse_model(text), fails)
    assert ops(found.model) == ["Neg", "Relu"]


def test_what_only_the_checker_refuses_is_never_asked() -> None:
    asked: list[ModelProto] = []

    def fails(path: Path) -> bool:
        proto = checked(path)
        asked.append(proto)
        return "Erf" in [node.op_type for node in proto.graph.node]

    model = long_model(60, {30: "Erf"})
    graphfix.reduce(model, fails)
    for proto in asked:
        checked(proto)
    assert len(asked) == len({proto.SerializeToString() for proto in asked}), "asked only once"


# A type that inference does not know: after cutting there is no valid input.
FOREIGN = (
    '<ir_version: 8, opset_import: ["" : 17, "own" : 1]> g (float[2,3] x) => (float[2,3] y) '
    "{ a = Abs(x) b = own.Odd(a) c = Softplus(b) y = Tanh(c) }"
)


def test_an_invalid_part_is_tried_where_allowed() -> None:
    model = onnx.parser.parse_model(FOREIGN)

    def fails(path: Path) -> bool:
        return b"Softplus" in path.read_bytes()

    strict = graphfix.reduce(model, fails)
    assert ops(strict.model) == ["Odd", "Softplus", "Tanh"]
    free = graphfix.reduce(model, fails, allow_invalid=True)
    assert ops(free.model) == ["Softplus"]


def test_a_model_that_is_invalid_already() -> None:
    model = onnx.parser.parse_model(
        f"{HEAD} g (float[2,3] x) => (float[2,3] y) {{ a = Abs(x) b = Odd(a) y = Tanh(b) }}"
    )
    found = graphfix.reduce(model, lambda path: b"Odd" in path.read_bytes())
    assert ops(found.model) == ["Odd"]
    assert any("the ONNX checker complains of the model itself" in note for note in found.notes)


def test_the_body_of_a_branch_is_taken_out() -> None:
    text = (
        f"{HEAD} g (float[2,3] x, bool c) => (float[2,3] y) {{ a = Abs(x) "
        "b = If(c) <then_branch = t () => (float[2,3] p) { k = Neg(a) q = Erf(k) p = Add(q, x) }, "
        "else_branch = e () => (float[2,3] r) { r = Exp(a) }> y = Tanh(b) }"
    )
    found = graphfix.reduce(onnx.parser.parse_model(text), holds("Erf"))
    assert ops(found.model) == ["Erf"]
    assert found.before.nodes == 7
    kept = graphfix.reduce(onnx.parser.parse_model(text), holds("Erf", "then_branch"))
    assert ops(kept.model) == ["If"], "what fails only inside stays whole"


LOOP = (
    f"{HEAD} g (float[2,3] x, int64 n) => (float[2,3] y) <bool yes = {{1}}> {{ a = Abs(x) "
    "b, c = Loop(n, yes, a) <body = t (int64 i, bool go, float[2,3] s) "
    "=> (bool on, float[2,3] r, float[2,3] q) { on = Identity(go) k = Neg(s) e = Erf(k) "
    "r = Add(e, s) q = Sub(k, e) }> m = ReduceMax<keepdims = 0>(c) y = Mul(b, m) }"
)


def test_the_body_of_a_loop_is_taken_out() -> None:
    found = graphfix.reduce(onnx.parser.parse_model(LOOP), holds("Erf"))
    assert ops(found.model) == ["Erf"]


def test_a_body_that_must_stay_loses_nodes() -> None:
    def fails(path: Path) -> bool:
        loops = [node for node in checked(path).graph.node if node.op_type == "Loop"]
        return any("Erf" in [n.op_type for n in a.g.node] for n in loops for a in n.attribute)

    found = graphfix.reduce(onnx.parser.parse_model(LOOP), fails)
    proto = found.model.to_proto()
    assert ops(found.model) == ["Loop"]
    inner = [node.op_type for node in proto.graph.node[0].attribute[0].g.node]
    assert sorted(inner) == ["Erf", "Identity", "Identity", "Identity"]
    assert found.after.nodes < found.before.nodes


# Inference knows no rank of `b`, whose branches differ in it; running the model does.
UNRANKED = (
    f"{HEAD} g (float[4,3] x) => (float[4,3] y) <int64[1] at = {{0}}, bool yes = {{0}}> {{ "
    "a = Abs(x) b = If(yes) <then_branch = t () => (float[12] p) { p = Flat(a) }, "
    "else_branch = e () => (float[4,3] r) { r = Exp(a) }> c = Erf(b) d = Softplus(c) y = Tanh(d) }"
).replace("Flat(a)", "Reshape(a, long)")


def test_types_that_inference_does_not_know_are_measured() -> None:
    model = onnx.parser.parse_model(UNRANKED)
    model.graph.initializer.append(numpy_helper.from_array(np.array([-1]), "long"))
    found = graphfix.reduce(model, holds("Softplus"))
    proto = found.model.to_proto()
    assert ops(found.model) == ["Softplus"]
    assert len(proto.graph.input[0].type.tensor_type.shape.dim) == 2


def test_functions_are_inlined_and_constants_stored() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "own" : 1]> '
        "g (float[2,3] x) => (float[2,3] y) { a = own.twice(x) y = Neg(a) } "
        '<domain: "own", opset_import: ["" : 17]> twice (v) => (w) '
        "{ c = Constant<value_float: float = 2.0>() e = Erf(v) w = Mul(e, c) }"
    )
    found = graphfix.reduce(onnx.parser.parse_model(text), holds("Erf"))
    assert ops(found.model) == ["Erf"]
    assert not found.model.to_proto().functions
    kept = graphfix.reduce(onnx.parser.parse_model(text), holds("twice", "Erf"))
    assert ops(kept.model) == ["twice"]


def convolution() -> ModelProto:
    values = np.random.default_rng(0).standard_normal((64, 48, 3, 3)).astype(np.float32)
    model = onnx.parser.parse_model(
        f"{HEAD} g (float[2,48,56,40] x) => (float[2,64,56,40] y) "
        "{ a = Abs(x) y = Conv<kernel_shape = [3,3], pads = [1,1,1,1]>(a, w) }"
    )
    model.graph.initializer.append(numpy_helper.from_array(values, "w"))
    return model


def test_sizes_shrink_together_and_weights_become_plain() -> None:
    found = graphfix.reduce(convolution(), holds("Conv"))
    proto = found.model.to_proto()
    checked(proto)
    assert ops(found.model) == ["Conv"]
    assert [dim.dim_value for dim in proto.graph.input[0].type.tensor_type.shape.dim] == [1] * 4
    assert list(proto.graph.initializer[0].dims) == [1, 1, 3, 3]
    assert (numpy_helper.to_array(proto.graph.initializer[0]) == 0).all()
    assert (found.before.weights, found.after.weights) == (64 * 48 * 9 * 4, 36)


def test_a_size_that_matters_stays() -> None:
    def fails(path: Path) -> bool:
        graph = read(path).graph
        dims = [d.dim_value for i in graph.input for d in i.type.tensor_type.shape.dim]
        return 48 in dims and "Conv" in [node.op_type for node in graph.node]

    proto = graphfix.reduce(convolution(), fails).model.to_proto()
    shape = [dim.dim_value for dim in proto.graph.input[0].type.tensor_type.shape.dim]
    assert shape == [1, 48, 1, 1]
    assert list(proto.graph.initializer[0].dims) == [1, 48, 3, 3]


def test_a_weight_that_matters_stays() -> None:
    model = onnx.parser.parse_model(
        f"{HEAD} g (float[2,3] x) => (float[2,3] y) {{ a = Add(x, u) y = Mul(a, v) }}"
    )
    for name, value in (("u", 0.123456), ("v", 7.654321)):
        values = np.full((2, 3), value, np.float32)
        model.graph.initializer.append(numpy_helper.from_array(values, name))

    def fails(path: Path) -> bool:
        held = {t.name: numpy_helper.to_array(t) for t in read(path).graph.initializer}
        return "u" in held and "v" in held and bool((held["v"] > 5).all())

    held = {
        t.name: numpy_helper.to_array(t)
        for t in graphfix.reduce(model, fails).model.to_proto().graph.initializer
    }
    assert held["u"].reshape(-1).tolist() == [0]
    assert held["v"].reshape(-1).tolist() == [8]


def test_external_data_comes_into_the_file(tmp_path: Path) -> None:
    model = convolution()
    tensor = model.graph.initializer[0]
    (tmp_path / "w.bin").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    path = tmp_path / "conv.onnx"
    path.write_bytes(model.SerializeToString())
    found = graphfix.reduce(path, lambda file: b"Conv" in file.read_bytes())
    held = found.model.to_proto().graph.initializer[0]
    assert held.data_location == TensorProto.DEFAULT
    assert list(held.dims) == [1, 1, 3, 3]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["conv.onnx", "w.bin"]


def test_a_real_failure_of_an_engine(tmp_path: Path) -> None:
    # Sin takes bfloat16 from opset 22 on, and onnxruntime says so when it loads the model.
    model = long_model(80, {})
    for at, node in enumerate(
        (
            helper.make_node("Cast", ["t40"], ["low"], "down", to=TensorProto.BFLOAT16),
            helper.make_node("Sin", ["low"], ["sin"], "sin"),
            helper.make_node("Cast", ["sin"], ["high"], "up", to=TensorProto.FLOAT),
        )
    ):
        model.graph.node.insert(41 + at, node)
    model.graph.output.append(helper.make_tensor_value_info("high", 1, [8, 4]))
    script = tmp_path / "load.py"
    script.write_text(
        "import sys, onnxruntime as ort\n"
        "ort.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])\n",
        encoding="utf-8",
    )
    found = graphfix.reduce(model, f"'{sys.executable}' '{script}' {{}}", match="of operator (Sin)")
    assert "Sin" in ops(found.model)
    assert found.after.nodes == 1
    assert "Type 'tensor(bfloat16)' of input parameter" in found.output
    assert found.runs <= 40


def test_the_runs_are_bounded() -> None:
    found = graphfix.reduce(long_model(300, {150: "Erf"}), holds("Erf"), max_runs=6)
    assert (found.runs, found.complete) == (6, False)
    assert 1 < found.after.nodes < 300
    assert found.notes == ("stopped after 6 runs: there may be more to take away",)


def test_a_command_that_fails_on_everything_is_reported(tmp_path: Path) -> None:
    found = graphfix.reduce(long_model(50, {}), looking_for("g", tmp_path).replace(" g", " ''"))
    assert found.after.nodes == 1
    assert [note[:44] for note in found.notes] == ["a model that only copies its input fails in "]


def test_kinds_of_ends(tmp_path: Path) -> None:
    script = tmp_path / "ends.py"
    script.write_text(
        "import os, signal, sys, time\n"
        "assert os.path.isfile(sys.argv[1])\n"
        "if sys.argv[2] == 'kill': os.kill(os.getpid(), signal.SIGSEGV)\n"
        "if sys.argv[2] == 'wait': time.sleep(60)\n"
        "sys.exit(int(sys.argv[2]))\n",
        encoding="utf-8",
    )
    line = f"'{sys.executable}' -I -S '{script}' "
    model = tmp_path / "with space.onnx"
    model.write_bytes(b"")
    assert Command(f"{line} {{}} 0", 60).run(model).failed is False
    end = Command(f"{line} {{}} 7", 60).run(model)
    assert (end.failed, end.code, end.kind) == (True, 7, "exit code 7")
    end = Command(f"{line} {{}} kill", 60).run(model)
    assert (end.code, end.kind) == (-signal.SIGSEGV, "killed by SIGSEGV")
    end = Command(f"{line} {{}} wait", 0.5).run(model)
    assert (end.failed, end.code, end.kind) == (True, None, "took too long")
    end = Command("echo path={} '$HOME' ; *", 60).run(model)
    assert end.output == f"path={model} $HOME ; *\n", "there is no shell"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("trtexec model.onnx", "has no {}"),
        ("", "has no {}"),
        ("trtexec '{}", "cannot be split into words: no closing quotation"),
        ("there-is-no-such-thing {}", "there is no such command"),
        ("/tmp {}", "cannot be started"),
    ],
)
def test_commands_that_are_none(line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        graphfix.reduce(long_model(5, {}), line)
    assert caught.value.where == "--fails"


def test_what_does_not_fail(tmp_path: Path) -> None:
    model = long_model(5, {})
    with pytest.raises(InvalidModel, match="does not fail on the model: it ends with exit code 0"):
        graphfix.reduce(model, "true {}")
    with pytest.raises(InvalidModel, match="does not say 'nonsense'"):
        graphfix.reduce(model, "false {}", match="nonsense")
    with pytest.raises(InvalidModel, match="the function does not fail"):
        graphfix.reduce(model, lambda _path: False)
    asked: list[Path] = []

    def once(path: Path) -> bool:
        asked.append(path)
        return len(asked) == 1

    with pytest.raises(InvalidModel, match="but not on the same model written again"):
        graphfix.reduce(model, once)
    with pytest.raises(UsageError, match="0 is not more than zero"):
        graphfix.reduce(model, "false {}", max_runs=0)


def test_the_searches() -> None:
    asked: list[int] = []

    def probe(place: int) -> bool | None:
        asked.append(place)
        return None if place % 10 else place >= 620

    assert first_place(0, 1000, probe) == 620
    assert len(asked) < 100
    assert first_place(0, 1, probe) == 1
    left = shortened(list(range(200)), lambda some: {3, 77, 78, 190} <= set(some))
    assert left == [3, 77, 78, 190]
    assert shortened([5], lambda some: True) == []


def test_a_depthwise_convolution_keeps_its_groups() -> None:
    model = onnx.parser.parse_model(
        f"{HEAD} g (float[2,48,20,20] x) => (float[2,48,20,20] y) "
        "{ y = Conv<group = 48, kernel_shape = [3,3], pads = [1,1,1,1]>(x, w) }"
    )
    values = np.ones((48, 1, 3, 3), np.float32)
    model.graph.initializer.append(numpy_helper.from_array(values, "w"))
    proto = graphfix.reduce(model, holds("Conv")).model.to_proto()
    group = next(a.i for a in proto.graph.node[0].attribute if a.name == "group")
    assert (group, list(proto.graph.initializer[0].dims)) == (1, [1, 1, 3, 3])
