"""What quantized operators round inside is noise where they do, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Feed, Value
from graphfix.proving.verdict.inner_rounding import rounded_inside
from graphfix.proving.verdict.judge import Judge

HEAD = '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> g '


def add(scales: tuple[float, float, float], zeros: tuple[int, int, int]) -> ModelProto:
    (a, b, c), (p, q, r) = scales, zeros
    return parser.parse_model(
        f"{HEAD} (uint8[1, N] a, uint8[1, N] b) => (uint8[1, N] y) "
        f"<float sa = {{{a}}}, uint8 za = {{{p}}}, float sb = {{{b}}}, uint8 zb = {{{q}}}, "
        f"float sc = {{{c}}}, uint8 zc = {{{r}}}> "
        "{ y = com.microsoft.QLinearAdd (a, sa, za, b, sb, zb, sc, zc) }"
    )


def softmax() -> ModelProto:
    return parser.parse_model(  # 1 has 255 steps, however the scale is rounded
        f"{HEAD} (uint8[1, N] a) => (uint8[1, N] y) "
        "<float xs = {0.1}, uint8 xz = {0}, float ys = {0.0039138943}, uint8 yz = {0}> "
        "{ y = com.microsoft.QLinearSoftmax <axis = -1, opset = 17> (a, xs, xz, ys, yz) }"
    )


UNEVEN = add((0.01573586, 0.00022885815, 0.015796876), (182, 120, 181))
HALVES = add((0.5, 0.5, 1.0), (0, 0, 0))


@pytest.mark.parametrize(
    ("model", "a", "b", "is_noise"),
    [
        (UNEVEN, [240], [239], True),  # 240.499997
        (UNEVEN, [241], [239], False),
        (HALVES, [1], [2], False),  # 1.5 in any order: another rule for ties
        (softmax(), [5, 5], None, True),  # 127.5
        (softmax(), [5] * 7, None, False),
    ],
)
def test_one_step_is_noise_next_to_half_a_step_alone(
    model: ModelProto, a: list[int], b: list[int] | None, is_noise: bool
) -> None:
    runnable = RunnableModel(model)
    feed: Feed = {"a": np.array([a], np.uint8)}
    if b is not None:
        feed["b"] = np.array([b], np.uint8)
    before = runnable.open().run(feed)
    after: dict[str, Value] = {"y": np.asarray(before["y"]) + np.uint8(1)}
    judge = Judge(runnable)
    assert judge.take(feed, before, after) is not is_noise
    assert (judge.unstable, list(judge.broken)) == ((1, []) if is_noise else (0, ["y"]))


def test_copies_compute_the_same_but_next_to_half_a_step() -> None:
    a, b = (grid.reshape(1, -1).astype(np.uint8) for grid in np.mgrid[0:256, 0:256])
    before = RunnableModel(UNEVEN).open().run({"a": a, "b": b})["y"]
    for copy in rounded_inside(UNEVEN):
        moved = RunnableModel(copy).open().run({"a": a, "b": b})["y"]
        differ = np.abs(np.asarray(moved).astype(int) - np.asarray(before))
        assert differ.max() == 1
        assert 0 < differ.sum() < 20  # of 65,536


def test_nothing_is_copied_where_nothing_rounds_inside() -> None:
    assert rounded_inside(HALVES) == []
    plain = parser.parse_model(HEAD + "(float[2] x) => (float[2] y) { y = Relu (x) }")
    assert rounded_inside(plain) == []


def test_what_is_quantized_dynamically_is_known_but_for_its_last_digits() -> None:
    text = "(float[N] x) => (uint8[N] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }"
    model = parser.parse_model(HEAD + text)
    feed: Feed = {"x": np.array([0, 100.49999, 100.50001, 100.4, 7, 255], np.float32)}
    copies = [RunnableModel(copy).open().run(feed) for copy in rounded_inside(model)]
    found = [np.asarray(copy["y"]).tolist() for copy in copies]
    assert found == [[0, 101, 101, 100, 7, 255], [0, 100, 100, 100, 7, 255]]
    assert all(float(np.asarray(copy["s"])) == 1.0 for copy in copies)
