"""Ask a real engine about operators and element types, with one plain model for each.

    python -m benchmarks.engines.plain --family opencv opencv4.8 opencv4.10 opencv5.0

Where `benchmarks.engines.kernels` draws sizes and attributes, here everything but the element type
is as plain as it can be, so that what is refused is refused for its type. Operators that are not in
the table of forms are loaded as a bare node: what the engine says tells one that it lacks from one
that it has. Writes ``facts/plain.json`` of the family: for each target, the operators that it lacks
(``missing``), operator -> element type -> ``refused``, ``crashed`` or ``wrong`` (``types``), and
operator of com.microsoft -> the worst of these, or ``equal`` (``contrib``; `quantized_forms`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper
from onnx.defs import OpSchema
from onnx.reference import ReferenceEvaluator

from benchmarks import ROOT
from benchmarks.engines.kernels import Asker
from benchmarks.engines.quantized_forms import quantized
from graphfix.engines.engine import engine_of
from graphfix.engines.targets import load_target
from graphfix.errors import EngineFailed

Array = np.ndarray[Any, Any]
TYPES = ("float", "double", "float16", "int8", "uint8", "int32", "int64", "bool")
_OPSET = 17
_WORST = ("equal", "wrong", "refused", "crashed")

_PAIRS = "Add Sub Mul Div Max Min"
_COMPARED = "Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor"
_SINGLE = (
    "Abs Neg Relu Sign Floor Ceil Sqrt Exp Erf Sigmoid Tanh Not Softmax LogSoftmax Softplus"
    " Reciprocal Round HardSigmoid LeakyRelu"
)
_REDUCED = "ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare"
# Operator -> a graph of it; T stands for the type, {1,2} are made numbers of it.
_FORMS = {
    **{op: f"(T[2,3] x, T[2,3] y) => (T[2,3] z) {{ z = {op} (x, y) }}" for op in _PAIRS.split()},
    **{op: f"(T[2,3] x, T[2,3] y) => (bool[2,3] z) {{ z = {op} (x, y) }}"
       for op in _COMPARED.split()},
    **{op: f"(T[2,3] x) => (T[2,3] z) {{ z = {op} (x) }}" for op in _SINGLE.split()},
    **{op: f"(T[2,3] x) => (T[2,1] z) {{ z = {op} <axes = [1]> (x) }}" for op in _REDUCED.split()},
    "ArgMax": "(T[2,3] x) => (int64[2,1] z) { z = ArgMax <axis = 1> (x) }",
    "AveragePool": "(T[1,1,4,4] x) => (T[1,1,3,3] z)"
                   " { z = AveragePool <kernel_shape = [2,2]> (x) }",
    "Clip": "(T[2,3] x) => (T[2,3] z) <T lo = {1}, T hi = {2}> { z = Clip (x, lo, hi) }",
    "Concat": "(T[4,3] x, T[4,3] y) => (T[8,3] z) { z = Concat <axis = 0> (x, y) }",
    "Conv": "(T[1,1,4,4] x) => (T[1,1,3,3] z) <T[1,1,2,2] w = {1,2,3,4}>"
            " { z = Conv <kernel_shape = [2,2]> (x, w) }",
    "CumSum": "(T[2,3] x) => (T[2,3] z) <int64 a = {1}> { z = CumSum (x, a) }",
    "Expand": "(T[1,3] x) => (T[4,3] z) <int64[2] s = {4,3}> { z = Expand (x, s) }",
    "GatherElements": "(T[4,3] x) => (T[2,3] z) <int64[2,3] i = {0,1,2,1,2,3}>"
                      " { z = GatherElements (x, i) }",
    "GatherND": "(T[4,3] x) => (T[2,3] z) <int64[2,1] i = {0,2}> { z = GatherND (x, i) }",
    "Gemm": "(T[2,3] x) => (T[2,2] z) <T[3,2] y = {1,2,3,4,5,6}, T[2] c = {1,2}>"
            " { z = Gemm (x, y, c) }",
    "LayerNormalization": "(T[2,4] x) => (T[2,4] z) <T[4] s = {1,2,3,4}>"
                          " { z = LayerNormalization (x, s) }",
    "MatMul": "(T[2,3] x, T[3,2] y) => (T[2,2] z) { z = MatMul (x, y) }",
    "MaxPool": "(T[1,1,4,4] x) => (T[1,1,3,3] z) { z = MaxPool <kernel_shape = [2,2]> (x) }",
    "Mod": "(T[2,3] x, T[2,3] y) => (T[2,3] z) { z = Mod <fmod = 1> (x, y) }",
    "Pad": "(T[4,3] x) => (T[5,5] z) <int64[4] p = {0,1,1,1}> { z = Pad (x, p) }",
    "ReduceSum": "(T[2,3] x) => (T[2,1] z) <int64[1] a = {1}> { z = ReduceSum (x, a) }",
    "Reshape": "(T[4,3] x) => (T[2,6] z) <int64[2] s = {2,-1}> { z = Reshape (x, s) }",
    "ScatterElements": "(T[4,3] x, T[2,3] u) => (T[4,3] z) <int64[2,3] i = {0,1,2,1,2,3}>"
                       " { z = ScatterElements (x, i, u) }",
    "ScatterND": "(T[4,3] x, T[2,3] u) => (T[4,3] z) <int64[2,1] i = {0,2}>"
                 " { z = ScatterND (x, i, u) }",
    "Slice": "(T[4,3] x) => (T[2,3] z) <int64[1] s = {1}, int64[1] e = {3}, int64[1] a = {0}>"
             " { z = Slice (x, s, e, a) }",
    "TopK": "(T[2,3] x) => (T[2,2] z, int64[2,2] i) <int64[1] k = {2}> { z, i = TopK (x, k) }",
    "Transpose": "(T[4,3] x) => (T[3,4] z) { z = Transpose (x) }",
    "Where": "(bool[2,3] c, T[2,3] x, T[2,3] y) => (T[2,3] z) { z = Where (c, x, y) }",
}  # fmt: skip
_LACKING = re.compile(
    r"Can't create layer|\(bool\)layer in function|has_tensor_type|'Graph' is not supported"
    r"|STRING|'Strings'|not supported in function 'getLayerParams'"
)


def models() -> Iterator[tuple[str, str, ModelProto]]:
    """Yield operators with an element type, and a model of them."""
    for op, text in _FORMS.items():
        for name in TYPES:
            typed = re.sub(r"\bT\b", name, text)
            if name in ("float", "double", "float16"):
                typed = re.sub(rf"({name}\S* \w+ = ){{([^}}]*)}}", _with_points, typed)
            head = f'<ir_version: 8, opset_import: ["" : {_OPSET}]> g '
            try:
                yield op, name, onnx.parser.parse_model(head + typed)
            except onnx.parser.ParseError:
                continue  # the parser has no numbers of float16


def _with_points(match: re.Match[str]) -> str:
    return match[1] + "{" + ", ".join(f"{number}.0" for number in match[2].split(",")) + "}"


def inputs_of(model: ModelProto) -> dict[str, Array]:
    """Return inputs of a model: numbers from 1 on, and bools of both kinds."""
    draw = np.random.default_rng(1)
    known = {tensor.name for tensor in model.graph.initializer}
    found: dict[str, Array] = {}
    for value in model.graph.input:
        if value.name in known:
            continue
        kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if kind.kind == "b":
            found[value.name] = draw.random(sizes) > 0.5
        elif kind.kind == "f":
            found[value.name] = (draw.standard_normal(sizes) * 2).astype(kind)
        else:
            found[value.name] = draw.integers(1, 5, sizes).astype(kind)
    return found


def bare(schema: OpSchema) -> ModelProto:
    """Return a model of one node, whose inputs are floats of unknown use."""
    count = max(schema.min_input, 1 if schema.inputs else 0)
    names = [f"x{index}" for index in range(count)]
    node = helper.make_node(schema.name, names, ["y"])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in names]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph([node], "g", ends, [output])
    imports = [helper.make_opsetid("", min(schema.since_version + 20, 26))]
    return helper.make_model(graph, ir_version=8, opset_imports=imports)


def asked(target: str) -> dict[str, Any]:
    """Return the facts of one target."""
    asker = Asker(target)
    types: dict[str, dict[str, str]] = {}
    missing: set[str] = set()
    contrib: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        for op, name, model in models():
            feed = inputs_of(model)
            expected = _expected(model, feed)
            if expected is None:
                continue
            path.write_bytes(model.SerializeToString())
            verdict, _ = asker.verdict(path, feed, expected)
            types.setdefault(op, {})[name] = verdict
        for op, model, feed, expected in quantized():
            path.write_bytes(model.SerializeToString())
            verdict, _ = asker.verdict(path, feed, expected)
            contrib[op] = max(verdict, contrib.get(op, "equal"), key=_WORST.index)
        for schema in onnx.defs.get_all_schemas():
            if schema.domain or schema.name in _FORMS or schema.deprecated:
                continue
            path.write_bytes(bare(schema).SerializeToString())
            if _LACKING.search(_words(target, path)):
                missing.add(schema.name)
    asker.close()
    missing |= {op for op, found in types.items() if set(found.values()) == {"refused"}}
    bad = {
        op: {name: verdict for name, verdict in found.items() if verdict != "equal"}
        for op, found in sorted(types.items())
        if op not in missing
    }
    return {
        "missing": sorted(missing),
        "types": {op: found for op, found in bad.items() if found},
        "contrib": contrib,
    }


def _words(target: str, path: Path) -> str:
    """Return why an engine does not load a model; empty where it does or dies."""
    host = engine_of(load_target(target).family).host(target)
    try:
        host.load(path, {})
    except EngineFailed as refused:
        return refused.message
    finally:
        host.close()
    return ""


def _expected(model: ModelProto, feed: Mapping[str, Array]) -> dict[str, Array] | None:
    """Return what is right; None where ONNX has no such type."""
    try:
        onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
        evaluator: Any = ReferenceEvaluator(model)
        found = evaluator.run(None, dict(feed))
    except Exception:  # the reference evaluator raises anything
        return None
    names = [output.name for output in model.graph.output]
    return {name: np.asarray(value) for name, value in zip(names, found, strict=True)}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--family", required=True, help="the name of its folder")
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="oldest first")
    given = parser.parse_args()
    facts = {target: asked(target) for target in given.targets}
    path = ROOT / "graphfix" / "engines" / given.family / "facts" / "plain.json"
    path.parent.mkdir(exist_ok=True)
    lines = (f" {json.dumps(target)}: {json.dumps(found)}" for target, found in facts.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
