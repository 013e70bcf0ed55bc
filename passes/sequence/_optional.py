"""What is known of the content of an optional."""

from graphfix.authoring import Refuse, Value, is_optional

_UNKNOWN = "whether the optional holds something must be known; it is given at run time"


def held(value: Value) -> Value | None:
    """Return what an optional holds; None where it is made empty.

    Args:
        value: The optional; a tensor or sequence, which these operators take from opset 18 on, is
            its own content.

    Raises:
        Refuse: It is not known.
    """
    if not is_optional(value):
        return value
    producer = value.producer
    if producer is None or producer.op != "Optional" or producer.domain:
        raise Refuse(_UNKNOWN)
    return producer.input(0)
