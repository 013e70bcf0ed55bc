"""Whether a node that `check` calls wrong is computed wrongly by itself.

The outputs of a network may not show it: a limit that no number of an untrained one reaches, an
average that a Softmax makes the same again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import graphfix
from graphfix.authoring.registry import shipped_passes
from graphfix.engines.node_alone import model_of
from graphfix.errors import GraphfixError
from graphfix.ir.views import NodeView
from graphfix.learning.verdicts import Asker
from graphfix.pipeline.model_types import infer_types
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.models import run_model

_NOT_RIGHT = ("crashed", "wrong")


def is_wrong_alone(path: Path, target: str, asker: Asker, folder: Path) -> bool:
    """Say whether the engine errs at one of the nodes of a model that are surely called wrong.

    Args:
        path: The model.
        target: The engine.
        asker: It, running.
        folder: Where a node is written to.
    """
    found = graphfix.check(path, target)
    named = {each.node for each in found if each.certain and each.severity == "wrong"}
    model = graphfix.load(path)
    infer_types(model, shipped_passes())
    views = (NodeView(node) for graph in model.graph.walk() for node in graph.nodes)
    return any(_errs(view, asker, folder / "alone.onnx") for view in views if view.ref() in named)


def _errs(node: NodeView, asker: Asker, file: Path) -> bool:
    proto = model_of(node)
    if proto is None:
        return False
    try:
        drawn: dict[str, Any] = FeedMaker(proto).draw(0)
        file.write_bytes(proto.SerializeToString())
        expected = run_model(file, [drawn])[0]
    except GraphfixError:  # onnxruntime does not run the node
        return False
    values = (*drawn.values(), *expected.values())
    arrays = all(isinstance(value, np.ndarray) for value in values)
    return arrays and asker.verdict(file, drawn, expected)[0] in _NOT_RIGHT
