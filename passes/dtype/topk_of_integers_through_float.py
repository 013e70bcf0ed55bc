"""Rank integers as floats.

What it does:
    Casts the integers to float32, ranks them there, and casts the values back.

Why engines need it:
    TensorRT 7 ranks floats only; TopK, ArgMax and ArgMin of integers stop its parser.

Before:
    values, indices = TopK (x, k)        # x: int32

After:
    f, indices = TopK (Cast <to = 1> (x), k)
    values = Cast <to = 6> (f)

When it refuses:
    The elements are no integers.

Accuracy:
    Exact for 8 and 16 bits. Wider integers beyond 2^24 in size are rounded, and such that differ
    by less than the rounding may be taken for each other: approximate.

References:
    builtin_op_importers.cpp:3130 of onnx-tensorrt, release 7.0; onnx-tensorrt issue 450;
    https://onnx.ai/onnx/operators/onnx__TopK.html
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, rewrite

_OPERATORS = ("ArgMax", "ArgMin", "TopK")
_BYTES_EXACT = 2


@rewrite(
    _OPERATORS, removes=tuple(f"dtype:{op}.*" for op in _OPERATORS), emits=(*_OPERATORS, "Cast")
)
def topk_of_integers_through_float(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rank in float32, see the module."""
    x = node.need(0)
    dtype = x.dtype
    if dtype is None or dtype.kind not in "iu":
        raise Refuse(f"{x.name} must be an integer; it is {x.type_name}")
    if dtype.itemsize > _BYTES_EXACT:
        build.declare(APPROXIMATE, "integers beyond 2^24 are rounded before they are ranked")
    others = [node.need(index) for index in range(1, len(node.inputs))]
    attributes = {name: node.attr(name) for name in node.attributes}
    wide = build.Cast(x, to=TensorProto.FLOAT)
    if node.op != "TopK":
        return build.multi(node.op, wide, *others, **attributes)
    values, indices = build.multi("TopK", wide, *others, outputs=2, **attributes)
    results = (build.Cast(values, to=x.elem_type), indices)
    return tuple(r if node.output(i) is not None else None for i, r in enumerate(results))[
        : len(node.outputs)
    ]
