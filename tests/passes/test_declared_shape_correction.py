"""declared-shape-correction: what the graph proves, where the file declares something else."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, ValueInfoProto

import graphfix
from graphfix.report import IoChange, Status
from graphfix.testing import assert_untouched, outputs_of, run_pass
from tests.passes.shape_models import text

PASS = "declared-shape-correction"
X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


def dims(info: ValueInfoProto) -> list[int | str]:
    return [d.dim_value or d.dim_param or "?" for d in info.type.tensor_type.shape.dim]


def corrected(model: ModelProto) -> ModelProto:
    """Return the model with its declarations corrected, after asserting that nothing else moved."""
    done = run_pass(PASS, model)
    assert all(outcome.status is Status.APPLIED for outcome in done.outcomes)
    assert [n.op_type for n in done.after.graph.node] == [n.op_type for n in model.graph.node]
    again = run_pass(PASS, done.after)
    assert [outcome.status for outcome in again.outcomes] == [Status.NOT_NEEDED]
    return done.after


def choosing(flag: int, declared: str, x: str = "float[2,3]", other: str = "") -> ModelProto:
    """Return an If that flattens or does not, as PyTorch's exporter writes it."""
    kind = x.partition("[")[0]
    return text(
        f"g ({x} x, bool d) => ({declared} y) <bool c = {{{flag}}}, int64[1] flat = {{-1}}> "
        f"{{ y = If (c) <then_branch = t () => ({kind}[6] a) {{ a = Reshape (x, flat) }}, "
        f"else_branch = e () => ({other or f'{kind}[6]'} b) {{ b = Identity (x) }}> }}",
        17,
    )


def test_the_branch_that_runs_counts() -> None:
    model = choosing(0, "float[6]")
    after = corrected(model)
    assert dims(after.graph.output[0]) == [2, 3]
    subgraphs = {a.name: a.g for a in after.graph.node[0].attribute}
    assert dims(subgraphs["else_branch"].output[0]) == [2, 3]
    assert dims(subgraphs["then_branch"].output[0]) == [6]
    y = outputs_of(after, {"x": X, "d": np.array(True)})["y"]
    np.testing.assert_array_equal(y, X)


def test_the_other_branch_was_declared_rightly() -> None:
    assert_untouched(PASS, choosing(1, "float[6]"))
    after = corrected(choosing(1, "float[2,3]"))
    # ONNX's inference does not see constants from outside of a branch: the rank is all it proves.
    assert dims(after.graph.output[0]) == ["?"]


@pytest.mark.parametrize("kind", ["float", "float16", "double", "int64", "int32", "uint8", "bool"])
def test_every_type(kind: str) -> None:
    model = choosing(0, f"{kind}[7]", f"{kind}[2,3]")
    after = corrected(model)
    assert dims(after.graph.output[0]) == [2, 3]
    assert after.graph.output[0].type.tensor_type.elem_type == (
        model.graph.output[0].type.tensor_type.elem_type
    )


@pytest.mark.parametrize(
    ("x", "declared", "wanted"),
    [
        ("float[N,3]", "float[6]", ["N", 3]),
        ("float[N,3]", "float[M,4]", ["M", 3]),
        ("float[?,3]", "float[6]", ["?", 3]),
        ("float[2,3]", "float[M,4]", [2, 3]),
    ],
)
def test_dynamic_sizes(x: str, declared: str, wanted: list[int | str]) -> None:
    after = corrected(choosing(0, declared, x))
    assert dims(after.graph.output[0]) == wanted


def test_values_between_nodes() -> None:
    model = text(
        "g (float[2,3] x) => (float[3,2] y) <float[5] b, bool k = {1}> "
        "{ b = If (k) <then_branch = t () => (float[2,3] r) { r = Relu (x) }, "
        "else_branch = e () => (float[5] s) { s = Abs (x) }> c = Neg (b) y = Transpose (c) }",
        17,
    )
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 9
    after = corrected(model)
    assert dims(after.graph.output[0]) == [3, 2]
    assert dims(after.graph.value_info[0]) == [2, 3]


def test_an_if_inside_a_branch() -> None:
    inner = (
        "y1 = If (c) <then_branch = t () => (float[6] a) { a = Reshape (x, flat) }, "
        "else_branch = e () => (float[6] b) { b = Neg (x) }>"
    )
    model = text(
        "g (float[2,3] x, bool d) => (float[2,3] y) <bool c = {0}, int64[1] flat = {-1}> "
        f"{{ y = If (d) <then_branch = o () => (float[6] y1) {{ {inner} }}, "
        "else_branch = p () => (float[2,3] z) { z = Abs (x) }> }",
        17,
    )
    done = run_pass(PASS, model)
    outer = {a.name: a.g for a in done.after.graph.node[0].attribute}["then_branch"]
    assert dims(outer.output[0]) == [2, 3]
    for flag, wanted in ((True, -X), (False, np.abs(X))):
        y = outputs_of(done.after, {"x": X, "d": np.array(flag)})["y"]
        np.testing.assert_array_equal(y, wanted)


def scatter(declared: str) -> ModelProto:
    return text(
        f"g (float[3,5] x, int64[3,4] i, float[3,4] u) => ({declared} y) "
        '<bool c = {0}, int64[1] flat = {-1}> { s = ScatterElements <axis = 1, reduction = "max"> '
        f"(x, i, u) y = If (c) <then_branch = t () => ({declared} a) {{ a = Squeeze (s) }}, "
        f"else_branch = e () => ({declared} b) {{ b = Identity (s) }}> }}",
        17,
    )


def spectrum(attributes: str, bins: int, *, between: bool = False) -> ModelProto:
    """Return an STFT of 13 frames of 16, whose spectra are declared to have so many bins."""
    inner = f"<float[2, 13, {bins}, 2] s>" if between else ""
    out = "float[2, M] y" if between else f"float[2, 13, {bins}, 2] s"
    last = "y = Flatten (s)" if between else ""
    head = f"g (float[2, 64, 1] x) => ({out}) <int64 step = {{4}}, int64 n = {{16}}>"
    if inner:
        head = head[:-1] + f", {inner[1:]}"
    return text(f'{head} {{ s = STFT {attributes} (x, step, "", n) {last} }}', 17)


@pytest.mark.parametrize("between", [False, True])
def test_a_spectrum_has_one_side_by_default(between: bool) -> None:
    after = corrected(spectrum("", 16, between=between))
    infos = {info.name: info for info in (*after.graph.value_info, *after.graph.output)}
    assert dims(infos["s"]) == [2, 13, 9, 2]
    x = np.random.default_rng(0).standard_normal((2, 64, 1)).astype(np.float32)
    found = outputs_of(after, {"x": x})["y" if between else "s"]
    assert found.shape == ((2, 234) if between else (2, 13, 9, 2))


@pytest.mark.parametrize("verify", ["auto", "sites"])
def test_a_whole_run_says_what_was_wrong(verify: str) -> None:
    result: Any = graphfix.run(scatter("float[15]"), target="trt8", verify=verify)
    assert result.exit_code == 0
    assert result.report.io_changes == (IoChange("y", "float32[15]", "float32[3, 5]"),)
    assert not [f for f in result.report.findings_after if f.blocks]
    notes = [
        site.note
        for outcome in result.report.outcomes
        if outcome.pass_id == PASS
        for site in outcome.sites
    ]
    assert notes
    assert set(notes) == {"declared as float32[15], is float32[3, 5]"}
    proto = result.model.to_proto()
    onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]


def test_a_right_declaration_is_no_change() -> None:
    result: Any = graphfix.run(scatter("float[3,5]"), target="trt8", verify="off")
    assert result.exit_code == 0
    assert result.report.io_changes == ()


@pytest.mark.parametrize(
    ("length", "kept"), [("int64 n = {1}", False), ("int64[3] n = {1, 1, 1}", True)]
)
def test_single_elements_lose_their_axis_as_in_onnxruntime(length: str, kept: bool) -> None:
    model = text(
        f"g (float[2,3] x) => (float[D, 1] y) <{length}, int64 i = {{1}}> "
        "{ s = SplitToSequence <axis = 1, keepdims = 0> (x, n) y = SequenceAt (s, i) }",
        17,
    )
    if kept:
        assert_untouched(PASS, model)
        return
    after = corrected(model)
    assert dims(after.graph.output[0]) == [2]
    assert outputs_of(after, {"x": X})["y"].tolist() == [2, -5]


def test_scripted_unbind_of_pytorch_is_rewritten() -> None:
    model = text(
        "g (float[N,3] x) => (float[D, 1] y, float[E, F, 1] z) <int64 n = {1}, int64 i = {-1}> "
        "{ s = SplitToSequence <axis = 1, keepdims = 0> (x, n) y = SequenceAt (s, i) "
        "z = ConcatFromSequence <axis = 0, new_axis = 1> (s) }",
        17,
    )
    result = graphfix.run(model, "trt8.6", verify="full")
    assert result.exit_code == 0
    assert [n.op_type for n in result.model.to_proto().graph.node] == ["Gather", "Transpose"]
    found = outputs_of(result.model.to_proto(), {"x": X})
    assert found["y"].tolist() == [-3, 6]
    assert found["z"].tolist() == X.T.tolist()
