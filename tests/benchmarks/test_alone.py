"""Nodes that `check` calls wrong, asked about by themselves."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from benchmarks.engines.alone import is_wrong_alone
from benchmarks.engines.kernels import Asker
from tests.engines.cases import model_of
from tests.engines.hosted import needs

pytestmark = needs("qnn", "qnn2")
CLIP = (
    "(float[2,3] x) => (float[2,3] y) <float half = {0.5}> {"
    " s = Sigmoid (x) c = Clip <min = -0.2, max = 0.2> (s) y = Mul (c, half) }"
)


@pytest.mark.parametrize(("limits", "is_wrong"), [("0.2", True), ("900.0", False)])
def test_limits_that_are_ignored(tmp_path: Path, limits: str, is_wrong: bool) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(model_of(CLIP.replace("0.2", limits), 9), path)  # pyright: ignore[reportUnknownMemberType]
    asker = Asker("qnn2")
    assert is_wrong_alone(path, "qnn2", asker, tmp_path) is is_wrong
    asker.close()
