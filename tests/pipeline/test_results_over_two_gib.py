"""Models with more weights than one message of protobuf holds are compared, too."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import graphfix
from graphfix.errors import UsageError
from graphfix.pipeline import verifying
from graphfix.pipeline.verifying import on_disk
from graphfix.report import Verdict

TEXT = """<ir_version: 9, opset_import: ["" : 20]> g (float[N, 32] x) => (float[N, 32] y)
{ h = MatMul(x, w) y = Gelu(h) }"""


def model() -> onnx.ModelProto:
    built = parser.parse_model(TEXT)
    weights = np.random.default_rng(1).standard_normal((32, 32)).astype(np.float32)
    built.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return built


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Lower the limit below the weights, and give temporary files a folder."""
    monkeypatch.setattr(verifying, "PROTO_LIMIT", 1000)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_what_is_over_the_limit_of_protobuf_is_compared_with_its_weights_in_a_file(
    small: Path,
) -> None:
    result = graphfix.run(model(), target="trt8")
    assert result.report.verification.status is Verdict.EQUAL
    assert list(small.iterdir()) == []


def test_the_weights_lie_next_to_the_model_as_long_as_it_is_needed(small: Path) -> None:
    proto = model()
    with on_disk(proto, "") as path:
        assert sorted(small.iterdir()) == [path, path.with_name(f"{path.name}.data")]
        (read,) = onnx.ModelProto.FromString(path.read_bytes()).graph.initializer
        found = onnx.numpy_helper.to_array(read, str(small))
        assert found.tobytes() == proto.graph.initializer[0].raw_data
    assert proto == model()
    assert list(small.iterdir()) == []


def test_a_full_disk_is_said_in_one_line(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with (
        pytest.raises(UsageError, match="to be compared: No space left on device"),
        on_disk(model(), ""),
    ):
        pytest.fail("there is a model")
    assert list(small.iterdir()) == []
