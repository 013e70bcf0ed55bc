"""Pooling."""

from __future__ import annotations

from benchmarks.mutants.examples.example import Example

UNIT = "maxpool-dilations-to-max"

EXAMPLES = (
    Example(
        UNIT,
        "g (T[N, 3, 40] x) => (T[N, 3, M] y)"
        " { y = MaxPool <kernel_shape = [3], dilations = [2], strides = [3]> (x) }",
        types=("float", "double"),
        sizes={"N": (7, 64)},
    ),
    Example(
        UNIT,
        "g (T[N, 2, 16, 21] x) => (T[N, 2, A, B] y)"
        " { y = MaxPool <kernel_shape = [2, 3], dilations = [3, 2], pads = [1, 2, 0, 1]> (x) }",
        types=("float", "float16"),
        sizes={"N": (2, 9)},
    ),
    Example(  # a padding that the output has to end in
        UNIT,
        "g (T[N, 2, 12, 9] x) => (T[N, 2, A, B] y) { y = MaxPool <kernel_shape = [2, 2], "
        "dilations = [2, 1], strides = [2, 2], pads = [0, 0, 1, 1]> (x) }",
        sizes={"N": (3, 24)},
        opset=12,
    ),
    Example(
        UNIT,
        "g (T[4, 4, 16, 16] x) => (T[4, 4, A, B] y) { y = MaxPool <kernel_shape = [2, 2], "
        "dilations = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1]> (x) }",
    ),
    Example(  # refused: no dilation
        UNIT,
        "g (T[N, 2, 12, 9] x) => (T[N, 2, A, B] y) { y = MaxPool <kernel_shape = [2, 2]> (x) }",
        sizes={"N": (3, 24)},
    ),
    Example(  # refused: windows that hang over the edge
        UNIT,
        "g (T[N, 2, 13] x) => (T[N, 2, A] y) "
        "{ y = MaxPool <kernel_shape = [2], dilations = [2], strides = [3], pads = [1, 1]> (x) }",
        sizes={"N": (3, 24)},
    ),
)
