"""Ask a real engine which inputs it takes as constants alone: a model of each that is given one.

    python -m benchmarks.engines.parameters --engine tvm0.27

Written is ``facts/constants.json`` of the family: operator -> the inputs with which a model was
refused that the engine takes where they are constants.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from onnx import numpy_helper

from benchmarks.engines.kernels import Asker, family_of
from graphfix.operators.table import REDUCTIONS

# The input in question is p: int64, of the numbers after the graph.
_MODELS: dict[str, tuple[str, list[int]]] = {
    "CumSum.axis": ("(float[2,2] x, int64 p) => (float[2,2] y) { y = CumSum (x, p) }", [1]),
    "ConstantOfShape.input": ("(int64[2] p) => (float[n,m] y) { y = ConstantOfShape (p) }", [2, 3]),
    "Expand.shape": ("(float[2,1] x, int64[2] p) => (float[n,m] y) { y = Expand (x, p) }", [2, 3]),
    "OneHot.depth": (
        "(int64[2] x, int64[1] p) => (float[2,n] y) <float[2] v = {0,1}> { y = OneHot (x, p, v) }",
        [3],
    ),
    "Pad.pads": ("(float[2,2] x, int64[4] p) => (float[n,m] y) { y = Pad (x, p) }", [1, 0, 0, 0]),
    **{
        f"{op}.axes": (f"(float[2,2] x, int64[1] p) => (float[n,m] y) {{ y = {op} (x, p) }}", [1])
        for op in REDUCTIONS
    },
    "Resize.scales": (
        "(float[1,1,2,2] x, int64[4] p) => (float[a,b,c,d] y)"
        "{ s = Cast <to = 1> (p) y = Resize (x, , s) }",
        [1, 1, 2, 2],
    ),
    "Resize.sizes": (
        "(float[1,1,2,2] x, int64[4] p) => (float[a,b,c,d] y) { y = Resize (x, , , p) }",
        [1, 1, 4, 4],
    ),
    "Slice.starts": (
        "(float[4] x, int64[1] p) => (float[n] y) <int64[1] e = {4}> { y = Slice (x, p, e) }",
        [1],
    ),
    "Slice.ends": (
        "(float[4] x, int64[1] p) => (float[n] y) <int64[1] s = {0}> { y = Slice (x, s, p) }",
        [2],
    ),
    "Split.split": (
        "(float[4] x, int64[2] p) => (float[n] y, float[m] z) { y, z = Split (x, p) }",
        [1, 3],
    ),
    "Squeeze.axes": ("(float[2,1] x, int64[1] p) => (float[n] y) { y = Squeeze (x, p) }", [1]),
    "Tile.repeats": ("(float[2,2] x, int64[2] p) => (float[n,m] y) { y = Tile (x, p) }", [2, 1]),
    "TopK.K": (
        "(float[4] x, int64[1] p) => (float[n] y, int64[n] i) { y, i = TopK (x, p) }",
        [2],
    ),
    "Trilu.k": ("(float[2,2] x, int64[1] p) => (float[2,2] y) { y = Trilu (x, p) }", [0]),
    "Unsqueeze.axes": ("(float[2] x, int64[1] p) => (float[n,m] y) { y = Unsqueeze (x, p) }", [1]),
}


def asked(asker: Asker, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the operators and inputs that are taken as constants and refused otherwise."""
    for name, (graph, numbers) in _MODELS.items():
        given = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> g {graph}')
        (last,) = [info for info in given.graph.input if info.name == "p"]
        values = np.array(numbers, dtype=np.int64)
        if not last.type.tensor_type.shape.dim:
            values = values.reshape(())
        constant = onnx.ModelProto.FromString(given.SerializeToString())
        constant.graph.initializer.append(numpy_helper.from_array(values, "p"))
        kept = [info for info in given.graph.input if info.name != "p"]
        del constant.graph.input[:]
        constant.graph.input.extend(kept)
        feed = {info.name: _sample(info) for info in kept}
        wanted = [info.name for info in given.graph.output]
        session: Any = onnxruntime.InferenceSession(given.SerializeToString())
        results: list[Any] = session.run(None, {**feed, "p": values})
        expected = {key: np.asarray(value) for key, value in zip(wanted, results, strict=True)}
        verdicts: list[str] = []
        for model, inputs in ((constant, feed), (given, {**feed, "p": values})):
            path = folder / "model.onnx"
            path.write_bytes(model.SerializeToString())
            verdicts.append(asker.verdict(path, inputs, expected)[0])
        if verdicts[0] == "equal" and verdicts[1] != "equal":
            op, _, parameter = name.partition(".")
            yield op, parameter


def _sample(info: onnx.ValueInfoProto) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    tensor = info.type.tensor_type
    shape = [dim.dim_value for dim in tensor.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", required=True, metavar="TARGET")
    given = parser.parse_args()
    asker = Asker(given.engine, seconds=60.0)
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for op, parameter in asked(asker, Path(folder)):
            found.setdefault(op, []).append(parameter)
    asker.close()
    lines = ",\n".join(f" {json.dumps(op)}: {json.dumps(names)}" for op, names in found.items())
    family = family_of(given.engine).folder
    assert family is not None
    path = family / "facts" / "constants.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
