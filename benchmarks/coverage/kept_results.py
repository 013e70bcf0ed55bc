"""Some of PyTorch's results of cells, kept for the tests of numpy models.

python -m benchmarks.coverage keep FOLDER PASS...   (adds to fixtures/aten/results.npz)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from benchmarks.coverage.cell_results import INDEX
from benchmarks.coverage.models import Array
from graphfix.authoring.registry import shipped_passes

OUTPUT = Path(__file__).resolve().parents[2] / "fixtures" / "aten" / "results.npz"
_MOST = 7  # calls of a pass
_SMALL = 300  # elements of one


def keep(folder: Path, passes: Sequence[str]) -> int:
    """Add calls of passes, and return how many."""
    with np.load(OUTPUT) as stored:
        kept: dict[str, Any] = {name: stored[name] for name in stored.files}
    index = [json.loads(line) for line in (folder / INDEX).read_text("utf-8").splitlines()]
    fixed = [entry for entry in index if entry["cell"].endswith("/static")]
    count = 0
    for wanted in passes:
        names = _operators(wanted)
        found = [e for e in fixed if e["cell"].partition(".")[0] in names]
        first = {e["cell"].partition("/")[0]: e for e in reversed(found)}
        calls = [call for e in first.values() for call in _calls(folder, e)]
        for name, arrays in calls[:: max(1, -(-len(calls) // _MOST))]:
            mark = f"{wanted.replace('-', '_')}.{name.replace('.', '_')}"
            kept |= {f"{mark}.{part}": array for part, array in arrays.items()}
            kept[f"{mark}.operator"] = np.array(name)
            count += 1
    np.savez_compressed(OUTPUT, allow_pickle=False, **kept)
    return count


def _operators(wanted: str) -> set[str]:
    declared = next(one for one in shipped_passes() if one.id == wanted)
    return {feature.removeprefix("op:aten::") for feature in declared.removes}


def _calls(folder: Path, entry: dict[str, Any]) -> Iterator[tuple[str, dict[str, Array]]]:
    """Yield (operator, arrays) of a cell, unless it has lists of tensors or many elements."""
    path = folder / f"{entry['file']}.onnx"
    graph = onnx.load_from_string(path.read_bytes()).graph
    if len(graph.node) != 1:
        return
    constants = {tensor.name: tensor for tensor in graph.initializer}
    arrays: dict[str, Array] = {}
    with np.load(folder / f"{entry['file']}.npz") as stored:
        for at, name in enumerate(graph.node[0].input):
            if name:
                known = constants.get(name)
                arrays[f"in{at}"] = stored[name] if known is None else _constant(known)
        for at in range(len(graph.node[0].output)):
            arrays[f"out{at}"] = stored[f"e{at}"]
    if sum(array.size for array in arrays.values()) <= _SMALL:
        yield entry["cell"].partition("/")[0].rstrip("."), arrays


def _constant(tensor: TensorProto) -> Array:
    if tensor.data_type == TensorProto.STRING:
        return np.array(tensor.string_data[0].decode())
    return numpy_helper.to_array(tensor)
