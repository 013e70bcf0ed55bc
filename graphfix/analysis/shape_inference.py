"""ONNX's shape inference of a whole model, kept from the nodes that bring the process down.

A few operators of onnx read the type of their input without asking whether there is one
(defs/generator/utils.h and defs/traditionalml/defs.cc, onnx 1.23); GatherND takes any number for
batch_dims. Where that would end the process, such a node is hidden from inference until what it
reads has a type.

Tensors of subgraphs are distinguished that share a name: see `graphfix.ir.protos`.

Windows of pools that begin after the input are counted before opset 22, and left out by those who
run them: see `graphfix.analysis.late_windows`.

STFT without `onesided` is 1 of it (its page and schema), which inference takes for 0
(defs/math/defs.cc, onnx 1.23): it is shown the node with the default written out.

What it computes of shapes it hands through every Cast, and through arithmetic in int32, as if all
were int64 (defs/tensor/old.cc and defs/data_propagators.h, onnx 1.23): 300 as uint8 is 300, not
44. Casts to other types than int64, and sums and products of int32, are shown as operators of
which it follows the types alone. What is known of them, `graphfix.analysis.folding` computes.

Ranks and sizes that it leaves open, and that follow all the same, `learned_sizes` has.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Mapping
from typing import Any

import onnx
from msgspec import Struct
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

from graphfix.analysis.piecewise_inference import has_many_subgraphs, infer_in_pieces
from graphfix.ir.protos import (
    all_graphs,
    all_nodes,
    copied,
    may_have_subgraphs,
    nodes_of_model,
    put_apart,
    restored,
    subgraphs_of,
)

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
OVERRIDABLE_FROM = 4  # the IR version from which an initializer may be an input with a default
_CEIL_MODE = "ceil_mode"
_CAST = "Cast"
# Stands for a Cast: the shape of its input, the type of its attribute.
_OF_A_TYPE = "RandomUniformLike"
_ARITHMETIC, _OF_A_PAIR = frozenset({"Add", "Mul", "Sub"}), "Div"
_FOLLOWED = frozenset(
    {"Add", "Concat", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Sub", "Unsqueeze"}
)

# What inference raises of a model that it does not take; anything else is a fault of ours.
REFUSALS = (
    onnx.shape_inference.InferenceError,
    onnx.checker.ValidationError,
    RuntimeError,
    ValueError,
)


def infer_shapes(model: ModelProto | bytes, **options: bool) -> ModelProto:
    """Return a copy with types and shapes, as `onnx.shape_inference.infer_shapes` does.

    Args:
        model: The model, which is not changed, or its bytes: inference takes several times the
            memory of a proto, which need not be held meanwhile. Of bytes, initializers that a
            caller may override are read as constants; see `as_called`.
        options: `check_type`, `strict_mode`, `data_prop`.

    Raises:
        onnx.shape_inference.InferenceError: As there.
    """
    if isinstance(model, bytes):
        return _apart(model, options)
    shown = as_called(model)
    inferred = _apart(shown.SerializeToString(), options)
    if shown is not model:
        stored_as_in(model, inferred)
    return inferred


def _apart(raw: bytes, options: dict[str, bool]) -> ModelProto:
    """Infer a model whose subgraphs share no names, and give them their names back."""
    if not may_have_subgraphs(raw):
        return _as_run(raw, options)
    apart = ModelProto.FromString(raw)
    renamed = put_apart(apart)
    inferred = _as_run(apart.SerializeToString() if renamed else raw, options)
    restored(inferred, renamed)
    return inferred


def as_called(model: ModelProto) -> ModelProto:
    """Return a model whose initializers that a caller may override are inputs and nothing else.

    Inference takes their values for constants and computes shapes with them. A model without any
    is returned itself.
    """
    given = (
        {info.name for info in model.graph.input} if model.ir_version >= OVERRIDABLE_FROM else ()
    )
    kept = [tensor for tensor in model.graph.initializer if tensor.name not in given]
    if not given or len(kept) == len(model.graph.initializer):
        return model
    graph = GraphProto()
    for field, value in model.graph.ListFields():
        if field.name == "initializer":
            graph.initializer.extend(kept)
        elif field.is_repeated:
            getattr(graph, field.name).extend(value)
        else:
            setattr(graph, field.name, value)
    shown = ModelProto(graph=graph)
    for field, value in model.ListFields():
        if field.name != "graph" and field.is_repeated:
            getattr(shown, field.name).extend(value)
        elif field.name != "graph":
            setattr(shown, field.name, value)
    return shown


def stored_as_in(model: ModelProto, inferred: ModelProto) -> None:
    """Give a model that was inferred from `as_called` the initializers that it came with."""
    del inferred.graph.initializer[:]
    inferred.graph.initializer.extend(model.graph.initializer)


class _Shown(Struct):
    """How a node is shown to inference, and what it was.

    Attributes:
        op: The operator that it is.
        shown: The operator that stands for it.
        spelled: The attribute that is written out; None for none.
    """

    op: str
    shown: str
    spelled: AttributeProto | None

    def show(self, node: NodeProto) -> None:
        node.op_type = self.shown
        if self.spelled is not None:
            node.attribute.append(self.spelled)

    def restore(self, node: NodeProto) -> None:
        node.op_type = self.op
        if self.spelled is not None:
            del node.attribute[-1]


def _as_run(raw: bytes, options: dict[str, bool]) -> ModelProto:
    """Infer a model, with the sizes that its pools have when they run."""
    inferred = _as_meant(raw, options)
    if _CEIL_MODE.encode() not in raw:
        return inferred
    from graphfix.analysis.late_windows import left_out

    return left_out(raw, inferred, lambda other: _as_meant(other, options))


def _as_meant(raw: bytes, options: dict[str, bool]) -> ModelProto:
    """Infer a model, with other nodes in the place of those that inference misreads."""
    follows = options.get("data_prop", False) and _CAST.encode() in raw
    if not follows and _MISREAD.encode() not in raw:
        return _inferred(raw, options)
    model = ModelProto.FromString(raw)
    narrow = _narrow(model) if follows else set[str]()
    changed = [_shown(node, narrow, follows=follows) for node in nodes_of_model(model)]
    if any(changed):
        for node, change in zip(nodes_of_model(model), changed, strict=True):
            if change is not None:
                change.show(node)
        raw = model.SerializeToString()
    del model  # a tenth of what inference takes
    inferred = _inferred(raw, options)
    for node, change in zip(nodes_of_model(inferred), changed, strict=True):
        if change is not None:
            change.restore(node)
    return inferred


def _shown(node: NodeProto, narrow: set[str], *, follows: bool) -> _Shown | None:
    """Return what stands for a node while inference looks at it; None for the node itself."""
    if _lacks_default(node):
        return _Shown(node.op_type, node.op_type, _SPELLED)
    if not follows or node.domain not in ("", "ai.onnx"):
        return None
    if node.op_type == _CAST:
        to = next((a for a in node.attribute if a.name == "to"), None)
        if to is None or to.type != AttributeProto.INT or to.i == TensorProto.INT64:
            return None
        return _Shown(_CAST, _OF_A_TYPE, onnx.helper.make_attribute("dtype", to.i))
    if node.op_type in _ARITHMETIC and not narrow.isdisjoint(node.input):
        return _Shown(node.op_type, _OF_A_PAIR, None)
    return None


def _narrow(model: ModelProto) -> set[str]:
    """Return the names of int32 that inference computes with, as if it were int64."""
    graphs = [*all_graphs(model.graph)]
    narrow = {t.name for g in graphs for t in g.initializer if t.data_type == TensorProto.INT32}
    for node in nodes_of_model(model):
        if node.op_type == "Constant":
            made = any(
                a.t.data_type == TensorProto.INT32 for a in node.attribute if a.name == "value"
            )
        else:
            made = node.op_type in _FOLLOWED and not narrow.isdisjoint(node.input)
        if made:
            narrow.update(node.output)
    return narrow


def read_by_inference(node: NodeProto, types: Mapping[str, TypeProto | None]) -> NodeProto:
    """Return a node as inference is to read it: itself, or a copy with other attributes.

    Args:
        node: The node.
        types: Of what it reads, as far as they are known.
    """
    if any(each.name == _CEIL_MODE and each.i for each in node.attribute):
        from graphfix.analysis.late_windows import without_last_window

        shown = without_last_window(node, types.get(node.input[0]))
        return node if shown is None else shown
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
            if may_have_subgraphs(raw) and has_many_subgraphs(raw):
                return infer_in_pieces(
                    ModelProto.FromString(raw),
                    lambda model: onnx.shape_inference.infer_shapes(model, **options),
                )
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
    which then lie next to what is taken next.
    """
    if len(raw) > _LARGE:
        with contextlib.suppress(AttributeError, OSError, TypeError):  # only glibc has it
            ctypes.CDLL(None).malloc_trim(0)


def _hide(proto: ModelProto) -> int:
    """Give nodes that must not be looked at a domain that no one knows; return their number."""
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
        hidden += sum(_hide_in(body, typed) for body in subgraphs_of(node))
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
