"""Outputs of a model that no node computes: an input, a weight, or what the other model lacks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from graphfix import edits
from tests.edits.small_models import HEAD, checked, parsed, ran, samples

ENDS = (
    HEAD
    + """
g (float[2, 4] x, float[2, 4] k, float[2, 4] u)
  => (float[2, 4] y, float[2, 4] k, float[4] w, float[2, 4] u)
<float[4] w = {1, 2, 3, 4}>
{ [mul] m = Mul (x, w) [exp] e = Tanh (m) [add] y = Add (e, k) }"""
)
FEED = {"x": samples(2, 4), "k": samples(2, 4) + 1, "u": samples(2, 4) - 3}


def _together(one: ModelProto, two: ModelProto) -> dict[str, np.ndarray]:
    given = [info.name for info in one.graph.input]
    first = ran(one, **{name: FEED[name] for name in given})
    both = {**FEED, **first}
    return {**first, **ran(two, **{info.name: both[info.name] for info in two.graph.input})}


@pytest.mark.parametrize("off", [False, True])
def test_both_parts_together_have_all_outputs(off: bool) -> None:
    before = parsed(ENDS)
    if off:
        found = edits.split_off(before, ["x"], "a.onnx", "b.onnx")
    else:
        found = edits.split(before, ["m"], "a.onnx", "b.onnx")
    assert found.exit_code == 0
    one, two = (found.parts[Path(name)].to_proto() for name in ("a.onnx", "b.onnx"))
    given, wanted = _together(one, two), ran(before, **FEED)
    assert {"y", "k", "w", "u"} <= {i.name for part in (one, two) for i in part.graph.output}
    for name, value in wanted.items():
        np.testing.assert_array_equal(given[name], value)


def test_a_size_is_freed_next_to_an_input_that_is_an_output() -> None:
    before = parsed(ENDS)
    axes: dict[str, tuple[int | str | None, ...]] = dict.fromkeys(("x", "k", "u"), ("N", 4))
    found = edits.dynamic(before, axes)
    assert found.exit_code == 0
    many = {name: np.concatenate([value, value + 1, value * 2]) for name, value in FEED.items()}
    given = ran(checked(found), **many)
    np.testing.assert_array_equal(given["k"], many["k"])
    for at in range(0, 6, 2):
        part = ran(before, **{name: value[at : at + 2] for name, value in many.items()})
        np.testing.assert_allclose(given["y"][at : at + 2], part["y"], rtol=1e-6)


def test_what_one_model_lacks_may_be_called_as_something_inside_it(tmp_path: Path) -> None:
    one = parsed(HEAD + "f (float[N, 4] x) => (float[N, 4] y) { m = Neg (x) y = Exp (m) }")
    two = parsed(
        HEAD + "l (float[N, 4] x) => (float[N, 4] y, float[N, 4] m) { m = Abs (x) y = Sqrt (m) }"
    )
    (tmp_path / "two.onnx").write_bytes(two.SerializeToString())
    found = edits.merge(one, tmp_path / "two.onnx", "first")
    assert found.exit_code == 0
    merged, x = checked(found), samples(3, 4)
    first = ran(merged, x=x, first=np.array([True]))
    np.testing.assert_array_equal(first["y"], ran(one, x=x)["y"])
    assert first["m"].shape == (0, 4)
    second = ran(merged, x=x, first=np.array([False]))
    np.testing.assert_array_equal(second["m"], np.abs(x))
    np.testing.assert_array_equal(second["y"], ran(two, x=x)["y"])
