"""Replace what is known without running the model by constants.

What it does:
    Computes every node whose inputs are constants, and shape arithmetic on dimensions that shape
    inference knows: Shape of known dims (with start and end), and the elements of shape vectors
    that are known although others are not. The measure that it lowers is the number of nodes.

Why engines need it:
    TensorRT wants constants in most places where ONNX takes any value (pads, scales, axes, K,
    repeats), and it cannot compute two-dimensional shape tensors at all.

Before:
    s = Shape (x)               # x: float[1,3,32,32]
    h = Gather (s, 2)
    p = Concat (h, w)

After:
    p = constant {32, 32}

When it refuses:
    Random operators, Dropout, quantisation operators, control flow, sequences, strings; a result
    above `size_limit` bytes that is bigger than the constants it is made of, so that a file does
    not grow by folding; an output of the graph; a division by zero.

Accuracy:
    Exact. Integer, comparison and data movement operators are computed by numpy bit for bit; all
    others by onnxruntime with optimisations off, as it would compute them at run time.

References:
    https://onnx.ai/onnx/operators/ (each operator's page)
    onnx/onnx-tensorrt, docs/operators.md: restrictions of the form "must be an initializer"
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from graphfix.authoring.declaring import CANONICAL, Option, graph_pass
from graphfix.authoring.editing import Editor
from graphfix.authoring.views import NodeView
from graphfix.errors import EngineFailed
from graphfix.exporting import export_node, make_info
from graphfix.folding.knowing import Knowledge
from graphfix.folding.running import run_constants
from graphfix.graph import Constant, Graph, Node, Tensor
from graphfix.schemas import form_of, minimal_ir

Array = np.ndarray[Any, Any]

NEVER = frozenset(
    """RandomNormal RandomUniform RandomNormalLike RandomUniformLike Bernoulli Multinomial Dropout
    QuantizeLinear DequantizeLinear DynamicQuantizeLinear Constant Identity ConstantOfShape EyeLike
    If Loop Scan Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct
    SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence
    ConcatFromSequence StringNormalizer StringConcat StringSplit RegexFullMatch TfIdfVectorizer
    ImageDecoder""".split()
)


@graph_pass(
    stage=CANONICAL,
    removes=("const:*", "shape:*"),
    options={
        "size_limit": Option(int, 1 << 17, "a folded value may have this many bytes"),
    },
)
def fold_constants(editor: Editor) -> None:
    """Fold every scope, outer ones first; linear in nodes."""
    limit = int(editor.option("size_limit"))
    knowledge = Knowledge(limit)
    for root in editor.model.roots():
        _fold(editor, root, knowledge, limit)


def _fold(editor: Editor, graph: Graph, knowledge: Knowledge, limit: int) -> None:
    later: list[NodeView] = []
    ready: set[int] = set()
    for view in list(editor.nodes(graph)):
        for _, body in view.node.graphs():
            _fold(editor, body, knowledge, limit)
        values = knowledge.learn(view)
        if all(v is not None for v in values) and values:
            _replace(editor, view, [v for v in values if v is not None], limit)
        elif _foldable(view, ready, limit):
            later.append(view)
            ready.update(id(t) for t in view.node.outputs)
    if later:
        _fold_in_engine(editor, graph, later, limit)


def _replace(editor: Editor, view: NodeView, values: list[Array], limit: int) -> None:
    if not _wanted(view, values, limit):
        return
    # A constant takes over the name of what it stands for: the replaced names survive.
    names = [t.name for t in view.node.outputs]
    editor.replace(
        view,
        lambda build: tuple(
            build.constant(np.ascontiguousarray(value).reshape(value.shape), replaces=name)
            if name
            else None
            for value, name in zip(values, names, strict=True)
        ),
    )


def _wanted(view: NodeView, values: list[Array], limit: int) -> bool:
    outputs = view.outputs
    if any(o is not None and (o.is_graph_output or not o.is_tensor) for o in outputs):
        return False
    for output, value in zip(outputs, values, strict=True):
        if output is None:
            continue
        if output.dtype is not None and output.dtype != value.dtype:
            return False
        if output.shape is not None and len(output.shape) != value.ndim:
            return False
    size = sum(v.nbytes for v in values)
    return size <= max(limit, sum(_bytes(t) for t in view.node.inputs))


def _bytes(tensor: Tensor) -> int:
    return tensor.weights.nbytes if isinstance(tensor, Constant) else 0


def _foldable(view: NodeView, ready: set[int], limit: int) -> bool:
    """Say whether an engine could compute the node now: all inputs are constants."""
    if view.domain or view.op in NEVER or any(True for _ in view.node.graphs()):
        return False
    if form_of(view.op, view.opset, "") is None or not view.node.inputs:
        return False
    if any(isinstance(v, onnx.AttributeProto) for v in view.node.attrs.values()):
        return False
    total = 0
    for tensor, value in zip(view.node.inputs, view.inputs, strict=True):
        if value is None or id(tensor) in ready:
            continue
        if not value.is_constant or not value.is_tensor or value.type_name == "string":
            return False
        total += _bytes(tensor)
    size = 0
    for output in view.outputs:
        if output is None:
            continue
        shape, dtype = output.static_shape, output.dtype
        if shape is None or dtype is None or dtype.kind not in "biuf":
            return False
        size += int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return size <= max(limit, total)


def _fold_in_engine(editor: Editor, graph: Graph, views: list[NodeView], limit: int) -> None:
    model, outputs = _model_of(graph, views)
    try:
        values = run_constants(model)
    except EngineFailed as failure:
        for view in views:
            editor.refuse(view, failure.message)
        return
    for view in views:
        names = [t.name for t in view.node.outputs]
        if all(name in values for name in names if name) and set(names) & set(outputs):
            _replace(editor, view, [values[n] for n in names if n], limit)


def _model_of(graph: Graph, views: list[NodeView]) -> tuple[onnx.ModelProto, list[str]]:
    """Build a model without inputs that computes the given nodes."""
    model = onnx.ModelProto()
    opset = graph.opsets.get("", 1)
    model.ir_version = max(minimal_ir(opset), 4)
    model.opset_import.add(domain="", version=opset)
    model.graph.name = "fold"
    inside: set[int] = {id(t) for v in views for t in v.node.outputs}
    written: set[int] = set()
    outputs: list[str] = []
    for view in views:
        for tensor in view.node.inputs:
            if not tensor.name or id(tensor) in inside or id(tensor) in written:
                continue
            written.add(id(tensor))
            _add_constant(model, tensor)
        model.graph.node.add().CopyFrom(export_node(view.node))
        for tensor in view.node.outputs:
            if tensor.name:
                outputs.append(tensor.name)
                model.graph.output.add().CopyFrom(make_info(tensor))
    return model, outputs


def _add_constant(model: onnx.ModelProto, tensor: Tensor) -> None:
    if isinstance(tensor, Constant):
        proto = tensor.weights.proto
        if isinstance(proto, onnx.TensorProto) and proto.data_location != onnx.TensorProto.EXTERNAL:
            model.graph.initializer.add().CopyFrom(proto)
        else:
            array = onnx.numpy_helper.from_array(tensor.weights.load())
            array.data_type = tensor.elem_type
            model.graph.initializer.add().CopyFrom(array)
        model.graph.initializer[-1].name = tensor.name
    else:
        producer: Node = tensor.inputs[0]
        model.graph.node.add().CopyFrom(export_node(producer))

