"""A corner of big images: what is asked there, and where there is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec import structs
from onnx import ModelProto, parser

from graphfix.proving.models import compare_files
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.whole.interface import compare_interfaces
from graphfix.proving.whole.options import ComparisonOptions, long_sides
from graphfix.proving.whole.smaller_images import Corner, corner, with_sides
from graphfix.report import Verdict


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


def _further(before: ModelProto, after: ModelProto) -> list[float]:
    found = _corner(before, before)
    assert found is not None
    one, two = RunnableModel(before), RunnableModel(after)
    interface, differs = compare_interfaces(before, after), Judge(one).differs
    small = two.of(with_sides(after, long_sides(after)))
    other = structs.replace(found, after=small, engine=small.open())
    outputs = other.further(range(1, 5), ComparisonOptions(), interface, differs)
    return [float(np.asarray(each["y"]).max()) for each in outputs]


def test_other_values_are_compared_on_corners() -> None:
    plain = _model("y = Mul (x, w)")
    largest = _further(plain, _model("y = Mul (w, x)"))
    assert len(largest) == len(set(largest)) == 4
    # What the sample of normal numbers does not reach, one of the wide ones does.
    limited = "a = Abs (x) c = Constant <value_float = 6.0> () l = Min (a, c) s = Sign (x) "
    assert not _further(plain, _model(f"{limited} z = Mul (s, l) y = Mul (z, w)"))


TOKENS = "(float[1, 2, 512, 512] x) => (float[1, 2, 512, 512] y) <float[1, 2, 1, 1] w = {2.0, 3.0}>"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '


def test_one_sample_has_the_size_of_big_images(tmp_path: Path) -> None:
    paths = tmp_path / "a.onnx", tmp_path / "b.onnx"
    for path, body in zip(paths, ("y = Mul (x, w)", "y = Mul (w, x)"), strict=True):
        path.write_bytes(parser.parse_model(f"{HEAD}{TOKENS} {{ {body} }}").SerializeToString())
    found = compare_files(*paths)
    assert found.status is Verdict.EQUAL
    assert found.method.endswith("1 sample and 4 on corners of its images")


def test_two_samples_are_enough_where_the_first_has_every_style(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    body = "(float[1, 1024, 128] x) => (float[1, 1024, 128] y) { y = Neg (x) }"
    path.write_bytes(parser.parse_model(HEAD + body).SerializeToString())
    assert compare_files(path, path).method.endswith(", 2 samples")
    path.write_bytes(parser.parse_model(HEAD + body.replace("1024", "512")).SerializeToString())
    assert compare_files(path, path).method.endswith(", 5 samples")
