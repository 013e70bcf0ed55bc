"""slice-steps-by-blocks: each n-th element as the first of a block."""

from graphfix.testing import assert_refused
from tests.passes.lowering_models import written

PASS = "slice-steps-by-blocks"


def sliced(starts: str, ends: str, axes: str, steps: str) -> str:
    names = ("s", "e", "a", "t")
    texts = zip(names, (starts, ends, axes, steps), strict=True)
    made = [
        f"@{name} = Constant <value = int64[{len(text.split(','))}] {{{text}}}> ()"
        for name, text in texts
    ]
    return "\n".join([*made, "@y = Slice (x, @s, @e, @a, @t)"])


def test_refusals() -> None:
    ends = ("float[2,7,8] x", "float[2,A,8]")
    assert_refused(PASS, written(sliced("6", "0", "1", "-2"), *ends), "steps must be positive")
    assert_refused(PASS, written(sliced("6", "6", "1", "2"), *ends), "something must be taken")
    assert_refused(PASS, written(sliced("0", "7", "1", "2"), *ends), "must have a block of 2")
    open_sizes = ("float[N,7,8] x", "float[N,A,8]")
    assert_refused(PASS, written(sliced("0", "6", "1", "2"), *open_sizes), "sizes and steps")
