"""ONNX's shape inference of a whole model, kept from the nodes that bring the process down.

A few operators of onnx read the type of their input without asking whether there is one
(defs/generator/utils.h and defs/traditionalml/defs.cc, onnx 1.23); GatherND takes any number for
batch_dims. Where that would end the process, such a node is hidden from inference until what it
reads has a type.

STFT without `onesided` is 1 of it (its page and schema), which inference takes for 0
(defs/math/defs.cc, onnx 1.23): it is shown the node with the default written out.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import onnx
from onnx import GraphProto, ModelProto, NodeProto

from graphfix.protos import all_nodes, bodies_of, copied, nodes_of_model

_LARGE = 1 << 20  # bytes of a model from which on its memory is worth a look
_HIDDEN = "graphfix.hidden/"
_ML = "ai.onnx.ml"
_DOMAINS = ("", "ai.onnx", _ML)
_READS_A_TYPE = frozenset(
    {
        ("", "EyeLike"),
        ("", "RegexFullMatch"),
        (_ML, "DictVectorizer"),
        (_ML, "LabelEncoder"),
        (_ML, "TreeEnsemble"),
    }
)
# Where none of these names is in a file no node of it is at risk.
_NAMES = tuple(op.encode() for op in (*sorted({op for _, op in _READS_A_TYPE}), "GatherND"))
_MISREAD, _SPELLED = "STFT", onnx.helper.make_attribute("onesided", 1)


def infer_shapes(model: ModelProto | bytes, **options: bool) -> ModelProto:
    """Return a copy with types and shapes, as `onnx.shape_inference.infer_shapes` does.

    Args:
        model: The model, which is not changed, or its bytes: inference takes several times the
            memory of a proto, which need not be held meanwhile.
        options: `check_type`, `strict_mode`, `data_prop`.

    Raises:
        onnx.shape_inference.InferenceError: As there.
    """
    raw = model if isinstance(model, bytes) else model.SerializeToString()
    del model
    if _MISREAD.encode() not in raw:
        return _inferred(raw, options)
    shown = ModelProto.FromString(raw)
    spelled = [_lacks_default(node) for node in nodes_of_model(shown)]
    for node, lacking in zip(nodes_of_model(shown), spelled, strict=True):
        if lacking:
            node.attribute.append(_SPELLED)
    inferred = _inferred(shown.SerializeToString(), options)
    for node, lacking in zip(nodes_of_model(inferred), spelled, strict=True):
        if lacking:
            del node.attribute[-1]
    return inferred


def read_by_inference(node: NodeProto) -> NodeProto:
    """Return a node as inference is to read it: itself, or a copy with its default written out."""
    if not _lacks_default(node):
        return node
    spelled = copied(node)
    spelled.attribute.append(_SPELLED)
    return spelled


def _lacks_default(node: NodeProto) -> bool:
    return (
        node.op_type == _MISREAD
        and node.domain in ("", "ai.onnx")
        and all(attribute.name != _SPELLED.name for attribute in node.attribute)
    )


def _inferred(raw: bytes, options: dict[str, bool]) -> ModelProto:
    if not any(name in raw for name in _NAMES):
        _give_back(raw)
        try:
            return onnx.shape_inference.infer_shapes(raw, **options)
        finally:
            _give_back(raw)
    inferred = ModelProto.FromString(raw)
    before = -1
    while True:
        hidden = _hide(inferred)
        if hidden == before:
            _show(inferred)
            return inferred
        inferred = onnx.shape_inference.infer_shapes(inferred, **options)
        _show(inferred)
        if not hidden:
            return inferred
        before = hidden


def _give_back(raw: bytes) -> None:
    """Hand what was freed back to the system, where a model is large enough to matter.

    The C library does so of whole heaps alone. onnx takes 40 MB for 20,000 nodes and frees them,
    which then lie beside what is taken next.
    """
    if len(raw) > _LARGE:
        with contextlib.suppress(AttributeError, OSError, TypeError):  # only glibc has it
            ctypes.CDLL(None).malloc_trim(0)


def _hide(proto: ModelProto) -> int:
    """Give nodes that must not be looked at a domain that nobody knows; return their number."""
    hidden = _hide_in(proto.graph, frozenset())
    for function in proto.functions:  # its types are those of each call
        hidden += sum(_hide_node(node, frozenset()) for node in all_nodes(function.node))
    if hidden:
        made = [onnx.helper.make_opsetid(_HIDDEN + domain, 1) for domain in _DOMAINS]
        for imports in _imports(proto):
            imports.extend(made)
    return hidden


def _hide_in(graph: GraphProto, outer: frozenset[str]) -> int:
    typed = outer | frozenset(_typed(graph))
    hidden = 0
    for node in graph.node:
        hidden += _hide_node(node, typed)
        hidden += sum(_hide_in(body, typed) for body in bodies_of(node))
    return hidden


def _typed(graph: GraphProto) -> Iterator[str]:
    yield from (tensor.name for tensor in graph.initializer)
    for infos in (graph.input, graph.value_info, graph.output):
        for info in infos:
            kind: Any = info.type.WhichOneof("value")
            if kind and (kind != "tensor_type" or info.type.tensor_type.elem_type):
                yield info.name


def _hide_node(node: NodeProto, typed: frozenset[str]) -> int:
    domain = "" if node.domain == "ai.onnx" else node.domain
    if (domain, node.op_type) in _READS_A_TYPE:
        bad = not node.input or node.input[0] not in typed
    else:
        bad = (domain, node.op_type) == ("", "GatherND") and any(
            a.name == "batch_dims" and a.i < 0 for a in node.attribute
        )
    if bad:
        node.domain = _HIDDEN + node.domain
    return bad


def _show(proto: ModelProto) -> None:
    """Give hidden nodes their domain back."""
    for node in nodes_of_model(proto):
        node.domain = node.domain.removeprefix(_HIDDEN)
    for imports in _imports(proto):
        kept = [entry for entry in imports if not entry.domain.startswith(_HIDDEN)]
        if len(kept) != len(imports):
            del imports[:]
            imports.extend(kept)


def _imports(proto: ModelProto) -> Iterator[Any]:
    yield proto.opset_import
    yield from (function.opset_import for function in proto.functions)
