"""Models with NonMaxSuppression, inputs for them, and the comparison up to the count of rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from graphfix.authoring.declaring import Evaluate
from graphfix.authoring.registry import get_pass
from graphfix.operators.padding import padded_outputs
from graphfix.testing import Rewritten, outputs_of, run_pass

LIMIT = "int64[1] k = {3}, float[1] t = {0.4}"
THRESHOLD = f"{LIMIT}, float[1] m = {{0.3}}"


def model(
    shape: tuple[object, ...] = (1, 1, 9),
    constants: str = LIMIT,
    inputs: str = "b, s, k, t",
    after: str = "",
    outputs: str = "int64[n, 3] y",
    attributes: str = "",
    opset: int = 13,
    given: str = "",
) -> str:
    images, classes, count = shape
    return (
        f'<ir_version: 7, opset_import: ["": {opset}]> g (float[{images}, {count}, 4] b, '
        f"float[{images}, {classes}, {count}] s{given}) => ({outputs}) <{constants}> "
        f"{{ y = NonMaxSuppression {attributes} ({inputs})  {after} }}"
    )


def feeds(shape: tuple[int, int, int], number: int) -> dict[str, Any]:
    """Boxes with corners in any order, halves, empty ones; scores that tie and negative ones."""
    images, classes, count = shape
    random = np.random.default_rng(number)
    boxes = random.normal(size=(images, count, 4)) * (0 if number % 11 == 10 else 1)
    scores = random.uniform(-0.1, 1, (images, classes, count))
    if number % 3 == 0:
        boxes = np.round(boxes * 2) / 2
    if number % 3 == 1:
        boxes, scores = np.abs(boxes), np.round(scores * 4) / 4
    return {"b": boxes.astype(np.float32), "s": scores.astype(np.float32)}


def evaluators_of(pass_id: str) -> dict[tuple[str, str], Evaluate]:
    """Return the numpy models of what a pass emits."""
    known = get_pass(pass_id).knows
    keys = {op: op.rpartition("::") for op in known}
    models = {op: entry.evaluate for op, entry in known.items() if entry.evaluate is not None}
    return {(keys[op][0], keys[op][2]): evaluate for op, evaluate in models.items()}


def assert_selected(
    pass_id: str,
    text: str,
    shape: tuple[int, int, int],
    *,
    numbers: Sequence[int] = range(24),
    options: dict[str, Any] | None = None,
) -> Rewritten:
    """Assert that a pass leaves each output what it was, up to the count of rows."""
    done = run_pass(pass_id, text, options=options)
    assert [o.status for o in done.outcomes] == ["applied"], done.outcomes
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    padding = padded_outputs(done.after)
    assert padding
    evaluators = evaluators_of(pass_id)
    for number in numbers:
        feed = feeds(shape, number)
        expected = outputs_of(done.before, feed)
        actual = outputs_of(done.after, feed, evaluators)
        for name, wanted in expected.items():
            if name not in padding:
                np.testing.assert_array_equal(actual[name], wanted)
                continue
            (count,) = actual[padding[name].count].tolist()
            kept = actual[name].take(np.arange(count), axis=padding[name].axis)
            assert kept.dtype == wanted.dtype
            np.testing.assert_array_equal(kept, wanted)
    return done
