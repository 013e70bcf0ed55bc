"""rotary-embedding-to-mul: pairs turned by the angle of their position."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.attention_models import MICROSOFT, numbers
from tests.passes.lowering_models import PLACES, written

PASS = "rotary-embedding-to-mul"
POSITIONS = [[0, 3, 1], [4, 2, 2]]


def text_of(
    x: str, positions: str, attributes: str = "", *, kind: str = "float", **more: Any
) -> str:
    body = f"@y = com.microsoft.RotaryEmbedding {attributes} (x, p, c, s)"
    inputs = f"{kind}[{x}] x, int64[{positions}] p, {kind}[8, 2] c, {kind}[8, 2] s"
    return written(body, inputs, f"{kind}[{x}]", imports=MICROSOFT, **more)


def feed_of(*shape: int, positions: Any = POSITIONS, kind: Any = np.float32) -> dict[str, Any]:
    tables = {"c": numbers(8, 2, kind=kind), "s": numbers(8, 2, seed=1, kind=kind)}
    return {"x": numbers(*shape, kind=kind), "p": np.array(positions, np.int64), **tables}


def test_the_numbers() -> None:
    feed = feed_of(2, 3, 8)
    done = assert_rewrite(PASS, text_of("2, 3, 8", "2, 3"), feeds=[feed], rtol=1e-5, atol=1e-6)
    a, b = np.split(feed["x"].reshape(2, 3, 2, 4), 2, axis=-1)
    c, s = feed["c"][feed["p"]][:, :, None], feed["s"][feed["p"]][:, :, None]
    wanted = np.concatenate([a * c - b * s, b * c + a * s], axis=-1).reshape(2, 3, 8)
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize(
    ("shape", "opened", "attributes"),
    [
        ((2, 3, 8), "B, S, 8", ""),
        ((2, 2, 3, 4), "B, 2, S, 4", ""),
        ((2, 3, 12), "B, S, 12", ", num_heads = 2, rotary_embedding_dim = 4"),
        ((2, 2, 3, 6), "B, 2, S, 6", ", num_heads = 2, rotary_embedding_dim = 4"),
    ],
)
def test_forms(shape: tuple[int, ...], opened: str, attributes: str, interleaved: int) -> None:
    named = f"<interleaved = {interleaved}{attributes}>"
    for positions, size, free in ((POSITIONS, "2, 3", "B, S"), ([2], "1", "1")):
        feed = feed_of(*shape, positions=positions)
        for x, p in ((str(shape)[1:-1], size), (opened, free)):
            for opset in (11, 17):
                text = text_of(x, p, named, opset=opset)
                assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    feed = feed_of(2, 3, 8)
    text = text_of("2, 3, 8", "2, 3", place=place)
    if place == "branch":  # where c is the condition
        text = text.replace("[8, 2] c,", "[8, 2] k,").replace("p, c, s)", "p, k, s)")
        feed |= {"k": feed["c"], "c": np.array(True)}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)


def test_a_scale_changes_nothing_as_in_every_kernel_of_onnxruntime() -> None:
    text = text_of("2, 3, 8", "2, 3", "<scale = 0.5>")
    assert_rewrite(PASS, text, feeds=[feed_of(2, 3, 8)], rtol=1e-5, atol=1e-6)
