"""Each pair of a text file in `pairs` is a test: a model, and what becomes of it at another opset.

`tests/passes/pair_files.py` has the form of models and inputs. After ``->`` comes the opset, then
``as`` and the operators that there are then, or ``refused:`` and the reason. Inputs of known sizes
that no line gives are drawn.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from tests.opset.conversion import assert_converts, model_of, reasons
from tests.passes.pair_files import Array, Pair, pairs_in
from tests.text_items import TextFile, Written, text_file


def _held(pair: Pair) -> None:
    proto = model_of(pair.model)
    version, word, rest = pair.outcome.split(" ", 2)
    if word == "refused:":
        (reason,) = reasons(proto, int(version))
        assert rest in reason
        return
    assert word == "as", pair.outcome
    given = pair.given[0].inputs if pair.given else {}
    feed = {**_drawn(proto, set(given)), **given}
    assert_converts(proto, int(version), feed, ops=rest.split(), rtol=2e-6, atol=1e-6)


def _drawn(proto: ModelProto, given: set[str]) -> dict[str, Array]:
    """Draw the inputs that are not given."""
    random = np.random.default_rng(7)
    wanted = {i.name: i.type.tensor_type.shape.dim for i in proto.graph.input}
    shapes = {name: [d.dim_value for d in dims] for name, dims in wanted.items()}
    assert all(all(shapes[name]) for name in shapes.keys() - given), "sizes must be known"
    return {
        name: random.normal(size=shape).astype(np.float32)
        for name, shape in shapes.items()
        if name not in given
    }


def _written(path: Path) -> Iterator[Written]:
    for pair in pairs_in(path):
        yield Written(pair.name, f"{pair.model}\n-> {pair.outcome}", partial(_held, pair))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> TextFile | None:
    """Take the text files."""
    return text_file(file_path, parent, _written)
