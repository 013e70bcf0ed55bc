"""Types of fused operators, which have no schema in ONNX."""

from onnx import TensorProto

from graphfix.authoring import Value, need_type
from graphfix.authoring.means import LOW_PRECISION as LOW_PRECISION

FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, *LOW_PRECISION)


def need_float(x: Value) -> None:
    """Look at the type of an operand.

    Raises:
        Refuse: It is unknown or not floating point.
    """
    need_type(x, FLOATS)
