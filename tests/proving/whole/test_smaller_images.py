"""A corner of big images: what is asked there, and where there is none."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, parser

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.whole.interface import compare_interfaces
from graphfix.proving.whole.smaller_images import Corner, corner, long_sides


def _model(body: str, side: str = "512, 640") -> ModelProto:
    return parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[1, 2, {side}] x) => (float[1, 2, {side}] y)
        <float[1, 2, 1, 1] w = {{2.0, 3.0}}, int64[4] s = {{1, 2, 512, 640}}> {{ {body} }}"""
    )


def _corner(before: ModelProto, after: ModelProto) -> Corner | None:
    numbers = np.random.default_rng(1).standard_normal((1, 2, 512, 640)).astype(np.float32)
    one, two = RunnableModel(before), RunnableModel(after)
    interface = compare_interfaces(before, after)
    return corner(one, two, {"x": numbers}, interface, Judge(one).differs)


def test_only_long_sides_of_images_are_cut() -> None:
    assert long_sides(_model("y = Mul (x, w)")) == {"x": {2: 128, 3: 128}}
    assert long_sides(_model("y = Mul (x, w)", "511, 640")) == {"x": {3: 128}}
    assert long_sides(_model("y = Mul (x, w)", "N, 64")) == {}


def test_both_models_run_on_the_corner() -> None:
    found = _corner(_model("y = Mul (x, w)"), _model("y = Mul (w, x)"))
    assert found is not None
    given = found.feed["x"]
    assert isinstance(given, np.ndarray)
    assert given.shape == (1, 2, 128, 128)
    expected = given * np.array([2, 3], np.float32).reshape(2, 1, 1)
    np.testing.assert_array_equal(found.expected["y"], expected)


def test_no_corner_where_a_model_does_not_run_there() -> None:
    assert _corner(_model("y = Mul (x, w)"), _model("z = Mul (x, w) y = Reshape (z, s)")) is None


def test_no_corner_where_the_models_differ_there() -> None:
    assert _corner(_model("y = Mul (x, w)"), _model("y = Add (x, w)")) is None
