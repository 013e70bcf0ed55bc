"""Take a large TopK in several pieces.

What it does:
    Takes the first 3840 elements, puts the lowest number in their places, takes the next 3840,
    and joins what was taken.

Why engines need it:
    TensorRT gives at most 3840 elements ("TopK: K exceeds the maximum value allowed (3840).").

Before:
    values, indices = TopK (x, 5000)

After:
    v1, i1 = TopK (x, 3840)
    rest = ScatterElements (x, i1, Expand (-inf, Shape (i1)))
    v2, i2 = TopK (rest, 1160)
    values = Concat (v1, v2)
    indices = Concat (i1, i2)

When it refuses:
    K is computed at run time or small enough, more than 16 pieces are needed, or the elements are
    not floats.

Accuracy:
    Exact for what is finite; elements that are infinite in the direction of the end may be given
    twice instead of each other.

References:
    NvInfer.h 8.6.1:7335; NVIDIA/TensorRT issues 3846, 4244;
    https://onnx.ai/onnx/operators/onnx__TopK.html
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Option, rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT

_PIECES = 16


@rewrite(
    "TopK",
    removes="attr:TopK.k",
    emits=("Concat", "Expand", "ScatterElements", "Shape", "TopK"),
    accuracy=EXACT,
    since=11,
    options={"most": Option(int, 3840, "The largest K that the engine takes.")},
)
def topk_in_pieces(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take one piece after the other, see the module."""
    x, most = node.need(0), int(build.option("most"))
    dtype = x.dtype
    if dtype is None or dtype.kind != "f":
        raise Refuse(f"{x.name} is {x.type_name}")
    wanted = int(build.need_const(node.input(1), "K").reshape(-1)[0])
    if not most < wanted <= most * _PIECES:
        raise Refuse(f"K is {wanted}, which is not above {most} and at most {_PIECES} times that")
    axis, largest = int(node.attr("axis", -1)), int(node.attr("largest", 1))
    lowest = build.constant(dtype.type(-np.inf if largest else np.inf))
    values: list[Value] = []
    indices: list[Value] = []
    left, taken = x, 0
    while taken < wanted:
        size = min(most, wanted - taken)
        taken += size
        found = build.multi(
            "TopK", left, np.array([size]), outputs=2, axis=axis, largest=largest, sorted=1
        )
        values.append(found[0])
        indices.append(found[1])
        if taken < wanted:
            marks = build.Expand(lowest, build.Shape(found[1]))
            left = build.ScatterElements(left, found[1], marks, axis=axis)
    results = (build.Concat(*values, axis=axis), build.Concat(*indices, axis=axis))
    return tuple(r if node.output(i) is not None else None for i, r in enumerate(results))[
        : len(node.outputs)
    ]
