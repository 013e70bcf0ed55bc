"""Pass files that are wrong, models with names to be kept secret, and runs over both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx

import graphfix
from graphfix.pipeline.validation import Validity, validity_of
from graphfix.report import Reproduced

HEAD = "import numpy as np\nfrom graphfix import EXACT, graph_pass, rewrite\n\n\n"
ELEMENT = """
@rewrite("Neg", emits=("Mul",), accuracy=EXACT)
def wrong(node, build):
    factor = np.full((3, 4), -1.0, np.float32)
    factor[1, 2] = -1.01
    return build.Mul(node.inputs[0], factor)
"""
INFINITE = """
@rewrite("Neg", emits=("Mul", "Add", "Neg"), accuracy=EXACT, claims="inf")
def wrong(node, build):
    x = node.inputs[0]
    return build.Add(build.Neg(x), build.Mul(x, 0.0))
"""
RAISES = """
@rewrite("Abs", emits=("Mul",), accuracy=EXACT)
def raises(node, build):
    raise ValueError(f"cannot do {node.inputs[0].name}")
"""
UNSOUND = """
@rewrite("Abs", emits=("Softmax",), accuracy=EXACT)
def unsound(node, build):
    return build.Softmax(node.inputs[0], axis=7)
"""
NEEDS_NEIGHBOUR = """
@rewrite("Abs", emits=("Mul",), accuracy=EXACT)
def needs_neighbour(node, build):
    before = node.inputs[0].producer
    assert before is None or before.op != "MatMul", "after a MatMul"
    from graphfix import Refuse
    raise Refuse("nothing to do")
"""
STRAY = """
@graph_pass(accuracy=EXACT)
def stray(editor):
    for graph in editor.graphs():
        for constant in graph.initializers:
            constant.values = np.asarray(constant.values) * 2
"""
WEIGHTS = """
@rewrite("MatMul", emits=("MatMul",), accuracy=EXACT)
def weights(node, build):
    w = build.need_const(node.inputs[1], "the weights")
    return build.MatMul(node.inputs[0], w * np.where(w > 0, 1, 1.01).astype(w.dtype))
"""
NAMES = (
    *("secret_graph", "secret_in", "secret_a", "secret_b", "secret_w", "secret_node"),
    *("secret_batch", "secret_producer", "secret_doc", "secret_key", "secret_value"),
)


def secret_model() -> onnx.ModelProto:
    """Return a model whose names, texts and weights no one is to know."""
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 13]>
        secret_graph (float[3, 4] secret_in, float[secret_batch] other)
            => (float[3, 4] y, float[3, 4] z, float[secret_batch] last) {
          [secret_node] secret_a = Neg (secret_in)
          [secret_node_2] secret_b = MatMul (secret_a, secret_w)
          y = Abs (secret_b)
          z = Relu (secret_a)
          last = Sqrt (other)
        }
        """
    )
    weights = np.random.default_rng(4711).standard_normal((4, 4)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "secret_w"))
    model.producer_name = "secret_producer"
    model.metadata_props.add(key="secret_key", value="secret_value")
    for node in model.graph.node:
        node.doc_string = "secret_doc"
        node.metadata_props.add(key="secret_key", value="secret_value")
    return model


def pass_file(folder: Path, source: str) -> Path:
    """Write a pass file; it is named after the pass."""
    name = source.split("def ")[1].split("(")[0]
    path = folder / f"{name}.py"
    path.write_text(HEAD + source, encoding="utf-8")
    return path


def reproduced(
    folder: Path, source: str, model: onnx.ModelProto | Path | None = None, **asked: Any
) -> Reproduced:
    """Run a wrong pass over a model; return the only reproducer that is left in ``folder/kept``."""
    path = pass_file(folder, source)
    result = graphfix.run(
        model or secret_model(),
        passes=[path.stem],
        pass_files=[path],
        reproducers=folder / "kept",
        **asked,
    )
    (made,) = result.report.reproducers
    return made


def kept_model(folder: str | Path) -> onnx.ModelProto:
    """Return the model of a folder, which ONNX has nothing against."""
    model = graphfix.load(Path(folder) / "model.onnx")
    assert validity_of(model) == Validity("", "")
    return model.to_proto()
