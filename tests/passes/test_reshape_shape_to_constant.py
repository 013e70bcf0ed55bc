"""reshape-shape-to-constant: computed shapes of which enough is known."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, numpy_helper

from graphfix.testing import assert_rewrite
from tests.passes.shape_models import text

PASS = "reshape-shape-to-constant"


def values(*shape: int) -> dict[str, Any]:
    return {"x": np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)}


def stored(model: ModelProto) -> list[int]:
    node = next(n for n in model.graph.node if n.op_type == "Reshape")
    found = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    return list(map(int, found[node.input[1]]))


def reshaping(dims: str, taken: str, known: str, out: str, opset: int = 17) -> ModelProto:
    """Return Reshape to the sizes of `x` at the places `taken`, then the sizes `known`."""
    count, sizes = taken.count(",") + 1, known.count(",") + 1
    return text(
        f"g (float[{dims}] x) => (float[{out}] y) "
        f"<int64[{count}] i = {{{taken}}}, int64[{sizes}] k = {{{known}}}> "
        "{ s = Shape (x) n = Gather (s, i) p = Concat <axis = 0> (n, k) y = Reshape (x, p) }",
        opset,
    )


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 14, 19, 21])
def test_one_unknown_size_is_what_is_left(opset: int) -> None:
    model = reshaping("N,3,4", "0", "12", "A,12", opset)
    feeds = [values(2, 3, 4), values(5, 3, 4)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["Reshape"])
    assert stored(done.after) == [-1, 12]


def test_sizes_of_the_input_are_copied() -> None:
    model = reshaping("N,M,4", "0,1", "2,2", "A,B,2,2")
    feeds = [values(2, 3, 4), values(1, 5, 4)]
    assert stored(assert_rewrite(PASS, model, feeds=feeds, after=["Reshape"]).after) == [0, 0, 2, 2]


def test_a_size_that_was_minus_one_already_stays() -> None:
    model = reshaping("N,3,4", "0", "-1", "A,B")
    assert stored(assert_rewrite(PASS, model, feeds=[values(2, 3, 4)]).after) == [0, -1]


def test_a_zero_becomes_the_size_that_it_copies() -> None:
    model = text(
        "g (float[2,M,4] x) => (float[2,A] y) <int64[1] z = {0}, int64[1] i = "
        "{1}, int64[1] f = {4}> "
        "{ s = Shape (x) m = Gather (s, i) f2 = Mul (m, f) p = Concat <axis = 0> (z, f2) "
        "y = Reshape (x, p) }"
    )
    assert stored(assert_rewrite(PASS, model, feeds=[values(2, 3, 4)]).after) == [2, -1]


def test_products_of_sizes() -> None:
    model = text(
        "g (float[N,M,4] x) => (float[A,4] y) <int64 zero = {0}, int64 one = "
        "{1}, int64[1] k = {4}, "
        "int64[1] a = {0}> { s = Shape (x) n = Gather (s, zero) m = Gather (s, one) "
        "q = Mul (n, m) u = Unsqueeze (q, a) p = Concat <axis = 0> (u, k) y = Reshape (x, p) }"
    )
    done = assert_rewrite(PASS, model, feeds=[values(2, 3, 4)], after=["Reshape"])
    assert stored(done.after) == [-1, 4]


def test_in_a_local_function() -> None:
    import onnx

    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17, "f" : 1]>\n'
        "g (float[N,3,4] x) => (float[M,12] y) { y = f.flat (x) }\n"
        '<domain: "f", opset_import: ["" : 17]>\n'
        "flat (v) => (w) { s = Shape (v) i = Constant <value = int64[1] {0}> () n = Gather (s, i) "
        "m = Constant <value = int64[1] {12}> () p = Concat <axis = 0> (n, m) w = Reshape (v, p) }"
    )
    done = assert_rewrite(PASS, model, feeds=[values(2, 3, 4)])
    assert [n.op_type for n in done.after.functions[0].node] == ["Constant", "Reshape"]


@given(
    batch=st.integers(1, 3),
    rest=st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3),
    split=st.booleans(),
)
def test_flattening_keeps_the_elements(batch: int, rest: list[int], split: bool) -> None:
    whole = int(np.prod(rest))
    known = f"{whole},1" if split else str(whole)
    out = "A,B,C" if split else "A,B"
    model = reshaping(f"N,{','.join(map(str, rest))}", "0", known, out)
    done = assert_rewrite(PASS, model, feeds=[values(batch, *rest)], after=["Reshape"])
    assert stored(done.after)[0] == -1


@pytest.mark.parametrize(
    ("dims", "taken", "known", "expected"),
    [
        ("N,M,K", "0", "-1", ("approximate", "the same for inputs with elements; ")),
        ("N,M,4", "0,1", "2,2", ("exact", "")),
    ],
)
def test_zero_next_to_minus_one_is_not_called_exact(
    dims: str, taken: str, known: str, expected: tuple[str, str]
) -> None:
    model = reshaping(dims, taken, known, "A,B" if known == "-1" else "A,B,2,2")
    done = assert_rewrite(PASS, model, feeds=[values(2, 3, 4), values(1, 5, 4)], after=["Reshape"])
    (site,) = (site for outcome in done.outcomes for site in outcome.sites)
    assert (site.accuracy, site.note[: len(expected[1]) or None]) == expected
