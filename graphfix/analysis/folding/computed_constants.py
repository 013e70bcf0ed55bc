"""Computing constants that numpy does not vouch for: in onnxruntime, in a child process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, numpy_helper

from graphfix.analysis.packed_products import by_formula
from graphfix.analysis.saturation import unsaturated
from graphfix.errors import EngineFailed
from graphfix.ir.protos import with_graph
from graphfix.worker.limits import Limits
from graphfix.worker.service import OutOfTime, ask
from graphfix.worker.sessions import open_session

Array = np.ndarray[Any, Any]
SECONDS = 120
MEMORY = 8 << 30
TASK = "graphfix.analysis.folding.computed_constants:answer"
SOURCE = "model.onnx"
VALUES = "values.npz"


def run_constants(model: ModelProto) -> dict[str, Array]:
    """Run a model without inputs in a child process and return its outputs by name.

    Where the model cannot be run as a whole its nodes are run one by one; outputs of nodes that
    fail, and of those that need them, are left out.

    Raises:
        EngineFailed: onnxruntime crashed, or ran out of memory or time.
    """
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        source = Path(folder) / SOURCE
        source.write_bytes(model.SerializeToString())
        limits = Limits(SECONDS, MEMORY)
        try:
            ask(TASK, Path(folder), None, limits, NoneType)
        except OutOfTime as error:
            raise EngineFailed(f"folding {error.message}") from None
        except EngineFailed as error:
            raise EngineFailed(f"onnxruntime cannot fold: {error.message}") from None
        names = [output.name for output in model.graph.output]
        with np.load(Path(folder) / VALUES) as values:
            return {name: values[f"v{i}"] for i, name in enumerate(names) if f"v{i}" in values}


def answer(folder: Path, _: None, __: Limits) -> None:
    """Compute the outputs of the model in a folder; in a child."""
    model = ModelProto.FromString((folder / SOURCE).read_bytes())
    values = computed(model)
    names = {output.name: index for index, output in enumerate(model.graph.output)}
    arrays: dict[str, Any] = {f"v{names[name]}": value for name, value in values.items()}
    np.savez(folder / VALUES, **arrays)


def computed(model: ModelProto) -> dict[str, Array]:
    """Run a model without inputs in this process; what cannot be computed is left out."""
    try:
        return _run(model)
    except Exception:
        return _one_by_one(model)


def _run(model: ModelProto) -> dict[str, Array]:
    session = open_session(by_formula(unsaturated(model)).SerializeToString())
    names = [output.name for output in model.graph.output]
    return {n: np.asarray(v) for n, v in zip(names, session.run(None, {}), strict=True)}


def _one_by_one(model: ModelProto) -> dict[str, Array]:
    known = {tensor.name: tensor for tensor in model.graph.initializer}
    infos = {output.name: output for output in model.graph.output}
    values: dict[str, Array] = {}
    for node in model.graph.node:
        if not all(name in known for name in node.input if name):
            continue
        graph = GraphProto(
            name=model.graph.name,
            node=[node],
            initializer=[known[name] for name in dict.fromkeys(node.input) if name],
            output=[infos[name] for name in node.output if name],
        )
        try:
            found = _run(with_graph(model, graph))
        except Exception:
            continue
        values.update(found)
        for name, value in found.items():
            known[name] = numpy_helper.from_array(value, name)
    return values
