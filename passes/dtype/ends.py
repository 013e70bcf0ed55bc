"""Declare inputs and outputs in a type that the engine has, by consent.

What it does: Declares inputs and outputs of bfloat16, float16 and float64 as float32, of uint8,
    int16 and uint16 as int32, of uint32 as int64, and of bool, int32 and int64 as float32, one pass
    for each (and one for int32 and int64 that leaves alone inputs that are indices of stored
    tables), and casts after inputs and before outputs, so that the model computes as before; what
    is computed in between is for bfloat16-to-float32 and its like. Inputs of uint8 that are only
    cast are left to uint8-input-by-cast. It runs only with --allow-io-change (float64, int32 and
    int64 with --allow-lossy as well), and the report names each change as old -> new.
Why engines need it: TensorRT before 8.0 takes no float64, before 8.5 no uint8 ("Unsupported ONNX
    data type: UINT8 (2)"), before 9.0 no bfloat16, and none takes int16, uint16 and uint32 ("Failed
    to convert ONNX date type to TensorRT data type."). ncnn has float32 alone, and reads indices of
    tables.
Before:
    x: uint16[4]
    y = Add (x, x)                     # uint16
After:
    x: int32[4]
    y = Cast <to = 6> (Add (Cast <to = 4> (x), Cast <to = 4> (x)))
When it refuses: Without --allow-io-change, and without --allow-lossy for float64, int32 and int64;
    an output that is returned twice, or by a node with subgraphs.
Accuracy: Exact for the values that the old type can have, which is what the caller has to continue
    feeding. float64 is lossy: inputs and outputs are rounded to 24 bits, and so is what is computed
    in between. int32 and int64 as float32 are, too: integers are distinguished up to 2^24.
References: convertDtype in onnx2trt_utils.cpp of onnx-tensorrt, releases 7.2, 8.0, 8.6 (line 346)
    and 9.3; NVIDIA/TensorRT issues 1022, 2592; pnnx 20261020 binds no bools
"""

from collections.abc import Collection, Mapping
from functools import partial

from onnx import TensorProto

from graphfix.authoring import (
    INTERFACE,
    LOSSY,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    Variable,
    graph_pass,
)

from ._retyping import unchanged

_WHOLE = dict.fromkeys((int(TensorProto.INT32), int(TensorProto.INT64)), int(TensorProto.FLOAT))
_COUNTED = frozenset({"Reshape", "Squeeze", "Unsqueeze"})
_ROUNDED = (TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64)


def _ends_of(*names: str) -> tuple[str, ...]:
    """Return the features of inputs and outputs of these types."""
    return tuple(f"io:{name}-{end}" for name in names for end in ("input", "output"))


def _retype_ends(
    editor: Editor,
    wider: Mapping[int, int],
    *,
    but_for_casts: bool = False,
    but: Collection[Value] = (),
) -> None:
    """Declare inputs and outputs wider, and cast where the model reads or computes them.

    Args:
        editor: What to edit with.
        wider: Element type -> the one that is declared instead.
        but_for_casts: Leave inputs alone that nothing but Cast reads.
        but: Inputs that are left alone.
    """
    graph = editor.model.graph
    for tensor in list(graph.inputs):
        if not isinstance(tensor, Variable) or tensor.elem_type not in wider:
            continue
        if Value(tensor) in but:
            continue
        uses = Value(tensor).consumers
        if any(any(True for _ in use.node.graphs()) for use in uses):
            editor.refuse(
                uses[0], f"no node with subgraphs may read input {tensor.name}; {uses[0].op} does"
            )
            continue
        plain = all(use.op == "Cast" and not use.domain for use in uses)
        if tensor.output_count or (but_for_casts and uses and plain):
            continue
        if _read_by_casts(editor, tensor):
            _declare(editor, tensor, wider)
    for tensor in list(graph.outputs):
        maker = Value(tensor).producer
        if not isinstance(tensor, Variable) or tensor.elem_type not in wider or maker is None:
            continue
        if tensor.output_count > 1 or maker.graph is not graph:
            editor.refuse(
                maker,
                f"output {tensor.name} must be listed once and computed in its graph; it is not",
            )
            continue
        if any(True for _ in maker.node.graphs()):
            editor.refuse(
                maker,
                f"a node without subgraphs must compute output {tensor.name}; {maker.op} has some",
            )
            continue
        if not _read_by_casts(editor, tensor):
            continue
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
    rounds = tensor.elem_type in _ROUNDED and wider[tensor.elem_type] == TensorProto.FLOAT
    editor.change_type(tensor, wider[tensor.elem_type], unproved=rounds)


def _read_by_casts(editor: Editor, tensor: Variable) -> bool:
    """Let everything read a tensor by a cast to the type that it has, a new one where needed.

    Returns:
        Whether it is so; where one node cannot be given a cast, none is.
    """
    uses = [use for use in dict.fromkeys(Value(tensor).consumers) if use.op != "Cast" or use.domain]
    if any(editor.is_blocked(use) for use in uses):
        return False
    if not all(editor.can_replace(use, partial(_reading, use, tensor)) for use in uses):
        return False
    for use in uses:
        editor.replace(use, partial(_reading, use, tensor))
    return True


def _reading(use: NodeView, tensor: Variable, build: Builder) -> tuple[Value, ...]:
    if any(True for _ in use.node.graphs()):
        raise Refuse(f"what uses it must have no subgraphs; {use.op} has")
    cast = build.Cast(Value(tensor), to=tensor.elem_type)
    operands = [cast if v is not None and v.tensor is tensor else v for v in use.inputs]
    return unchanged(use, operands, build)


def _given_by_cast(maker: NodeView, tensor: Variable, build: Builder) -> tuple[Value | None, ...]:
    """Write the node that computes an output with a cast after it."""
    results = unchanged(maker, list(maker.inputs), build)
    return tuple(
        build.Cast(new, to=tensor.elem_type) if old is not None and old.tensor is tensor else new
        for old, new in zip(maker.outputs, results, strict=True)
    )


@graph_pass(removes=_ends_of("bfloat16"), emits="*::*", stage=INTERFACE)
def bfloat16_ends_to_float32(editor: Editor) -> None:
    """Declare bfloat16 inputs and outputs as float32."""
    _retype_ends(editor, {TensorProto.BFLOAT16: TensorProto.FLOAT})


@graph_pass(removes=_ends_of("bool"), emits="*::*", stage=INTERFACE)
def bool_ends_to_float32(editor: Editor) -> None:
    """Declare bool inputs and outputs as float32, where true is 1."""
    _retype_ends(editor, {TensorProto.BOOL: TensorProto.FLOAT})


@graph_pass(removes=_ends_of("float16"), emits="*::*", stage=INTERFACE)
def float16_ends_to_float32(editor: Editor) -> None:
    """Declare float16 inputs and outputs as float32."""
    _retype_ends(editor, {TensorProto.FLOAT16: TensorProto.FLOAT})


@graph_pass(removes=_ends_of("float64"), emits="*::*", stage=INTERFACE, accuracy=LOSSY)
def float64_ends_to_float32(editor: Editor) -> None:
    """Declare float64 inputs and outputs as float32."""
    _retype_ends(editor, {TensorProto.DOUBLE: TensorProto.FLOAT})


@graph_pass(removes=_ends_of("int16", "uint16", "uint32"), emits="*::*", stage=INTERFACE)
def integer_ends_to_wider(editor: Editor) -> None:
    """Give inputs and outputs of int16, uint16 and uint32 a type that engines have."""
    _retype_ends(
        editor,
        {
            TensorProto.INT16: TensorProto.INT32,
            TensorProto.UINT16: TensorProto.INT32,
            TensorProto.UINT32: TensorProto.INT64,
        },
    )


@graph_pass(removes=_ends_of("int32", "int64"), emits="*::*", stage=INTERFACE, accuracy=LOSSY)
def integer_ends_beside_indices_to_float32(editor: Editor) -> None:
    """Declare int32 and int64 inputs and outputs as float32, but for indices of stored tables.

    Where no input is such indices it does nothing: integer-ends-to-float32 does the same.
    """
    inputs = [Value(tensor) for tensor in editor.model.graph.inputs]
    indices = [value for value in inputs if _takes_rows_alone(value)]
    if indices:
        _retype_ends(editor, _WHOLE, but=indices)


def _takes_rows_alone(value: Value) -> bool:
    """Say whether an input has its sizes read, and else only takes rows of stored tables.

    A Reshape and its like may come before.
    """
    waiting, taken = [value], False
    while waiting:
        read = waiting.pop()
        for user in read.consumers:
            if user.op == "Shape" and not user.domain:
                continue
            result = user.output(0)
            if user.op in _COUNTED and user.input(0) == read and result is not None:
                waiting.append(result)
            elif not _takes_rows(user, read):
                return False
            else:
                taken = True
    return taken


def _takes_rows(user: NodeView, indices: Value) -> bool:
    if user.op != "Gather" or user.domain or user.attr("axis", 0):
        return False
    return user.need(0).is_constant and user.need(1) == indices


@graph_pass(removes=_ends_of("int32", "int64"), emits="*::*", stage=INTERFACE, accuracy=LOSSY)
def integer_ends_to_float32(editor: Editor) -> None:
    """Declare int32 and int64 inputs and outputs as float32."""
    _retype_ends(editor, _WHOLE)


@graph_pass(removes=_ends_of("uint8"), emits="*::*", stage=INTERFACE)
def uint8_ends_to_int32(editor: Editor) -> None:
    """Declare uint8 inputs and outputs as int32."""
    _retype_ends(editor, {TensorProto.UINT8: TensorProto.INT32}, but_for_casts=True)
