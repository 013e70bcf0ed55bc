"""Remainders."""

from __future__ import annotations

from benchmarks.mutants.examples.example import Example

_INTEGERS = ("int32", "int64", "int8", "uint8", "uint32")
UNIT = "mod-elimination"

EXAMPLES = (
    Example(
        UNIT,
        "g (T[N, 8] x) => (T[N, 8] y) <T[8] b = {3, 7, 5, 2, 9, 11, 64, 1}> { y = Mod (x, b) }",
        types=_INTEGERS,
        sizes={"N": (16, 600)},
    ),
    Example(
        UNIT,
        "g (T[N, 4] x) => (T[N, 4] y) <T[4] b = {-3, 7, -1, 5}> { y = Mod <fmod = 1> (x, b) }",
        types=("int32", "int8"),
        sizes={"N": (16, 900)},
        domains={"x": "above"},
    ),
    Example(
        UNIT,
        "g (T[N, 4] x) => (T[N, 4] y) <T[4] b = {-3, 2000000000, -1, 5}> { y = Mod (x, b) }",
        types=("int32",),
        sizes={"N": (16, 900)},
        domains={"x": "above"},
    ),
    Example(
        UNIT,
        "g (T[N, 4] x, T[N, 4] b) => (T[N, 4] y) { y = Mod (x, b) }",
        types=("int32",),
        sizes={"N": (16, 900)},
        domains={"b": "nonzero", "x": "above"},
        options={"assume_nonzero": True},
    ),
    Example(  # refused: the divisor may be 0
        UNIT,
        "g (T[N, 4] x, T[N, 4] b) => (T[N, 4] y) { y = Mod (x, b) }",
        types=("int32",),
        sizes={"N": (16, 900)},
        domains={"b": "nonzero", "x": "above"},
    ),
    Example(
        UNIT,
        "g (T[N, 4] x, T[N, 4] b) => (T[N, 4] y) { y = Mod <fmod = 1> (x, b) }",
        types=("float", "double", "float16"),
        sizes={"N": (16, 900)},
        domains={"b": "nonzero", "x": "mild"},
    ),
    Example(
        UNIT,
        "g (T[N, 4] x) => (T[N, 4] y) <T[4] b = {0.5, -3, 2.5, -0.75}>"
        " { y = Mod <fmod = 1> (x, b) }",
        types=("float",),
        sizes={"N": (16, 900)},
    ),
    Example(
        UNIT,
        "g (float[N, 4] x, float[M] z) => (int64[1] y) <int64[1] k = {5}>"
        " { s = Shape (z) t = Mod (s, k) y = Add (t, t) }",
        sizes={"N": (16, 900), "M": (1, 5, 7, 11)},
    ),
)
