"""OpenCV itself: what its program does, where this machine has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import parser

from graphfix.engines.engine import engine_of
from graphfix.engines.hosting.places import python_of
from graphfix.engines.hosting.runner import HostedRunner
from graphfix.engines.interface import Meant
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.errors import EngineFailed

ENGINE = engine_of("opencv")
HERE = [name for name in ENGINE.names() if python_of(name, ENGINE.requirements)]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
needs_opencv = pytest.mark.skipif(
    not HERE, reason="no OpenCV here: graphfix targets --install opencv"
)


@pytest.fixture(params=HERE or ["opencv5.0"])
def target(request: pytest.FixtureRequest) -> Target:
    return load_target(str(request.param))


def ran(target: Target, graph: str, folder: Path, **feed: object) -> dict[str, Any]:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {graph}')
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    runner = ENGINE.open(model, path, Meant(target.version, {}, target.name))
    try:
        return runner.run(feed)
    finally:
        assert isinstance(runner, HostedRunner)
        assert runner.version == target.version
        runner.close()


@needs_opencv
def test_it_computes_what_two_outputs_want(target: Target, tmp_path: Path) -> None:
    graph = "(float[2, 3] x) => (float[2, 3] y, float[3, 2] z) { y = Exp (x) z = Transpose (y) }"
    found = ran(target, graph, tmp_path, x=X)
    np.testing.assert_allclose(found["y"], np.exp(X), rtol=1e-5)
    np.testing.assert_allclose(found["z"], np.exp(X).T, rtol=1e-5)


@needs_opencv
def test_a_refusal_has_its_words_and_names_the_node(target: Target, tmp_path: Path) -> None:
    graph = "(float[2, 3] x) => (float[2, 3] y) { n = Neg (x) y = NoSuchOperator (n) }"
    with pytest.raises(EngineFailed, match=r"^OpenCV [0-9.]+: parse: ") as refused:
        ran(target, graph, tmp_path, x=X)
    assert ENGINE.blamed(refused.value.message) == ("NoSuchOperator", "y")
