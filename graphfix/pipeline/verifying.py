"""Comparing the whole model before and after, with the numpy models that passes bring along."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path

from graphfix.authoring.declaring import Evaluate, Pass
from graphfix.authoring.views import NodeView
from graphfix.comparing.models import ComparisonOptions, compare_files
from graphfix.graph import normal_domain
from graphfix.model import Model
from graphfix.pipeline.settings import Settings
from graphfix.report import Verdict, Verification
from graphfix.schemas import form_of
from graphfix.storage.reading import walk_tensors
from graphfix.storage.weights import is_external


def verify(before: Model, after: Model, settings: Settings, *, lossy: bool) -> Verification:
    """Compare two models on the same inputs.

    Args:
        before: The model as it came.
        after: The result.
        settings: Inputs, shapes and seed of the run.
        lossy: Whether a lossy site was applied by consent.
    """
    if settings.verify == "off":
        return Verification(Verdict.OFF, "verification was switched off")
    options = ComparisonOptions(
        inputs=settings.inputs,
        seed=settings.seed,
        lossy=lossy,
        evaluators=evaluators_for(before, settings.available),
        bindings=settings.shapes,
    )
    with _on_disk(before, "before") as old, _on_disk(after, "after") as new:
        return compare_files(old, new, options)


@contextlib.contextmanager
def _on_disk(model: Model, name: str) -> Generator[Path]:
    """Give the model as a file from which its external data can be reached."""
    if name == "before" and model.path is not None and model.path.is_file():
        yield model.path
        return
    proto = model.to_proto()
    external = any(is_external(t) for t in walk_tensors(proto))
    # Engines look for external data beside the file and refuse links that lead elsewhere.
    folder = model.base_dir if external and os.access(model.base_dir, os.W_OK) else None
    descriptor, path = tempfile.mkstemp(prefix=f".graphfix-{name}-", suffix=".onnx", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(proto.SerializeToString())
        yield Path(path)
    finally:
        os.unlink(path)


def evaluators_for(model: Model, passes: tuple[Pass, ...]) -> dict[tuple[str, str], str]:
    """Return, for each operator without schema in the model, where its numpy model is.

    The key of an operator that is named by an attribute (ATen) is ``ATen.linalg_inv``.
    """
    knowing = [p for p in passes if p.evaluate is not None]
    places: dict[tuple[str, str], str] = {}
    for node in model.nodes():
        domain = normal_domain(node.domain)
        if form_of(node.op, node.graph.opsets.get(domain, 1), domain) is not None:
            continue
        operator = node.attrs.get("operator")
        op = f"{node.op}.{operator}" if isinstance(operator, str) else node.op
        if (domain, op) in places:
            continue
        view = NodeView(node)
        for declared in knowing:
            evaluate = declared.evaluate
            if evaluate is not None and declared.matches_node(view) and _knows(declared, view):
                places[(domain, op)] = _place(evaluate)
                break
    return places


def _knows(declared: Pass, view: NodeView) -> bool:
    """Say whether a pass that matches the node's operator also knows what the node calls."""
    from graphfix.features import operator_feature

    operator = view.node.attrs.get("operator")
    feature = operator_feature(view.op, view.domain, operator if isinstance(operator, str) else "")
    return declared.removes_feature(feature)


def _place(function: Evaluate) -> str:
    module = function.__module__
    if module.startswith("graphfix.passes."):
        return f"{module}:{function.__name__}"
    return f"{function.__code__.co_filename}:{function.__name__}"
