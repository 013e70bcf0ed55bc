"""What is false of an input whatever it holds."""

from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
SUMMED = (*FLOATS, TensorProto.INT32, TensorProto.INT64)
COMPARED = (*SUMMED, TensorProto.INT8, TensorProto.UINT8, TensorProto.BOOL)


def false_of(value: Value, rank: int, build: Builder) -> Value:
    """Return whether one element of a tensor is less than itself, with that many axes of 1.

    Raises:
        Refuse: The tensor has no element that is known to be there, or is no number.
    """
    shape = value.static_shape
    if shape is None or 0 in shape:
        raise Refuse(f"the sizes of {value.name} must be known and above 0")
    if value.elem_type not in COMPARED:
        raise Refuse(f"{value.name} must be numbers that are compared; it is {value.type_name}")
    one = value
    if shape and set(shape) != {1}:
        count = len(shape)
        one = build.Slice(one, starts=[0] * count, ends=[1] * count, axes=list(range(count)))
    if value.elem_type not in FLOATS:
        one = build.Cast(one, to=TensorProto.FLOAT)
    if len(shape) != rank:
        one = build.Reshape(one, [1] * rank)
    return build.Less(one, one)
