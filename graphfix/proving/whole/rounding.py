"""Where rounding every float to 16 bits changes what a model computes."""

from __future__ import annotations

from msgspec import Struct, field

ARITHMETIC = "float16"
LARGEST = 65504.0  # that float16 holds


class Rounding(Struct, frozen=True):
    """What becomes of a model in an engine that holds every float in float16.

    Attributes:
        outputs: Output -> how it differs, by more than an engine of that arithmetic may.
        tensor: The first tensor whose numbers float16 does not hold; empty where there is none.
        largest: The largest of these values.
    """

    outputs: dict[str, str] = field(default_factory=dict[str, str])
    tensor: str = ""
    largest: float = 0.0
