"""Real networks to search in: ten files of the open corpus, and a fault planted in one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from graphfix.difference.scopes import Scope
from graphfix.ir.storage.reading import read_model

OPEN = Path(__file__).parents[2] / "shared" / "corpus" / "open"
NETWORKS = (
    "exported/bert__ts__op17.onnx",
    "exported/clip__ts__op17.onnx",
    "exported/convnext__ts__op17.onnx",
    "exported/efficientnet__dynamo__op18.onnx",
    "exported/gpt2__ts__op17.onnx",
    "exported/mamba__dynamo__op18.onnx",
    "exported/mobilenetv2__ts__op9.onnx",
    "exported/vitpose__ts__op17.onnx",
    "exported/whisper_encoder__ts__op14.onnx",
    "thirdparty/BlazeFaceBarra--face_detection_front_128x128_barracuda.onnx",
)


def network(name: str) -> ModelProto:
    """Read a file of the corpus; skips the test where it is not there."""
    path = OPEN / name
    if not path.is_file():
        pytest.skip(f"the corpus of real models is not at {OPEN}")
    return read_model(path).proto


def weight_inside(model: ModelProto) -> tuple[str, int]:
    """Return a stored tensor of floats that one node alone reads, half way down, and the node."""
    scope = Scope.of_graph(model.graph, "main")
    depth = {index: place for place, index in enumerate(scope.order)}
    found: list[tuple[int, str, int]] = []
    for tensor in model.graph.initializer:
        readers = scope.readers.get(tensor.name, ())
        if tensor.data_type == TensorProto.FLOAT and len(tensor.dims) > 1 and len(readers) == 1:
            found.append((depth[readers[0][0]], tensor.name, readers[0][0]))
    _, name, reader = sorted(found)[len(found) // 2]
    return name, reader


def with_fault(model: ModelProto, weight: str, factor: float = 1.01) -> ModelProto:
    """Return a model one of whose stored tensors is multiplied by a factor."""
    other = ModelProto()
    other.CopyFrom(model)
    tensor = next(t for t in other.graph.initializer if t.name == weight)
    values = numpy_helper.to_array(tensor) * np.float32(factor)
    tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float32), weight))
    return other
