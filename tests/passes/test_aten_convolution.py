"""aten-convolution: Conv and ConvTranspose."""

from typing import Any

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from graphfix.testing import assert_refused, run_pass
from passes.aten.aten_convolution import FAMILY
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-convolution"
NEAR: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}
SIZES = {1: (9,), 2: (9, 8), 3: (5, 6, 7)}


def convolved(
    x: Any, weight: Any, bias: Any, geometry: tuple[int, int, int, int], groups: int,
    transposed: bool, **how: Any,
) -> None:  # fmt: skip
    """Assert it of all names: stride, padding, dilation and output padding."""
    count = weight.ndim - 2
    stride, pad, dilation, further = ([n] * count for n in geometry)
    arguments = [x, weight, bias, stride, pad, dilation, transposed, further, groups]
    replaced(PASS, FAMILY.evaluate, "convolution", arguments, **how, **NEAR)
    flags = [False, False, True]
    replaced(PASS, FAMILY.evaluate, "_convolution", [*arguments, *flags, True], **how, **NEAR)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("geometry", [(1, 0, 1, 0), (2, 1, 1, 0), (1, 2, 2, 0)])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dynamic", [False, True])
def test_forward(
    axes: int, geometry: tuple[int, int, int, int], groups: int, dynamic: bool
) -> None:
    x, bias = array_of(2, 4, *SIZES[axes]), array_of(6)
    weight = array_of(6, 4 // groups, *[3] * axes, seed=8)
    convolved(x, weight, bias, geometry, groups, False, dynamic=dynamic)
    convolved(x, weight, None, geometry, groups, False, dynamic=dynamic, fed=2)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("geometry", [(1, 0, 1, 0), (2, 1, 1, 1), (3, 2, 2, 1)])
@pytest.mark.parametrize("groups", [1, 2])
def test_transposed(axes: int, geometry: tuple[int, int, int, int], groups: int) -> None:
    x, bias = array_of(2, 4, *SIZES[axes]), array_of(3 * groups)
    weight = array_of(4, 3, *[3] * axes, seed=8)
    convolved(x, weight, bias, geometry, groups, True)
    convolved(x, weight, None, geometry, groups, True, dynamic=True, fed=2)


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_padding_by_name(size: int, padding: str) -> None:
    x, weight, bias = array_of(2, 4, 9, 8), array_of(6, 4, size, 3, seed=8), array_of(6)
    arguments = [x, weight, bias, [1, 1], np.array(padding, object), [2, 1], 1]
    replaced(PASS, FAMILY.evaluate, "_convolution_mode", arguments, **NEAR)
    replaced(PASS, FAMILY.evaluate, "_convolution_mode", arguments, dynamic=True, **NEAR)


@pytest.mark.parametrize(("dtype", "near"), [(np.float64, 1e-12), (np.float16, 2e-2)])
def test_other_types(dtype: Any, near: float) -> None:
    x, weight = array_of(2, 4, 9).astype(dtype), array_of(6, 4, 3).astype(dtype)
    arguments = [x, weight, None, [1], [1], [1], False, [0], 1]
    given = [None if one is None else np.asarray(one) for one in arguments]
    (wanted,) = FAMILY.evaluate(given, {"operator": "convolution"})
    model, _ = called("convolution", arguments, [wanted])
    evaluator: Any = ReferenceEvaluator(run_pass(PASS, model).after)
    found = evaluator.run(None, {"x0": x})[0]
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=near, atol=near)


def test_in_a_branch() -> None:
    given = [array_of(6, 4, 3), None, *(np.array(n) for n in ([1], [0], [1], False, [0], 1))]
    done = run_pass(PASS, in_branch(aten_model("convolution", [2, 4, 9], given)))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


def test_refusals() -> None:
    x, weight = array_of(2, 4, 9), array_of(6, 4, 3)
    rest = [None, [1], [1], [1], False, [0], 1]
    whole = x.astype(np.int64)
    model, _ = called("convolution", [whole, weight.astype(np.int64), *rest], [whole])
    assert_refused(PASS, model, "x0 must be")
    model, _ = called("convolution", [x, weight.astype(np.float64), *rest], [x])
    assert_refused(PASS, model, "x1 must have the type and the rank of x0")
    model, _ = called("convolution", [x[0], weight, *rest], [x])
    assert_refused(PASS, model, "x1 must have the type and the rank of x0")
    model, _ = called("convolution", [x, weight, None, [1, 1], *rest[2:]], [x])
    assert_refused(PASS, model, "stride must have an entry for each of 1 axes; it has 2")
    named = [x, weight, None, [2], np.array("same", object), [1], 1]
    model, _ = called("_convolution_mode", named, [x])
    assert_refused(PASS, model, "same with windows of known sizes that go one by one; it is same")
    model, _ = called("convolution", [x, weight, *rest], [x], opset=10)
    assert_refused(PASS, model, "the opset must be at least 11; it is 10")
