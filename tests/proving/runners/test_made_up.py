"""Functions that stand for operators of which only the types are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from graphfix.authoring import Array
from graphfix.proving.models import compare_files
from graphfix.proving.runners import made_up
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.report import Verdict

KEY = ("acme", "F")
HEAD = '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> g '


def called(*inputs: Array | None, likes: tuple[int, ...] = (0,), **reported: object) -> list[Array]:
    places = Evaluators({KEY: made_up.place_of(likes)})
    return list(places.get(KEY)(list(inputs), {"operator": "F", **reported}))


def compare(tmp_path: Path, before: str, after: str) -> Verdict:
    paths: list[Path] = []
    for name, text in (("before.onnx", before), ("after.onnx", after)):
        paths.append(tmp_path / name)
        paths[-1].write_bytes(parser.parse_model(HEAD + text).SerializeToString())
    options = ComparisonOptions(evaluators={KEY: made_up.place_of([0])})
    return compare_files(paths[0], paths[1], options).status


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, np.float64, np.int64, np.int32, np.bool_]
)
def test_type_and_shape_are_those_of_the_input(dtype: type[np.generic]) -> None:
    x = np.arange(6).reshape(2, 3).astype(dtype)
    (y,) = called(x)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    assert not np.array_equal(x, y)
    assert np.array_equal(called(x)[0], y)


def test_integers_stay_among_those_that_were_there() -> None:
    (y,) = called(np.array([5, 1, 2, 7]))
    assert sorted(y.tolist()) == [1, 2, 5, 7]


def test_every_element_and_its_place_count() -> None:
    x, other = np.linspace(-1, 1, 6).astype(np.float32), np.ones(3, np.float32)
    (y,) = called(x, other)
    for changed in (x[::-1], np.where(np.arange(6) == 4, x + 1, x)):
        assert not np.allclose(called(changed, other)[0], y, atol=1e-2)
    for place in range(3):
        moved = np.where(np.arange(3) == place, 2, other).astype(np.float32)
        assert not np.allclose(called(x, moved)[0], y, atol=1e-3)
    assert not np.allclose(called(x, other, alpha=2)[0], y, atol=1e-3)


def test_little_changes_little() -> None:
    x = np.linspace(-1, 1, 50)
    assert np.abs(called(x)[0] - called(x + 1e-7)[0]).max() < 1e-6


def test_several_outputs() -> None:
    a, b = np.zeros((2, 3), np.float32), np.zeros(4, np.float64)
    first, second, third = called(a, b, likes=(1, 0, 0))
    assert (first.shape, second.shape, third.shape) == ((4,), (2, 3), (2, 3))
    assert not np.allclose(second, third)
    with pytest.raises(ValueError, match="like input 3, which is not there"):
        called(a, likes=(3,))


def test_no_other_name_is_a_function() -> None:
    for name in ("like_", "like_x", "other"):
        with pytest.raises(AttributeError):
            getattr(made_up, name)


SAME = "(float[3, 4] x) => (float[4, 3] y) { a = acme.F (x)  y = Transpose (a) }"
WRONG = [
    "(float[3, 4] x) => (float[4, 3] y) { a = Transpose (x)  y = acme.F (a) }",
    "(float[3, 4] x) => (float[4, 3] y) { n = Neg (x)  b = acme.F (n)  a = Neg (b) "
    "y = Transpose (a) }",
    "(float[3, 4] x) => (float[4, 3] y) { a = acme.F <k = 1> (x)  y = Transpose (a) }",
    "(float[3, 4] x) => (float[4, 3] y) { b = acme.F (x)  a = acme.F (b)  y = Transpose (a) }",
    "(float[3, 4] x) => (float[4, 3] y) { a = Identity (x)  y = Transpose (a) }",
]


def test_what_is_the_same_around_it_is_equal(tmp_path: Path) -> None:
    other = SAME.replace("acme.F (x)", "acme.F (z)").replace("{ a", "{ z = Identity (x)  a")
    assert compare(tmp_path, SAME, other) is Verdict.EQUAL


@pytest.mark.parametrize("wrong", WRONG)
def test_what_was_moved_past_it_shows(tmp_path: Path, wrong: str) -> None:
    assert compare(tmp_path, SAME, wrong) is Verdict.MISMATCH
