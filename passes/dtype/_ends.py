"""Inputs and outputs of the model that get another element type, by consent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from onnx import TensorProto

from graphfix.authoring import Builder, Editor, NodeView, Refuse, Value, Variable
from graphfix.passes.dtype._retyping import unchanged


def ends_of(*names: str) -> tuple[str, ...]:
    """Return the features of inputs and outputs of these types."""
    return tuple(f"io:{name}-{end}" for name in names for end in ("input", "output"))


def retype_ends(editor: Editor, wider: Mapping[int, int], *, but_for_casts: bool = False) -> None:
    """Declare inputs and outputs wider, and cast where the model reads or computes them.

    Args:
        editor: What to edit with.
        wider: Element type -> the one that is declared instead.
        but_for_casts: Leave inputs alone that nothing but Cast reads.
    """
    graph = editor.model.graph
    for tensor in list(graph.inputs):
        if not isinstance(tensor, Variable) or tensor.elem_type not in wider:
            continue
        uses = Value(tensor).consumers
        if any(any(True for _ in use.node.graphs()) for use in uses):
            editor.refuse(uses[0], f"a node with bodies reads input {tensor.name}")
            continue
        plain = all(use.op == "Cast" and not use.domain for use in uses)
        if tensor.output_count or (but_for_casts and uses and plain):
            continue
        _read_by_casts(editor, tensor)
        _declare(editor, tensor, wider)
    for tensor in list(graph.outputs):
        maker = Value(tensor).producer
        if not isinstance(tensor, Variable) or tensor.elem_type not in wider or maker is None:
            continue
        if tensor.output_count > 1 or maker.graph is not graph:
            editor.refuse(maker, f"output {tensor.name} is given out twice")
            continue
        if any(True for _ in maker.node.graphs()):
            editor.refuse(maker, f"the bodies of {maker.op} give output {tensor.name}")
            continue
        _read_by_casts(editor, tensor)
        wide = wider[tensor.elem_type]
        if editor.replace(maker, partial(_given_by_cast, maker, tensor)):
            _declare(editor, tensor, wider)
            last = Value(tensor).producer
            assert last is not None
            source = last.need(0)
            # The type itself is what changes, which no comparison of this place allows for.
            editor.replace(last, partial(_cast, source, wide), unproved=True)


def _cast(source: Value, wide: int, build: Builder) -> Value:
    return build.Cast(source, to=wide)


def _declare(editor: Editor, tensor: Variable, wider: Mapping[int, int]) -> None:
    rounds = tensor.elem_type == TensorProto.DOUBLE
    editor.change_type(tensor, wider[tensor.elem_type], unproved=rounds)


def _read_by_casts(editor: Editor, tensor: Variable) -> None:
    """Let everything read a tensor by a cast to the type that it has, a new one where needed."""
    for use in dict.fromkeys(Value(tensor).consumers):
        if use.op != "Cast" or use.domain:
            editor.replace(use, partial(_reading, use, tensor))


def _reading(use: NodeView, tensor: Variable, build: Builder) -> tuple[Value, ...]:
    if any(True for _ in use.node.graphs()):
        raise Refuse(f"what uses it must have no bodies; {use.op} has")
    cast = build.Cast(Value(tensor), to=tensor.elem_type)
    operands = [cast if v is not None and v.tensor is tensor else v for v in use.inputs]
    return unchanged(use, operands, build)


def _given_by_cast(maker: NodeView, tensor: Variable, build: Builder) -> tuple[Value | None, ...]:
    """Write the node that computes an output with a cast behind it."""
    results = unchanged(maker, list(maker.inputs), build)
    return tuple(
        build.Cast(new, to=tensor.elem_type) if old is not None and old.tensor is tensor else new
        for old, new in zip(maker.outputs, results, strict=True)
    )
