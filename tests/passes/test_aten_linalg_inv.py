from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, parser

from graphfix.report import APPROXIMATE, Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_linalg_inv import evaluate
from tests.passes.aten_models import LAYOUTS, Array, Output, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-linalg-inv"
CLOSE: dict[str, Any] = {"rtol": 2e-4, "atol": 2e-5}


def solid(*shape: int, dtype: Any = np.float32, seed: int = 5) -> Array:
    """Return matrices of condition 20 at most, whose rows are shuffled."""
    rng = np.random.default_rng(seed)
    size = shape[-1]
    left = np.linalg.qr(rng.standard_normal(shape))[0]
    right = np.linalg.qr(rng.standard_normal(shape))[0]
    return np.asarray(left * np.linspace(0.1, 2.0, size) @ right, dtype=dtype)


def inverse_of(x: Array) -> Array:
    return np.linalg.inv(x.astype(np.float64)).astype(x.dtype)


@pytest.mark.parametrize("opset", [7, 8, 9, 10, 11, 12, 13, 17, 18, 21])
@pytest.mark.parametrize("unrolled", [0, 8])
def test_every_opset(opset: int, unrolled: int) -> None:
    x = solid(2, 4, 4)
    model = aten_model("linalg_inv", [2, 4, 4], opset=opset)
    options = {"max_unrolled": unrolled}
    done = becomes(PASS, model, {"x": x}, inverse_of(x), options=options, **CLOSE)
    assert ("Loop" in done.ops) == (unrolled == 0)


@pytest.mark.parametrize("operator", ["linalg_inv", "inverse", "linalg_inv_ex"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(operator: str, layout: str) -> None:
    x = solid(3, 3)
    model = aten_model(operator, [3, 3], layout=layout)
    becomes(PASS, model, {"x": x}, inverse_of(x), **CLOSE)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 9, 20])
@pytest.mark.parametrize("opset", [9, 13])
def test_sizes_up_to_the_option_are_unrolled(size: int, opset: int) -> None:
    x = solid(3, size, size)
    model = aten_model("linalg_inv", ["B", size, size], opset=opset)
    done = becomes(PASS, model, {"x": x}, inverse_of(x), **CLOSE)
    assert ("Loop" in done.ops) == (size > 8)
    assert len(done.ops) <= 22 * size + 6 if size <= 8 else len(done.ops) < 20


@pytest.mark.parametrize(
    "shape",
    [["B", "N", "N"], ["B", "C", "N", "N"], [None, None, None], ["N", "N"], ["N", 3], [2, "N", 3]],
)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_dynamic_shapes(shape: list[int | str | None], opset: int) -> None:
    model = aten_model("linalg_inv", shape, opset=opset)
    done = run_pass(PASS, model)
    assert done.with_status(Status.APPLIED), done.outcomes
    for size in (3,) if 3 in shape else (1, 2, 7, 12):
        x = solid(*(2, 2, size, size)[4 - len(shape) :])
        given = outputs_of(done.after, {"x": x})["y"]
        np.testing.assert_allclose(given, inverse_of(x), **CLOSE)


@pytest.mark.parametrize("unrolled", [0, 8])
def test_as_accurate_as_elimination_in_the_type(unrolled: int) -> None:
    rng = np.random.default_rng(1)
    cases = {
        "random": rng.standard_normal((200, 4, 4)),
        "condition 1e4": (
            np.linalg.qr(rng.standard_normal((200, 4, 4)))[0]
            * np.logspace(0, -4, 4)
            @ np.linalg.qr(rng.standard_normal((200, 4, 4)))[0]
        ),
        "zero diagonal": rng.standard_normal((200, 4, 4)) * (1 - np.eye(4)),
        "rows of any size": rng.standard_normal((200, 4, 4)) * np.logspace(-3, 3, 4)[:, None],
    }
    model = aten_model("linalg_inv", ["B", 4, 4])
    after = run_pass(PASS, model, options={"max_unrolled": unrolled}).after
    for name, values in cases.items():
        x = values.astype(np.float32)
        exact = np.linalg.inv(x.astype(np.float64))

        def error(found: Array, exact: Array = exact) -> Array:
            away = np.abs(found - exact).max(axis=(1, 2))
            return np.asarray(away / np.abs(exact).max(axis=(1, 2)))

        ours = error(outputs_of(after, {"x": x})["y"])
        # elimination in float32 with back substitution, as LAPACK does it
        theirs = error(evaluate([x], {})[0])
        for share in (0.5, 0.9, 1.0):
            assert np.quantile(ours, share) <= 4 * np.quantile(theirs, share) + 1e-7, name


def test_permutations_are_inverted_without_error() -> None:
    rng = np.random.default_rng(2)
    x = np.stack([np.eye(6, dtype=np.float32)[rng.permutation(6)] * 2 for _ in range(20)])
    model = aten_model("inverse", [20, 6, 6], layout="default", opset=9)
    becomes(PASS, model, {"x": x}, np.ascontiguousarray(x.transpose(0, 2, 1)) / 4)


@pytest.mark.parametrize("unrolled", [0, 8])
def test_a_singular_matrix_is_not_finite_and_harms_no_other(unrolled: int) -> None:
    x = solid(4, 3, 3)
    x[1] = 0
    x[2, :, 2] = 0
    x[3, 0, 0] = np.nan
    model = aten_model("linalg_inv", ["B", 3, 3])
    after = run_pass(PASS, model, options={"max_unrolled": unrolled}).after
    y = outputs_of(after, {"x": x})["y"]
    np.testing.assert_allclose(y[0], inverse_of(x[0]), **CLOSE)
    for place in (1, 2, 3):
        assert not np.isfinite(y[place]).all()


@pytest.mark.parametrize(
    ("kind", "dtype", "rtol"),
    [(TensorProto.DOUBLE, np.float64, 1e-11), (TensorProto.FLOAT16, np.float16, 2e-3)],
)
@pytest.mark.parametrize("opset", [9, 13, 18])
def test_other_types(kind: int, dtype: Any, rtol: float, opset: int) -> None:
    x = solid(2, 3, 3, dtype=dtype)
    for unrolled in (0, 8):
        model = aten_model("linalg_inv", [2, 3, 3], dtype=kind, opset=opset)
        options = {"max_unrolled": unrolled}
        becomes(PASS, model, {"x": x}, inverse_of(x), options=options, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("unrolled", [0, 8])
def test_in_a_branch(unrolled: int) -> None:
    x = solid(2, 3, 3)
    model = in_branch(aten_model("linalg_inv", ["B", 3, 3], opset=13))
    done = run_pass(PASS, model, options={"max_unrolled": unrolled})
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    for choice in (True, False):
        y = outputs_of(done.after, {"x": x, "c": np.array(choice)})["y"]
        np.testing.assert_allclose(y, inverse_of(x), **CLOSE)


def test_in_a_local_function() -> None:
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 13, "mine" : 1]>
        g (float[2, 3, 3] x) => (float[2, 3, 3] y) { y = mine.f (x) }
        <domain: "mine", opset_import: ["" : 13, "org.pytorch.aten" : 1]>
        f (a) => (b) { b = org.pytorch.aten.ATen <operator = "linalg_inv"> (a) }"""
    )
    done = run_pass(PASS, model)
    assert done.with_status(Status.APPLIED), done.outcomes
    x = solid(2, 3, 3)
    np.testing.assert_allclose(outputs_of(done.after, {"x": x})["y"], inverse_of(x), **CLOSE)


def test_against_the_numpy_model() -> None:
    model = aten_model("linalg_inv", [2, 3, 3])
    assert_rewrite(
        PASS,
        model,
        feeds=[{"x": solid(2, 3, 3)}],
        evaluators={("org.pytorch.aten", "ATen.linalg_inv"): evaluate},
        **CLOSE,
    )


def test_types_after_the_inverse_are_known() -> None:
    model = aten_model("linalg_inv", ["B", 3, 3])
    model.graph.node.append(helper.make_node("Relu", ["y"], ["z"]))
    model.graph.output[0].name = "z"
    x = solid(2, 3, 3)
    becomes(PASS, model, {"x": x}, np.maximum(inverse_of(x), 0), **CLOSE)


def test_numpy_model_raises_on_singular_matrices() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        evaluate([np.zeros((2, 2), dtype=np.float32)], {})


def _ex(used: int, shape: Sequence[int | str] = (2, 3, 3)) -> ModelProto:
    outputs: dict[str, Output] = {"y": (None, None), "info": (TensorProto.INT32, 1)}
    return aten_model("linalg_inv_ex", shape, [np.array(False)], outputs=outputs, used=used)


@pytest.mark.parametrize("shape", [[3, 3, 3], ["B", "N", "N"]])
def test_the_first_pivot_that_is_0_is_reported(shape: list[Any]) -> None:
    x = np.stack([solid(3, 3), np.zeros((3, 3)), np.ones((3, 3))]).astype(np.float32)
    done = run_pass(PASS, _ex(2, shape))
    (site,) = [site for outcome in done.outcomes for site in outcome.sites]
    assert site.accuracy == APPROXIMATE
    given_back = outputs_of(done.after, {"x": x})
    assert given_back["info"].tolist() == [0, 1, 2]  # as torch.linalg.inv_ex
    np.testing.assert_allclose(given_back["y"][0], inverse_of(x[0]), **CLOSE)


@pytest.mark.parametrize("shape", [[0, 0], [2, 0, 0], ["N", "N"]])
def test_nothing_is_the_inverse_of_nothing(shape: list[Any]) -> None:
    x = np.zeros((2, 0, 0)[-len(shape) :], np.float32)
    given_back = outputs_of(run_pass(PASS, _ex(2, shape)).after, {"x": x})
    assert given_back["y"].shape == x.shape
    assert given_back["info"].tolist() == np.zeros(x.shape[:-2]).tolist()


@given(
    size=st.integers(1, 6),
    batch=st.integers(1, 3),
    opset=st.sampled_from([7, 9, 11, 13, 17, 18, 20]),
    unrolled=st.sampled_from([0, 3, 8]),
    dynamic=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_matrix(
    size: int, batch: int, opset: int, unrolled: int, dynamic: bool, seed: int
) -> None:
    x = solid(batch, size, size, seed=seed)
    model = aten_model("linalg_inv", ["B" if dynamic else batch, size, size], opset=opset)
    options = {"max_unrolled": unrolled}
    becomes(PASS, model, {"x": x}, inverse_of(x), options=options, **CLOSE)


def test_random_matrices_times_their_inverse() -> None:
    x = array_of(50, 3, 3, dtype=np.float64)
    after = run_pass(PASS, aten_model("linalg_inv", ["B", 3, 3], dtype=TensorProto.DOUBLE)).after
    y = outputs_of(after, {"x": x})["y"]
    np.testing.assert_allclose(x @ y, np.broadcast_to(np.eye(3), x.shape), atol=1e-10)
