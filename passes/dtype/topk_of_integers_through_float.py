"""Rank integers as floats.

What it does: Casts the integers to float32, ranks them there, and casts the values back. The place
    of the largest or smallest of wider integers than 16 bits is sought digit by digit, of 16 bits
    each: what is after in one digit gets so much less in the next that it stays after.
Why engines need it: TensorRT 7 ranks floats only; TopK, ArgMax and ArgMin of integers stop its
    parser.
Before: values, indices = TopK (x, k)        # x: int32
After:
    f, indices = TopK (Cast <to = 1> (x), k)
    values = Cast <to = 6> (f)

    place = ArgMax (x)                   # x: int32

    first = Cast <to = 1> (Div (x, 65536))
    second = Cast <to = 1> (Sub (x, Mul (Div (x, 65536), 65536)))
    place = ArgMax (Sub (second, Mul (Sub (ReduceMax (first), first), 262144)))
When it refuses: The elements are no integers.
Accuracy: Exact for ArgMax and ArgMin, and for TopK of 8 and 16 bits. Wider integers beyond 2^24 in
    size are rounded by TopK, and such that differ by less than the rounding may be taken for each
    other: approximate.
References: builtin_op_importers.cpp:3130 of onnx-tensorrt, release 7.0; onnx-tensorrt issue 450;
    https://onnx.ai/onnx/operators/onnx__TopK.html
"""

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, rewrite

_OPERATORS = ("ArgMax", "ArgMin", "TopK")
_BYTES_EXACT = 2
_DIGIT = 2**16
_AFTER = 4.0 * _DIGIT  # more than two digits differ by


@rewrite(
    _OPERATORS,
    removes=tuple(f"dtype:{op}.*" for op in _OPERATORS),
    emits=(*_OPERATORS, "Add", "Cast", "Div", "Mul", "ReduceMax", "ReduceMin", "Sub"),
)
def topk_of_integers_through_float(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rank in float32, see the module."""
    x = node.need(0)
    dtype = x.dtype
    if dtype is None or dtype.kind not in "iu":
        raise Refuse(f"{x.name} must be an integer; it is {x.type_name}")
    if dtype.itemsize > _BYTES_EXACT and node.op != "TopK":
        return build.multi(
            node.op,
            _ranked_by_digits(node, x, dtype.itemsize // 2, build),
            **{name: node.attr(name) for name in node.attributes},
        )
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


def _ranked_by_digits(node: NodeView, x: Value, digits: int, build: Builder) -> Value:
    """Return floats whose largest, or smallest, is where that of the integers does.

    Digits of a division that truncates may be negative; they order numbers all the same, the first
    one before the second.
    """
    smallest = node.op == "ArgMin"
    parts: list[Value] = []
    rest = x
    for _ in range(digits - 1):
        above = build.Div(rest, _DIGIT)
        parts.append(build.Sub(rest, build.Mul(above, _DIGIT)))
        rest = above
    score = build.Cast(rest, to=TensorProto.FLOAT)
    axes = [int(node.attr("axis", 0))]
    for part in reversed(parts):
        digit = build.Cast(part, to=TensorProto.FLOAT)
        if smallest:
            best = build.ReduceMin(score, axes=axes, keepdims=1)
            score = build.Add(digit, build.Mul(build.Sub(score, best), _AFTER))
        else:
            best = build.ReduceMax(score, axes=axes, keepdims=1)
            score = build.Sub(digit, build.Mul(build.Sub(best, score), _AFTER))
    return score
