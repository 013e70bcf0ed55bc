"""What is valid is never read in another way, whoever lets the passes look at it."""

from pathlib import Path

import onnx
import pytest
from google.protobuf.message import DecodeError
from onnx import ModelProto

import graphfix
from graphfix.errors import InvalidModel
from graphfix.report import MENDED
from graphfix.testing import parse
from graphfix.validity.mending.whole_files import mended_outputs, mended_types, reformed
from passes.mending._one_node import converted
from tests.node_tests import node_tests

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
EVERY_NODE_TEST, EVERY_FILE, LARGEST = 24, 20, 100_000


def is_valid(model: ModelProto) -> bool:
    try:
        onnx.checker.check_model(  # pyright: ignore[reportUnknownMemberType]
            model, full_check=True
        )
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def readings(model: ModelProto) -> list[str]:
    """Return all that the walk would read or refuse in a file."""
    found = [
        mended_types(graphfix.load(model)),
        mended_outputs(graphfix.load(model)),
        reformed(graphfix.load(model), converted),
    ]
    said = [place.said for each in found for place in each.places]
    return said + [reason for each in found for _, reason in each.unclear]


def test_node_tests_of_onnx() -> None:
    valid = [test for test in node_tests()[::EVERY_NODE_TEST] if is_valid(test.model)]
    assert len(valid) > 50
    assert {test.name: said for test in valid if (said := readings(test.model))} == {}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus lies outside of the repository")
def test_files_of_the_corpus() -> None:
    files = [p for p in sorted(CORPUS.rglob("*.onnx")) if p.stat().st_size < LARGEST]
    looked = 0
    for path in files[::EVERY_FILE]:
        try:
            model = ModelProto.FromString(path.read_bytes())
            graphfix.load(model)
        except (DecodeError, InvalidModel):
            continue
        if is_valid(model):
            looked += 1
            assert readings(model) == [], path
    assert looked > 10


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.32"])
def test_a_run_over_a_valid_file_mends_nothing(target: str) -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float16[2] x, float[2] w) => (float[2] y) '
        "{ z = Cast <to = 1> (x) y = Mul (z, w) }"
    )
    result = graphfix.run(parse(text), target)
    assert result.report.reading is None
    assert all(s.accuracy is not MENDED for o in result.report.outcomes for s in o.sites)
