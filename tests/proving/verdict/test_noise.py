"""Rounding errors move what is not round, and keep ties."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, parser

from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Value
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.verdict.noise import Noise, moved
from graphfix.proving.verdict.widening import widened_model

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g'


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_round_values_stay_and_others_move_by_one_unit(name: str) -> None:
    dtype = np.dtype(name)
    kept = np.array([0, 1, -2, 3.5, 0.25, np.inf, np.nan], dtype)
    np.testing.assert_array_equal(moved(kept, 1), kept)
    others = np.array([0.1, -0.7, 3.3, 1 / 3] * 8, dtype)
    after = moved(others, 1)
    gap = np.abs(after.astype(np.float64) - others.astype(np.float64))
    np.testing.assert_array_equal(gap, np.abs(np.spacing(others)).astype(np.float64))


def test_equal_values_stay_equal() -> None:
    values = np.array([0.1, 0.3, 0.1, 0.3], np.float32)
    after = moved(values, 5)
    assert after[0] == after[2]
    assert after[1] == after[3]


def judge(text: str) -> Judge:
    return Judge(RunnableModel(parser.parse_model(HEAD + text)))


SUMS = "<float w = {1.7}> { a = Mul (x, w) b = Exp (a) c = Exp (b) y = Sub (c, b) }"
ARGMAX = "(float[1, 3] x) => (int64[1, 1] y) { y = ArgMax<axis = 1>(x) }"


def test_a_tie_that_breaks_another_way_is_a_difference() -> None:
    x = np.array([[1.0, 1.0, 0.0]], np.float32)
    found = judge(ARGMAX)
    assert found.take({"x": x}, {"y": np.array([[0]])}, {"y": np.array([[1]])})
    assert list(found.broken) == ["y"]


def test_a_flip_that_rounding_explains_is_set_aside() -> None:
    low = np.float32(0.1)
    x = np.array([[low, np.nextafter(low, np.float32(1)), 0.0]], np.float32)
    found = judge(ARGMAX)
    assert not found.take({"x": x}, {"y": np.array([[1]])}, {"y": np.array([[0]])})
    assert found.unstable == 1
    assert not found.broken
    measured = Judge(RunnableModel(parser.parse_model(HEAD + ARGMAX)), lossy=True)
    assert measured.take({"x": x}, {"y": np.array([[1]])}, {"y": np.array([[0]])})
    assert (measured.unstable, list(measured.broken)) == (0, ["y"])


def test_a_flip_that_rounding_does_not_explain_is_a_difference() -> None:
    x = np.array([[0.1, 0.7, 0.3]], np.float32)
    found = judge(ARGMAX)
    assert found.take({"x": x}, {"y": np.array([[1]])}, {"y": np.array([[0]])})
    assert list(found.broken) == ["y"]


def test_the_optimiser_alone_explains_nothing() -> None:
    # It folds what is declared of t, which no longer fits the input.
    stale = judge(
        "(float[N, 3] x) => (float[2] u, int64[2] v) <float[2, 3] t> "
        "{ t = Relu(x) v = Shape(t) u = Cast<to = 1>(v) }"
    )
    x = np.array([[0.1, 0.7, 0.3]], np.float32)
    true, folded = np.array([1, 3]), np.array([2, 3])
    before: dict[str, Value] = {"u": true.astype(np.float32), "v": true}
    after: dict[str, Value] = {"u": folded.astype(np.float32), "v": folded}
    assert stale.take({"x": x}, before, after)
    assert sorted(stale.broken) == ["u", "v"]


def test_a_flipped_integer_excuses_no_other_than_was_near() -> None:
    low = np.float32(0.1)
    x = np.array([[low, np.nextafter(low, np.float32(1)), 0.0]], np.float32)
    found = judge(ARGMAX)
    assert found.take({"x": x}, {"y": np.array([[1]])}, {"y": np.array([[7]])})
    assert list(found.broken) == ["y"]


DFT = "(T[1, 20, 1] x) => (T[1, 20, 2] y) { y = DFT <axis = 1> (x) }"


@pytest.mark.parametrize(
    ("kind", "eps", "factor", "broken"),
    [
        ("float", 2.0**-23, 1.0, []),
        ("float", 2.0**-23, 1.0001, ["y"]),
        ("double", 2.0**-52, 1.0, []),
        ("double", 2.0**-52, 1 + 1e-12, ["y"]),
    ],
)
def test_what_an_operator_rounds_on_round_values_is_measured_elsewhere(
    kind: str, eps: float, factor: float, broken: list[str]
) -> None:
    text = DFT.replace("T[", f"{kind}[")
    dtype = np.float32 if kind == "float" else np.float64
    x = (np.arange(20) % 5 - 2).astype(dtype).reshape(1, 20, 1)
    before = RunnableModel(parser.parse_model(HEAD + text)).open().run({"x": x})["y"]
    assert isinstance(before, np.ndarray)
    exact = np.fft.fft(x[0, :, 0].astype(np.float64))
    after = (np.stack([exact.real, exact.imag], axis=-1)[None] * factor).astype(dtype)
    gap = float(np.abs(after.astype(np.float64) - before).max())
    assert gap > 8 * eps * np.abs(before).max(), "onnxruntime's transform is not that good"
    found = judge(text)
    assert found.take({"x": x}, {"y": before}, {"y": after})
    assert list(found.broken) == broken


def test_a_model_that_rounds_on_purpose_has_no_copy_in_float64() -> None:
    text = "(float[2] x) => (float[2] y) { h = Cast <to = 10> (x)  y = Cast <to = 1> (h) }"
    assert widened_model(parser.parse_model(HEAD + text)) is None
    plain = widened_model(parser.parse_model(HEAD + "(float[2] x) => (float[2] y) { y = Neg (x) }"))
    assert plain is not None
    assert plain.graph.input[0].type.tensor_type.elem_type == TensorProto.DOUBLE
    doubles = "(double[2] x) => (double[2] y) { y = Neg (x) }"
    assert widened_model(parser.parse_model(HEAD + doubles)) is None


FOREST = """<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]>
g (float[N, 1] x) => (seq(map(int64, float)) y) {
  label, scores = ai.onnx.ml.TreeEnsembleClassifier <
    nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0],
    nodes_values = [0.0, 0.0, 0.0], nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0], class_treeids = [0, 0],
    class_nodeids = [1, 2], class_ids = [0, 0], class_weights = [VOTE, -0.3],
    classlabels_int64s = [0, 1], post_transform = "LOGISTIC"> (x)
  y = ai.onnx.ml.ZipMap <classlabels_int64s = [0, 1]> (scores)
}"""


@pytest.mark.parametrize(("vote", "broken"), [(2.350002, []), (2.35005, ["y"])])
def test_a_vote_of_a_forest_that_is_another_differs_where_maps_are_read(
    vote: float, broken: list[str]
) -> None:
    x = np.array([[-1.0]], np.float32)
    models = [
        RunnableModel(parser.parse_model(FOREST.replace("VOTE", str(each))))
        for each in (2.35, vote)
    ]
    before, after = [model.open().run({"x": x}) for model in models]
    found = Judge(models[0])
    assert found.take({"x": x}, before, after)
    assert list(found.broken) == broken


def test_no_more_noise_is_measured_than_explains_a_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = RunnableModel(parser.parse_model(f"{HEAD} (float[3] x) => (float[3] y) {SUMS}"))
    x = np.array([0.1, 0.7, 0.3], np.float32)
    before = original.open().run({"x": x})
    noise = Noise(original).measures({"x": x}, before)
    gaps = [measured.floats["y"][""] for measured in noise]
    assert len(gaps) == 4  # three moved, and the optimised one
    assert gaps == sorted(gaps)
    assert gaps[0] > 0
    near = np.asarray(before["y"]) + np.float32(4 * gaps[0])
    far = np.asarray(before["y"]) + np.float32(100 * gaps[-1])

    def refuse(_: RunnableModel) -> Engine:
        raise NotImplementedError

    monkeypatch.setattr(RunnableModel, "open_optimised", refuse)
    found = Judge(original)
    assert found.take({"x": x}, before, {"y": near})
    assert found.noise_used
    assert not found.broken
    with pytest.raises(NotImplementedError):
        found.take({"x": x}, before, {"y": far})
