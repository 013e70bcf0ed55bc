"""Whole models against each other, through the child process."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import onnx.external_data_helper
import pytest
from onnx import parser

from graphfix.errors import EngineFailed, InvalidModel, UsageError
from graphfix.proving import models
from graphfix.proving.models import compare_files, run_model
from graphfix.proving.whole.options import ComparisonOptions, ComparisonRequest
from graphfix.report import Verdict, Verification
from graphfix.worker.limits import ENGINE_MEMORY, ENGINE_SECONDS, Limits
from graphfix.worker.service import OutOfTime

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g'
RELU = "(float[N, 4] x) => (float[N, 4] y) { y = Relu(x) }"


def write(path: Path, text: str, head: str = HEAD) -> Path:
    path.write_bytes(parser.parse_model(head + text).SerializeToString())
    return path


def compare(
    tmp_path: Path, before: str, after: str, options: ComparisonOptions | None = None
) -> Verification:
    one = write(tmp_path / "before.onnx", before)
    return compare_files(one, write(tmp_path / "after.onnx", after), options)


def test_equal_models_are_equal(tmp_path: Path) -> None:
    found = compare(
        tmp_path, RELU, "(float[N, 4] x) => (float[N, 4] y) <float z = {0}> {y = Max(x, z)}"
    )
    assert found.status is Verdict.EQUAL
    assert found.outputs[0].name == "y"
    assert found.outputs[0].max_abs == 0.0
    assert found.method.startswith("onnxruntime")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (RELU, "(float[N, 4] x) => (float[N, 4] y) { y = LeakyRelu<alpha = 0.001>(x) }"),
        (RELU, "(float[N, 4] x) => (float[N, 4] y) { y = Abs(x) }"),
        (
            "(int64[N, 4] x) => (int64[N, 4] y) <int64 d = {3}> { y = Div(x, d) }",
            "(int64[N, 4] x) => (int64[N, 4] y) <float d = {3}> "
            "{ f = Cast<to = 1>(x) q = Div(f, d) r = Floor(q) y = Cast<to = 7>(r) }",
        ),
        (
            "(float[N, 6] x) => (int64[N, 1] y) { y = ArgMax<axis = 1>(x) }",
            "(float[N, 6] x) => (int64[N, 1] y) { y = ArgMax<axis = 1, select_last_index = 1>(x) }",
        ),
        (RELU, "(float[N, 4] x) => (float[N, 1] y) { y = ReduceMax<axes = [1]>(x) }"),
    ],
    ids=["small slope", "another operator", "rounding of negatives", "ties", "shape"],
)
def test_a_difference_is_found(tmp_path: Path, before: str, after: str) -> None:
    assert compare(tmp_path, before, after).status is Verdict.MISMATCH


def test_consent_makes_a_difference_of_numbers_lossy(tmp_path: Path) -> None:
    after = "(float[N, 4] x) => (float[N, 4] y) <float o = {0.01}> { r = Relu(x) y = Add(r, o) }"
    found = compare(tmp_path, RELU, after, ComparisonOptions(lossy=True))
    assert found.status is Verdict.LOSSY
    assert found.outputs[0].max_abs == pytest.approx(0.01, rel=1e-4)
    assert found.samples == 21
    largest = found.outputs[0].max_rel
    assert largest is not None
    assert found.expected_rel is not None
    assert largest <= found.expected_rel < 20 * largest
    assert "99 of 100 other inputs are expected to differ by less than" in found.reason
    wrong = "(float[N, 4] x) => (float[N, 1] y) { y = ReduceMax<axes = [1]>(x) }"
    found = compare(tmp_path, RELU, wrong, ComparisonOptions(lossy=True))
    assert found.status is Verdict.MISMATCH


def test_consent_does_not_cover_a_new_nan(tmp_path: Path) -> None:
    before = "(float[4] x) => (float[4] y) { a = Abs(x) y = Sqrt(a) }"
    after = "(float[4] x) => (float[4] y) { y = Sqrt(x) }"
    found = compare(tmp_path, before, after, ComparisonOptions(lossy=True))
    assert found.status is Verdict.MISMATCH
    assert "NaN or infinity differs" in found.reason


def test_the_interface_is_compared_first(tmp_path: Path) -> None:
    after = "(float[N, 4] z) => (float[N, 4] y) { y = Relu(z) }"
    found = compare(tmp_path, RELU, after)
    assert found.status is Verdict.MISMATCH
    assert found.reason == "input x is gone; input z is new"


def test_a_changed_input_dtype_is_fed_the_same_values(tmp_path: Path) -> None:
    before = "(uint8[2, 4] x) => (float[2, 4] y) { y = Cast<to = 1>(x) }"
    after = "(float[2, 4] x) => (float[2, 4] y) { y = Identity(x) }"
    found = compare(tmp_path, before, after)
    assert found.status is Verdict.EQUAL
    assert "input x: uint8 -> float32" in found.method


def test_a_fixed_dimension_of_the_result_is_respected(tmp_path: Path) -> None:
    after = "(float[7, 4] x) => (float[7, 4] y) { y = Relu(x) }"
    assert compare(tmp_path, RELU, after).status is Verdict.EQUAL


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "(float[2] x) => (float[2] y) {m = Neg(x) a = Abs(m) n = Neg(a) y = Relu(n)}",
            "same value",
        ),
        (
            "(float[2] x) => (float[2] y) {a = Abs(x) m = Exp(a) o = Neg(m) y = Sqrt(o)}",
            "NaN",
        ),
        ("(float[3, 4] x) => (int64[2, K] y) {z = Sub(x, x) y = NonZero(z)}", "empty"),
        (
            "(float[2, 3] x) => (float[2, 3] y) <float k = {1e30}> {t = Mul(x, k) y = Sigmoid(t)}",
            "saturated",
        ),
    ],
)
def test_an_output_that_says_nothing_is_inconclusive(
    tmp_path: Path, text: str, reason: str
) -> None:
    found = compare(tmp_path, text, text)
    assert found.status is Verdict.INCONCLUSIVE
    assert reason in found.reason


def test_an_output_of_constants_alone_is_compared_exactly(tmp_path: Path) -> None:
    text = "(float[2] x) => (float[2] y) <float[2] w = {1.5, %s}> { y = Neg(w) }"
    found = compare(tmp_path, text % 2, text % 2)
    assert found.status is Verdict.EQUAL
    assert "depends on an input" in found.reason
    assert compare(tmp_path, text % 2, text % 3).status is Verdict.MISMATCH


def test_a_comparison_without_power_is_inconclusive(tmp_path: Path) -> None:
    # The weight reaches the output times zero, and Round hides what 5% of anything would do.
    text = """(float[2, 3] x) => (float[2, 3] y) <float[3] w = {0.1, 0.2, 0.3}, float z = {0}>
    { a = Mul(w, z) b = Add(x, a) y = Round(b) }"""
    found = compare(tmp_path, text, text)
    assert found.status is Verdict.INCONCLUSIVE
    assert "no change of a constant or an input" in found.reason
    seen = text.replace("Round", "Neg")
    assert compare(tmp_path, seen, seen).status is Verdict.EQUAL


def test_infinite_constants_need_not_show_a_change(tmp_path: Path) -> None:
    # 5% more or less leave an infinite number as it is; inputs show that the outputs are compared.
    text = """(float[2, 3] x, bool[2, 3] c) => (float[2, 3] y)
    { w = Constant <value = float[3] {-1, -1, -1}> () y = Where(c, x, w) }"""
    path = tmp_path / "masked.onnx"
    model = parser.parse_model(HEAD + text)
    weights = np.full(3, -np.inf, np.float32)
    model.graph.node[0].attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(weights))
    path.write_bytes(model.SerializeToString())
    assert compare_files(path, path).status is Verdict.EQUAL


def test_what_has_few_inputs_is_compared_on_all_of_them(tmp_path: Path) -> None:
    # Where the condition is false, the original fails; where it is true, it gives a constant.
    before = """(bool[1] c) => (float[2, 2] y) <float[1, 2] w = {2, 4}>
    { r = If(c) <then_branch = t () => (float[2, 1] p)
                     {p = Constant <value = float[2, 1] {4, 3}> ()},
                 else_branch = e () => (float[2] q)
                     {q = Constant <value = float[2] {2, 4}> ()}>
      y = MatMul(r, w) }"""
    after = """(bool[1] c) => (float[2, 2] y) <float[1, 2] w = {2, 4}>
    { r = Constant <value = float[2, 1] {%s, 3}> () y = MatMul(r, w) }"""
    found = compare(tmp_path, before, after % 4)
    assert found.status is Verdict.EQUAL
    assert "every input with which the original runs" in found.reason
    assert "1 sample" in found.method
    assert compare(tmp_path, before, after % 5).status is Verdict.MISMATCH


def test_a_model_whose_branches_want_other_sizes_is_compared_on_both(tmp_path: Path) -> None:
    # Frames of 512 or of 256, and a state of the same batch whose dimension has no name.
    text = """(float[?, ?] x, float[?, 3] s, int64 rate) => (float[?, 3] y)
    <int64 high = {16000}, int64[2] big = {-1, 512}, int64[2] less = {-1, 256}, float[3] w = {%s}>
    { c = Equal(rate, high) n = Shape(s) one = Constant <value_ints = [1]> ()
      b = Slice(n, zero, one)
      z = If(c) <then_branch = t () => (float[?] p) {d = Constant <value_ints = [512]> ()
                    k = Concat <axis = 0> (b, d) m = Reshape(x, k)
                    p = ReduceSum <keepdims = 1> (m, one)},
                 else_branch = e () => (float[?] q) {f = Constant <value_ints = [256]> ()
                    l = Concat <axis = 0> (b, f) o = Reshape(x, l)
                    r = ReduceMax <axes = [1], keepdims = 1> (o) q = Neg(r)}>
      v = Mul(s, w) y = Add(v, z) }"""
    text = text.replace("float[3] w", "int64[1] zero = {0}, float[3] w")
    assert compare(tmp_path, text % "1, 2, 3", text % "1, 2, 3").status is Verdict.EQUAL
    one_side = (text % "1, 2, 3").replace("q = Neg(r)", "q = Abs(r)")
    assert compare(tmp_path, text % "1, 2, 3", one_side).status is Verdict.MISMATCH
    other_side = (text % "1, 2, 3").replace("ReduceSum", "ReduceMean")
    other_side = other_side.replace("keepdims = 1> (m, one)", "axes = [1], keepdims = 1> (m)")
    assert compare(tmp_path, text % "1, 2, 3", other_side).status is Verdict.MISMATCH


def test_random_operators_become_inputs_of_both(tmp_path: Path) -> None:
    text = """(float[3, 4] x) => (float[3, 4] y)
    { n = RandomNormalLike(x) s = %s(x, n) y = Relu(s) }"""
    assert compare(tmp_path, text % "Add", text % "Add").status is Verdict.EQUAL
    assert compare(tmp_path, text % "Add", text % "Sub").status is Verdict.MISMATCH
    renamed = (text % "Add").replace("n = R", "m = R").replace("x, n", "x, m")
    found = compare(tmp_path, text % "Add", renamed)
    assert found.status is Verdict.INCONCLUSIVE
    assert "n, drawn at random" in found.reason


def test_random_operators_and_the_users_inputs_go_together(tmp_path: Path) -> None:
    text = "(float[2, 3] x) => (float[2, 3] y) { n = RandomNormalLike(x) y = Add(x, n) }"
    inputs = tmp_path / "in.npz"
    np.savez(inputs, x=np.ones((2, 3), np.float32))
    found = compare(tmp_path, text, text, ComparisonOptions(inputs=inputs))
    assert found.status is Verdict.EQUAL
    assert "5 samples" in found.method


def test_what_a_random_operator_draws_from_is_compared_too(tmp_path: Path) -> None:
    text = "(float[3, 40] x) => (float[3, 40] y) { p = %s(x) d = Bernoulli(p) y = Neg(d) }"
    assert compare(tmp_path, text % "Sigmoid", text % "Sigmoid").status is Verdict.EQUAL
    found = compare(tmp_path, text % "Sigmoid", text % "HardSigmoid")
    assert found.status is Verdict.MISMATCH


def test_an_operator_that_no_engine_has_is_skipped_by_name(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]> g'
    before = write(tmp_path / "b.onnx", "(float[4] x) => (float[4] y) { y = my.Twirl(x) }", head)
    found = compare_files(before, before)
    assert found.status is Verdict.SKIPPED
    assert "Twirl" in found.reason
    after = write(tmp_path / "a.onnx", "(float[4] x) => (float[4] y) { y = Relu(x) }")
    found = compare_files(after, before)
    assert found.status is Verdict.INCONCLUSIVE
    assert "Twirl" in found.reason


def test_what_does_not_run_any_more_is_a_mismatch(tmp_path: Path) -> None:
    after = "(float[N, 4] x) => (float[N, 4] y) <int64[1] s = {7}> { y = Reshape(x, s) }"
    found = compare(tmp_path, RELU, after)
    assert found.status is Verdict.MISMATCH
    assert "fails where the original runs" in found.reason


def test_what_an_evaluator_has_not_implemented_is_not_shown_and_no_difference(
    tmp_path: Path,
) -> None:
    # onnxruntime rounds the size to 29 as it runs, and inference to 28 where it is known.
    text = """(float[1, 1, %s, 2] x, float[1, 1, 29, 2] z) => (float[1, 1, 29, 2] y)
    <float[4] s = {1, 1, 1.7058823, 1}> { u = Upsample <mode = "linear"> (x, s) y = Add (u, z) }"""
    head = '<ir_version: 4, opset_import: ["" : 9]> g'
    before = write(tmp_path / "before.onnx", text % "H", head)
    after = write(tmp_path / "after.onnx", text % "17", head)
    inputs = tmp_path / "in.npz"
    drawn = np.random.default_rng(0).random
    np.savez(
        inputs,
        x=drawn((1, 1, 17, 2), np.float32),
        z=drawn((1, 1, 29, 2), np.float32),
    )
    found = compare_files(before, after, ComparisonOptions(inputs=inputs))
    assert found.status is Verdict.INCONCLUSIVE
    assert "no engine has Upsample of the result: Not implemented for mode" in found.reason
    # The other way round it is the original that no one runs.
    found = compare_files(after, before, ComparisonOptions(inputs=inputs))
    assert (found.status, found.runs_never) == (Verdict.SKIPPED, False)
    assert "no engine has Upsample: Not implemented for mode" in found.reason


def test_sequences_are_compared_element_by_element(tmp_path: Path) -> None:
    text = """(float[2, 6] x) => (seq(float[2, 3]) y)
    <int64 k = {3}> { z = %s(x) y = SplitToSequence<axis = 1>(z, k) }"""
    assert compare(tmp_path, text % "Relu", text % "Relu").status is Verdict.EQUAL
    assert compare(tmp_path, text % "Relu", text % "Abs").status is Verdict.MISMATCH


def test_bfloat16_crosses_the_process(tmp_path: Path) -> None:
    text = """(bfloat16[3, 4] x) => (bfloat16[3, 4] y)
    { f = Cast<to = 1>(x) g = %s(f) y = Cast<to = 16>(g) }"""
    assert compare(tmp_path, text % "Relu", text % "Relu").status is Verdict.EQUAL
    assert compare(tmp_path, text % "Relu", text % "Abs").status is Verdict.MISMATCH


def test_the_users_inputs_are_used(tmp_path: Path) -> None:
    inputs = tmp_path / "in.npz"
    np.savez(inputs, x=np.abs(np.random.default_rng(0).normal(size=(3, 4))).astype(np.float32))
    after = "(float[N, 4] x) => (float[N, 4] y) { y = Identity(x) }"
    # Relu and Identity agree on positive inputs, and on no others.
    options = ComparisonOptions(inputs=inputs)
    assert compare(tmp_path, RELU, after, options).status is Verdict.EQUAL
    assert compare(tmp_path, RELU, after).status is Verdict.MISMATCH
    np.savez(inputs, z=np.zeros(3))
    with pytest.raises(UsageError, match="no input 'z'"):
        compare(tmp_path, RELU, after, options)


def test_time_and_memory_limits_are_inconclusive(tmp_path: Path) -> None:
    found = compare(tmp_path, RELU, RELU, ComparisonOptions(timeout=0.01))
    assert found.status is Verdict.INCONCLUSIVE
    assert "longer than 0.01 s" in found.reason
    large = """(float[1] x) => (float[100000, 10000] y)
    <int64[2] s = {100000, 10000}> { y = Expand(x, s) }"""
    found = compare(tmp_path, large, large, ComparisonOptions(memory_limit=2**28, samples=1))
    assert found.status is Verdict.INCONCLUSIVE
    assert found.reason == (
        "ran out of memory at Expand: it needs about 4.8 GiB; --max-memory 6GiB gives more"
    )


def test_a_small_file_gets_what_its_shapes_need_and_no_more_than_is_reasonable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENGINE_MEMORY, str(2**27))
    fixed = "(float[1024, 4096] x) => (float[1] y) { a = Relu(x) b = Exp(a) c = Add(a, b) %s }"
    before = fixed % "y = ReduceMean<axes = [0, 1], keepdims = 0>(c)"
    after = fixed % "d = Identity(c) y = ReduceMean<axes = [0, 1], keepdims = 0>(d)"
    found = compare(tmp_path, before, after)
    assert found.status is Verdict.EQUAL
    # A file may ask for anything: past 4 GiB it is given no more than others.
    hostile = (
        "(float[2, 1] x) => (float[2, 1] y) <int64[2] s = {2, 1000000000}> { e = Expand(x, s) %s }"
    )
    before, after = (hostile % f"z = {op}(e) y = ReduceMax<axes = [1]>(z)" for op in ("Exp", "Sin"))
    found = compare(tmp_path, before, after)
    assert found.status is Verdict.INCONCLUSIVE
    assert re.fullmatch(
        r"ran out of memory at Expand: it needs about 18\.\d GiB; --max-memory 20GiB gives more",
        found.reason,
    )


def test_what_runs_out_of_time_is_asked_once_more_with_the_smallest_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ComparisonRequest] = []
    spent = [OutOfTime("took longer than 3 s"), EngineFailed("ran out of memory at Conv 'c'")]

    def ask(task: str, _: Path, request: ComparisonRequest, __: Limits, kind: type) -> object:
        assert (task.rpartition(":")[2], kind) == ("compare", Verification)
        asked.append(request)
        if not request.options.smallest:
            raise spent[0]
        return Verification(Verdict.EQUAL)

    monkeypatch.setattr(models, "ask", ask)
    assert compare(tmp_path, RELU, RELU).status is Verdict.EQUAL
    assert [(r.options.smallest, r.options.samples) for r in asked] == [(False, 5), (True, 2)]
    spent.reverse()
    assert compare(tmp_path, RELU, RELU).status is Verdict.EQUAL
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("error", "small", "said"),
    [
        (
            EngineFailed("ran out of memory"),
            True,
            "ran out of memory; --max-memory 3GiB gives more",
        ),
        (OutOfTime("took longer than 3 s"), True, "took longer than 3 s; --timeout 120 gives more"),
        (OutOfTime("took longer than 3 s"), False, "took longer than 3 s"),
        (EngineFailed("cannot"), True, "cannot"),
    ],
)
def test_what_is_not_shown_for_a_limit_names_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: EngineFailed, small: bool, said: str
) -> None:
    if small:
        monkeypatch.setenv(ENGINE_MEMORY, str(5 << 28))
        monkeypatch.setenv(ENGINE_SECONDS, "12")

    def ask(*_: object) -> object:
        raise error

    monkeypatch.setattr(models, "ask", ask)
    found = compare(tmp_path, RELU, RELU)
    assert (found.status, found.reason) == (Verdict.INCONCLUSIVE, said)


def test_weights_that_do_not_fit_are_not_loaded(tmp_path: Path) -> None:
    built = parser.parse_model(HEAD + "(float[2] x) => (float[2] y) { y = Add(x, w) }")
    tensor = built.graph.initializer.add(name="w", data_type=1, dims=[2**30, 2])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "absent.data"
    path = tmp_path / "huge.onnx"
    path.write_bytes(built.SerializeToString())
    found = compare_files(path, path, ComparisonOptions(memory_limit=2**30))
    assert found.status is Verdict.SKIPPED
    assert found.reason == "needs 16.0 GiB, 1.0 GiB available"


def test_external_data_is_found(tmp_path: Path) -> None:
    text = """(float[3, 4] x) => (float[3, 2] y)
    <float[4, 2] w = {0.1, 0.2, -0.3, 0.4, 0.5, 0.6, 0.7, -0.8}> { y = MatMul(x, w) }"""
    inline = write(tmp_path / "inline.onnx", text)
    folder = tmp_path / "apart"
    folder.mkdir()
    apart = folder / "apart.onnx"
    model = onnx.ModelProto.FromString(inline.read_bytes())
    for tensor in model.graph.initializer:
        # Only raw bytes can move to another file.
        tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), "w"))
    onnx.external_data_helper.convert_model_to_external_data(model, True, "w.bin", 0)
    onnx.external_data_helper.write_external_data_tensors(model, str(folder))
    apart.write_bytes(model.SerializeToString())
    assert (folder / "w.bin").stat().st_size == 32
    assert compare_files(inline, apart).status is Verdict.EQUAL


def test_what_is_no_model_is_said(tmp_path: Path) -> None:
    path = tmp_path / "text.onnx"
    path.write_text("no model")
    with pytest.raises(InvalidModel):
        compare_files(path, path)


def test_a_model_runs_in_a_child(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", RELU)
    x = np.array([[1, -2, 3, -4]], np.float32)
    found = run_model(path, [{"x": x}, {"x": -x}])
    np.testing.assert_array_equal(found[0]["y"], [[1, 0, 3, 0]])
    np.testing.assert_array_equal(found[1]["y"], [[0, 2, 0, 4]])
    with pytest.raises(EngineFailed):
        run_model(path, [{"x": x[:, :2]}])
