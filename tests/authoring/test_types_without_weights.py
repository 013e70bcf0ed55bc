"""The types of operators without schema are known without a look at weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphfix.authoring.building import written_types
from graphfix.authoring.registry import shipped_passes
from graphfix.authoring.workspace import Workspace
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import Weights
from graphfix.ir.views import NodeView, Refuse
from graphfix.pipeline.model_files import load
from graphfix.pipeline.model_types import infer_types
from graphfix.testing import parse
from tests.passes.pair_files import HEAD, pairs_in

FAMILIES = ("aten", "contrib", "ml")
FEW = 8  # what an argument has of numbers: sizes, axes, kernels
PASSES = shipped_passes()


def models() -> Iterator[tuple[str, Model]]:
    """Yield the models of the pairs of all passes for operators without schema."""
    families = {declared.id: declared.family for declared in PASSES}
    for path in sorted((Path(__file__).parents[1] / "passes" / "pairs").glob("*.txt")):
        if families.get(path.stem.replace("_", "-")) in FAMILIES:
            for pair in pairs_in(path):
                text = pair.model if pair.model.startswith("<") else HEAD + pair.model
                yield f"{path.stem}: {pair.name}", load(parse(text))


def is_written(model: Model, node: NodeView) -> bool:
    """Write what the types of a node follow from; say whether a pass did that."""
    for declared, given in PASSES.knowing_of(node.op):
        if given is not None or declared.family not in FAMILIES:
            continue
        if not declared.matches_node(node, any_opset=True):
            continue
        try:
            if declared.infer is None or declared.infer(node) is None:
                written_types(declared, node, Workspace(model, passes=PASSES))
                return True
        except Refuse:
            continue
    return False


def test_what_they_follow_from_reads_arguments_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    load_values = Weights.load

    def loaded(self: Weights) -> Any:
        values = load_values(self)
        read.append(values.size)
        return values

    written = 0
    for name, model in models():
        infer_types(model, PASSES)
        with monkeypatch.context() as watched:
            watched.setattr(Weights, "load", loaded)
            for node in list(model.nodes()):
                read.clear()
                written += is_written(model, NodeView(node))
                assert max(read, default=0) <= FEW, (name, node.op, read)
    assert written > 200
