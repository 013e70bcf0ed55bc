"""Move the elements of a shape vector without a second dimension.

What it does: Finds a vector that comes from another vector by Reshape, Slice, Transpose, Cast,
    Flatten, Squeeze and Unsqueeze through tensors of two dimensions or more, follows a numbered
    vector through the same steps, and takes the elements at once with a Gather of constant indices.
Why engines need it:
    PyTorch writes the pads of `F.pad` with dynamic sizes as Reshape to [-1, 2], Slice with step
    -1, Transpose and Reshape; TensorRT up to 8.6 computes shapes of one dimension only
    ("IShuffleLayer applied to shape tensor must have 0 or 1 reshape dimensions").
Before:
    m = Reshape (pads, {-1, 2})               # pads: int64[8]
    r = Slice (m, {-1}, {-9223372036854775807}, {0}, {-1})
    t = Transpose <perm = [1, 0]> (r)
    p = Reshape (t, {-1})
After: p = Gather <axis = 0> (pads, {6, 4, 2, 0, 7, 5, 3, 1})
When it refuses: A vector whose length is unknown; steps with computed parameters; a matrix that is
    computed with, such as by Add.
Accuracy: Exact: integers are moved and, where the steps cast, cast to the type of the result. A
    chain with a Cast to a type that does not hold every value of the first one is left alone.
References: torch/onnx/symbolic_opset11.py, _prepare_onnx_paddings NVIDIA/TensorRT issues 2618,
    2755, 2487
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.analysis.folding.numbers import FUNCTIONS
from graphfix.authoring import Builder, Editor, Motion, NodeView, Refuse, Value, graph_pass, moving

MOVES = moving(Motion.SAME) | {"Slice", "Transpose"}
WIDTHS = {"bool": 0, "int32": 1, "int64": 2}
MAX_STEPS = 16


@graph_pass(removes="shape:*", emits="Gather Cast")
def pad_shape_arithmetic_flat(editor: Editor) -> None:
    """Look at every vector of integers that comes from a matrix."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            chain = _chain(view)
            if chain is None:
                continue
            source, steps = chain
            indices = _followed(source, steps)
            if isinstance(indices, str):
                editor.refuse(view, indices)
            else:
                editor.replace(view, _taking(view, source, indices))


def _taking(
    view: NodeView, source: Value, indices: np.ndarray[Any, Any]
) -> Callable[[Builder], Value]:
    def make(build: Builder) -> Value:
        taken = build.Gather(source, indices, axis=0)
        wanted = view.outputs[0]
        if wanted is None or wanted.elem_type == source.elem_type:
            return taken
        return build.Cast(taken, to=wanted.elem_type)

    return make


def _chain(view: NodeView) -> tuple[Value, list[NodeView]] | None:
    """Return the vector that a node's output is made of, and the steps from it to the node."""
    output = view.output(0)
    if view.op not in MOVES or view.domain or output is None or output.rank != 1:
        return None
    if output.type_name not in ("int32", "int64") or output.is_constant:
        return None
    steps = [view]
    matrix = False
    value = view.input(0)
    while value is not None and value.rank is not None and len(steps) < MAX_STEPS:
        if value.rank == 1:
            return (value, steps[::-1]) if matrix else None
        matrix = matrix or value.rank > 1
        producer = value.producer
        if producer is None or producer.domain or producer.op not in (*MOVES, "Cast"):
            return None
        if producer.op == "Cast" and not _widens(producer):
            return None
        steps.append(producer)
        value = producer.input(0)
    return None


def _widens(cast: NodeView) -> bool:
    source, output = cast.input(0), cast.output(0)
    if source is None or output is None:
        return False
    old, new = WIDTHS.get(source.type_name), WIDTHS.get(output.type_name)
    return old is not None and new is not None and new >= old


def _followed(source: Value, steps: list[NodeView]) -> np.ndarray[Any, Any] | str:
    """Follow the numbers 0, 1, 2, ... through the steps; a text says why that cannot be done."""
    length = source.dim(0)
    if length is None:
        return "the length of the vector is unknown"
    numbers: np.ndarray[Any, Any] = np.arange(length, dtype=np.int64)
    for step in steps:
        if step.op == "Cast":
            continue
        operands = [numbers, *(v.array() if v is not None else None for v in step.inputs[1:])]
        if any(o is None and v is not None for o, v in zip(operands, step.inputs, strict=True)):
            return f"the parameters of {step.op} {step.name!r} are computed"
        try:
            moved = _flattened(step, numbers) if step.op == "Flatten" else None
            found = FUNCTIONS[step.op](step, operands) if moved is None else (moved,)
        except (Refuse, ValueError, IndexError):
            found = None
        if found is None:
            return f"{step.op} {step.name!r} does not fit {length} elements"
        numbers = found[0]
    return np.ascontiguousarray(numbers)


def _flattened(step: NodeView, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    axis = int(step.attr("axis", 1)) % (numbers.ndim + 1)
    rows = int(np.prod(numbers.shape[:axis], dtype=np.int64))
    return numbers.reshape(rows, -1)
