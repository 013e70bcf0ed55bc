"""pad-negative-to-slice: what is cut off, by Slice."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "pad-negative-to-slice"
X = np.arange(12, dtype=np.float32).reshape(3, 4)


def text(pads: str, output: str, mode: str = "constant", place: str = "main") -> str:
    body = f"@p = Constant <value = int64[4] {pads}> () "
    body += f'@y = Pad <mode = "{mode}"> (x, @p)'
    return written(body, "float[3,4] x", output, place=place)


@pytest.mark.parametrize(
    ("pads", "output", "after"),
    [
        ("{-1, 0, 0, 2}", "float[2,6]", ["Slice", "Pad"]),
        ("{0, -1, -2, -1}", "float[1,2]", ["Slice"]),
        ("{-1, 1, 2, 0}", "float[4,5]", ["Slice", "Pad"]),
    ],
)
def test_values(pads: str, output: str, after: list[str]) -> None:
    done = assert_rewrite(PASS, text(pads, output), feeds=[{"x": X}])
    assert [op for op in done.ops if op != "Constant"] == after


@pytest.mark.parametrize("place", PLACES)
def test_edges_in_any_place(place: str) -> None:
    feed = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    model = text("{-1, 1, 0, 0}", "float[2,5]", "edge", place)
    assert_rewrite(PASS, model, feeds=[feed])


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize(("pads", "output"), [("{-1, 0, 1, 0}", "3,4"), ("{1, 2, -1, -1}", "3,5")])
def test_an_axis_is_cut_at_one_end_and_repeated_at_the_other(
    mode: str, pads: str, output: str
) -> None:
    done = assert_rewrite(PASS, text(pads, f"float[{output}]", mode), feeds=[{"x": X}])
    assert [op for op in done.ops if op != "Constant"] == ["Slice", "Pad"]
