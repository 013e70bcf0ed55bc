"""Resize with keep_aspect_ratio_policy below opset 18, against the text of the operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from graphfix import run
from graphfix.testing import outputs_of
from tests.opset.conversion import check, converted, model_of, reasons

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)
SIZES = [(5, 7), (7, 5), (3, 11), (10, 3), (1, 4), (4, 1), (3, 10), (6, 20)]


def model(
    attributes: str,
    *,
    axes: str = "axes = [2, 3], ",
    sizes: str = "",
    shape: str = "b,2,h,w",
    kind: str = "float",
) -> ModelProto:
    """Return a Resize of opset 19; `sizes` are those of a constant, else an input."""
    given = "" if sizes else ", int64[s] sizes"
    constant = f"sizes = Constant<value = int64[{sizes.count(',') + 1}] {{{sizes}}}>()"
    return model_of(
        f'<ir_version: 9, opset_import: ["" : 19]>\n'
        f"g ({kind}[{shape}] x{given}) => ({kind}[p,q,r,s] y)\n"
        f"{{ {constant if sizes else ''} y = Resize<{axes}{attributes}>(x, , , sizes) }}"
    )


def expected(x: Array, bounds: dict[int, int], policy: str, mode: str, coordinates: str) -> Array:
    """Resize as the text says: one factor for all axes, lengths rounded half up."""
    ratios = [np.float32(size) / np.float32(x.shape[axis]) for axis, size in bounds.items()]
    factor = min(ratios) if policy == "not_larger" else max(ratios)
    for axis in bounds:
        length = x.shape[axis]
        size = int(np.floor(float(factor * np.float32(length)) + 0.5))
        at = np.arange(size, dtype=np.float32)
        places = at / factor
        if coordinates != "asymmetric":
            places = (at + np.float32(0.5)) / factor - np.float32(0.5)
        if mode == "nearest":
            picked = np.ceil(places - np.float32(0.5)).astype(np.int64)  # round_prefer_floor
            x = np.take(x, picked.clip(0, length - 1), axis)
            continue
        places = places.clip(0, length - 1)
        low = np.floor(places).astype(np.int64)
        part = (places - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        high = np.minimum(low + 1, length - 1)
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "asymmetric"])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("version", [17, 11])
def test_resize_scales_by_the_factor_of_the_policy_not_by_rounded_sizes(
    policy: str, mode: str, coordinates: str, constant: bool, version: int
) -> None:
    attributes = (
        f'keep_aspect_ratio_policy = "{policy}", mode = "{mode}", '
        f'coordinate_transformation_mode = "{coordinates}"'
    )
    result = converted(model(attributes, sizes="3, 10" if constant else ""), version)
    check(result)
    for height, width in SIZES:
        x = RNG.normal(size=(2, 2, height, width)).astype(np.float32)
        feed = {"x": x} if constant else {"x": x, "sizes": np.array([3, 10])}
        wanted = expected(x, {2: 3, 3: 10}, policy, mode, coordinates)
        np.testing.assert_allclose(outputs_of(result, feed)["y"], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_resize_under_a_policy_without_axes_scales_every_axis(policy: str) -> None:
    attributes = f'keep_aspect_ratio_policy = "{policy}"'
    result = converted(model(attributes, axes="", shape="b,c,h,w"), 17)
    check(result)
    for shape, sizes in (((2, 3, 5, 7), (3, 3, 9, 9)), ((1, 2, 3, 4), (2, 3, 4, 5))):
        x = RNG.normal(size=shape).astype(np.float32)
        wanted = expected(x, dict(enumerate(sizes)), policy, "nearest", "half_pixel")
        given = outputs_of(result, {"x": x, "sizes": np.array(sizes)})["y"]
        np.testing.assert_array_equal(given, wanted)


@pytest.mark.parametrize(("height", "width"), [(5, 7), (7, 5), (3, 11), (6, 20), (10, 3)])
@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resize_of_known_lengths_under_a_policy(
    height: int, width: int, policy: str, mode: str
) -> None:
    proto = model(
        f'keep_aspect_ratio_policy = "{policy}", mode = "{mode}"',
        sizes="3, 10",
        shape=f"1,2,{height},{width}",
    )
    result = converted(proto, 13)
    check(result)
    x = RNG.normal(size=(1, 2, height, width)).astype(np.float32)
    given = outputs_of(result, {"x": x})["y"]
    np.testing.assert_allclose(given, outputs_of(proto, {"x": x})["y"], rtol=1e-4, atol=1e-5)
    if mode == "linear":
        wanted = expected(x, {2: 3, 3: 10}, policy, mode, "half_pixel")
        np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(0, 2, 5, 7), (0, 2, 6, 3)])
def test_resize_under_a_policy_of_nothing_gives_nothing(shape: tuple[int, ...]) -> None:
    proto = model('keep_aspect_ratio_policy = "not_larger", mode = "linear"', sizes="3, 10")
    x = np.zeros(shape, np.float32)
    given = outputs_of(converted(proto, 17), {"x": x})["y"]
    assert given.shape == outputs_of(proto, {"x": x})["y"].shape


@pytest.mark.parametrize(
    ("attributes", "kind", "reason"),
    [
        ('mode = "cubic", exclude_outside = 1', "float", "the edge is not repeated"),
        ('mode = "linear"', "uint8", "of integers, which would be rounded differently"),
        ('coordinate_transformation_mode = "pytorch_half_pixel"', "float", "one may be 1"),
    ],
)
def test_resize_under_a_policy_is_refused_where_the_edge_matters(
    attributes: str, kind: str, reason: str
) -> None:
    proto = model(
        f'keep_aspect_ratio_policy = "not_larger", {attributes}', sizes="3, 10", kind=kind
    )
    assert any(reason in line for line in reasons(proto, 17))


def test_resize_under_a_policy_for_trt8_gives_what_it_gave_at_5_by_7() -> None:
    proto = model('keep_aspect_ratio_policy = "not_larger", mode = "linear"', sizes="3, 10")
    result = run(proto, target="trt8", verify="off").model
    assert result is not None
    x = RNG.normal(size=(1, 2, 5, 7)).astype(np.float32)
    wanted = expected(x, {2: 3, 3: 10}, "not_larger", "linear", "half_pixel")
    given = outputs_of(result.to_proto(), {"x": x})["y"]
    np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)


def test_empty_scales_next_to_sizes_are_no_scales() -> None:
    proto = model_of(
        '<ir_version: 9, opset_import: ["" : 18]>\ng (float[1,2,h,w] x) => (float[1,2,6,8] y)\n'
        "{ e = Constant<value = float[0] {}>() s = Constant<value = int64[2] {6, 8}>() "
        "y = Resize<axes = [2, 3]>(x, e, e, s) }"
    )
    result = converted(proto, 17)
    check(result)
    x = RNG.normal(size=(1, 2, 3, 4)).astype(np.float32)
    given = outputs_of(result, {"x": x})["y"]
    np.testing.assert_array_equal(given, x.repeat(2, 2).repeat(2, 3))
