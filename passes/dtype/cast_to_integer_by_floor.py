"""Cut the digits after the point before floats become integers.

What it does: Takes the floor of numbers from 0 on and the ceiling of those below, and casts that.
Why engines need it: OpenCV 4 computes all in float32 and leaves numbers alone that are cast: what
    comes next sees 2.7 where ONNX says 2.
Before: i = Cast <to = 7> (x)
After:
    a = Abs (x)
    f = Floor (a)
    s = Sign (x)
    t = Mul (s, f)
    i = Cast <to = 7> (t)
When it refuses: The input is no float, the result no integer; the number already is the output of
    Floor or Ceil.
Accuracy: Exact for all numbers that the integer type holds; ONNX leaves open what others become.
References: https://onnx.ai/onnx/operators/onnx__Cast.html
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type, rewrite

_INTEGERS = (TensorProto.INT32, TensorProto.INT64)


@rewrite("Cast", removes="form:Cast.truncates", emits="Abs Cast Floor Mul Sign")
def cast_to_integer_by_floor(node: NodeView, build: Builder) -> Value:
    """Cut, then cast; see the module."""
    x, to = node.need(0), node.attr("to")
    need_elem_type(x)
    if x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"{x.name} must be floats; it is {x.type_name}")
    if to not in _INTEGERS:
        raise Refuse(
            f"the result must be int32 or int64; it is {TensorProto.DataType.Name(int(to)).lower()}"
        )
    if _is_whole(x):
        raise Refuse(f"{x.name} must have digits after the point; it is whole")
    return build.Cast(build.Mul(build.Sign(x), build.Floor(build.Abs(x))), to=to)


def _is_whole(value: Value) -> bool:
    """Say whether a floor or ceiling is cast, or a floor with its sign, as this pass leaves it."""
    maker = value.producer
    if maker is None or maker.op in ("Floor", "Ceil"):
        return maker is not None
    makers = [operand.producer for operand in maker.inputs if operand is not None]
    return maker.op == "Mul" and {made.op for made in makers if made} == {"Sign", "Floor"}
