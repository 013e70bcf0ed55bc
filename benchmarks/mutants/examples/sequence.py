"""Sequences and loops."""

from __future__ import annotations

from benchmarks.mutants.examples.example import Example

_LOOP = """
    n = Constant <value = int64 {3}> ()
    t = Constant <value = bool {1}> ()
    zero = Constant <value = int64[1] {0}> ()
    bounds = Constant <value = int64[4] {0, 2, 5, 8}> ()
    h0 = ReduceMin (x)
    h, rows = Loop (n, t, h0) <body = b (int64 i, bool c, T[1] h) => (bool c2, T[1] h2, T[1] row) {
        one = Constant <value = int64[1] {1}> ()
        at = Unsqueeze (i, zero)
        start = Gather (bounds, at)
        next = Add (at, one)
        end = Gather (bounds, next)
        cut = Slice (x, start, end, zero)
        row = ReduceMax (cut)
        h2 = Add (h, row)
        c2 = Identity (c)
    }>
"""
_FIRST = """
    n = Constant <value = int64 {5}> ()
    t = Constant <value = bool {1}> ()
    zero = Constant <value = int64[1] {0}> ()
    two = Constant <value = int64 {2}> ()
    h, rows = Loop (n, t, x) <body = b (int64 i, bool c, T[N] h) => (bool c2, T[N] h2, T[N] row) {
        at = Unsqueeze (i, zero)
        one = Constant <value = int64[1] {1}> ()
        end = Add (at, one)
        cut = Slice (h, at, end, zero)
        row = Mul (h, cut)
        h2 = Sub (h, cut)
        c2 = Less (i, two)
    }>
"""

EXAMPLES = (
    Example(
        "loop-unrolling",
        "g (T[N] x) => (T[1] h, T[R, 1] rows) {" + _LOOP + "}",
        types=("float", "int32"),
        sizes={"N": (8, 300)},
        domains={"x": "mild"},
    ),
    Example(
        "loop-unrolling",
        "g (T[N] x) => (T[N] h, T[R, N] rows) {" + _FIRST + "}",
        sizes={"N": (8, 300)},
        domains={"x": "mild"},
    ),
    Example(
        "concat-from-sequence-to-concat",
        "g (T[N, 3] a, T[N, 3] b) => (T[N, 9] y) { s = SequenceConstruct (a, b, a) "
        "y = ConcatFromSequence <axis = 1> (s) }",
        types=("float", "int64"),
        sizes={"N": (30, 400)},
    ),
    Example(
        "concat-from-sequence-to-concat",
        "g (T[N, 3] a, T[N, 3] b) => (T[A, B, C] y) { s = SequenceConstruct (a, b) "
        "y = ConcatFromSequence <axis = -1, new_axis = 1> (s) }",
        sizes={"N": (30, 400)},
    ),
    Example(
        "concat-from-sequence-to-concat",
        "g (T[N, 3] a, T[N, 3] b) => (T[A, B] y) <int64 p = {0}> { e = SequenceConstruct (a) "
        "s = SequenceInsert (e, b, p) y = ConcatFromSequence <axis = 0> (s) }",
        sizes={"N": (30, 400)},
    ),
    Example(
        "concat-from-sequence-to-concat",
        "g (T[N, 9] a) => (T[A, B] y) <int64[3] p = {2, 3, 4}> "
        "{ s = SplitToSequence <axis = 1> (a, p) y = ConcatFromSequence <axis = 1> (s) }",
        sizes={"N": (30, 400)},
    ),
    Example(
        "sequence-at-to-slice",
        "g (T[N, 9] x) => (T[N] y) <int64 i = {-2}> "
        "{ s = SplitToSequence <axis = 1, keepdims = 0> (x) y = SequenceAt (s, i) }",
        types=("float", "int32"),
        sizes={"N": (30, 400)},
    ),
    Example(
        "sequence-at-to-slice",
        "g (T[N, 9] x) => (T[N, A] y) <int64 i = {1}, int64[3] p = {2, 3, 4}> "
        "{ s = SplitToSequence <axis = 1> (x, p) y = SequenceAt (s, i) }",
        sizes={"N": (30, 400)},
    ),
    Example(
        "sequence-at-to-slice",
        "g (T[N, 9] x) => (T[N, A] y) <int64 i = {2}, int64 p = {4}> "
        "{ s = SplitToSequence <axis = 1> (x, p) y = SequenceAt (s, i) }",
        sizes={"N": (30, 400)},
    ),
    Example(
        "sequence-at-to-slice",
        "g (T[N, 9] x, T[N, 2] z) => (T[N, A] y) <int64 i = {1}> "
        "{ s = SequenceConstruct (x, z) y = SequenceAt (s, i) }",
        sizes={"N": (30, 400)},
    ),
)
