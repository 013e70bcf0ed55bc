"""Ask a real engine about small graphs that its rules were made for, and write down its verdicts.

    python -m benchmarks.engines.graphs tflite1.29 [--new]

The graphs are in ``facts/graphs.json`` of the family: for each target, the opset and the text of a
graph -> what becomes of it in the engine: ``equal``, ``wrong``, ``refused`` or ``crashed``. A graph
that is put in with an empty verdict gets one; ``--new`` asks about such graphs alone. A test holds
``graphfix check`` against the verdicts. What onnxruntime computes is right.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from onnx import ModelProto, parser

from benchmarks.differential.judge import run, session
from benchmarks.differential.scope import Array
from benchmarks.engines.kernels import Asker, facts_of, written
from graphfix.ir.storage.weights import dtype_of

GRAPHS = "graphs.json"
_SECONDS = 300.0


def model_of(key: str) -> ModelProto:
    """Return the model of a key such as ``17 (float[2] x) => (float[2] y) { y = Neg (x) }``."""
    opset, _, graph = key.partition(" ")
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}')


def _drawn(model: ModelProto) -> dict[str, Array]:
    """Return inputs: floats around 0, integers below 3, divisors from 1 on, and bools."""
    numbers = np.random.default_rng(0)
    divisors = {node.input[1] for node in model.graph.node if node.op_type in ("Div", "Mod")}
    feed: dict[str, Array] = {}
    for info in model.graph.input:
        tensor = info.type.tensor_type
        shape = [dim.dim_value or 3 for dim in tensor.shape.dim]
        dtype = dtype_of(tensor.elem_type)
        assert dtype is not None, info.name
        drawn = numbers.normal(size=shape) if dtype.kind == "f" else numbers.integers(0, 3, shape)
        feed[info.name] = np.asarray(drawn + (info.name in divisors)).astype(dtype)
    return feed


def verdict(key: str, asker: Asker) -> str:
    """Return what becomes of one graph."""
    model = model_of(key)
    feed = _drawn(model)
    names = [info.name for info in model.graph.output]
    expected = dict(zip(names, run(session(model), feed), strict=True))
    with written(model) as path:
        return asker.verdict(path, feed, expected)[0]


def main() -> None:
    """Run from the command line."""
    command = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    command.add_argument("engine", metavar="TARGET")
    command.add_argument("--new", action="store_true", help="only graphs without a verdict")
    given = command.parse_args()
    path = facts_of(given.engine, GRAPHS)
    store: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    asker = Asker(given.engine, seconds=_SECONDS)
    for key, said in store[given.engine].items():
        if not (given.new and said):
            store[given.engine][key] = verdict(key, asker)
            text = json.dumps(store, indent=1, ensure_ascii=False)
            path.write_text(text + "\n", encoding="utf-8")
    asker.close()


if __name__ == "__main__":
    main()
