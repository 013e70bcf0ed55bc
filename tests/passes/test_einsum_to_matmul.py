"""einsum-to-matmul: products and sums of two operands at a time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfix
from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, parse, run_pass
from tests.passes.lowering_models import written

PASS = "einsum-to-matmul"
RNG = np.random.default_rng(12)
# Equation, shapes, and the operators that come out; none where they do not matter.
EQUATIONS: list[tuple[str, list[tuple[int, ...]], list[str]]] = [
    ("ij,jk->ik", [(2, 3), (3, 4)], ["MatMul"]),
    ("i J, J k->i k", [(2, 3), (3, 4)], ["MatMul"]),
    ("bij,bjk->bik", [(2, 2, 3), (2, 3, 4)], ["MatMul"]),
    ("ij->ji", [(2, 3)], ["Transpose"]),
    ("ij->ij", [(2, 3)], ["Identity"]),
    ("ij->", [(2, 3)], ["ReduceSum"]),
    ("ii->i", [(3, 3)], ["Reshape", "Slice"]),
    ("ii", [(3, 3)], ["Reshape", "Slice", "ReduceSum"]),
    ("iji->j", [(3, 2, 3)], ["Transpose", "Reshape", "Slice", "ReduceSum"]),
    ("...ii->...i", [(2, 4, 3, 3)], ["Reshape", "Slice"]),
    ("ijii->ji", [(3, 2, 3, 3)], []),
    ("ijij->ij", [(3, 2, 3, 2)], []),
    ("ii,ij->j", [(3, 3), (3, 2)], []),
    ("i,i->", [(3,), (3,)], []),
    ("i,i->i", [(3,), (3,)], ["Mul"]),
    ("i,j->ij", [(2,), (3,)], []),
    ("...ij,...jk->...ik", [(2, 5, 2, 3), (2, 5, 3, 4)], ["MatMul"]),
    ("...ij,...jk->...ik", [(5, 1, 2, 3), (1, 2, 3, 4)], ["MatMul"]),
    ("...,...->...", [(5, 1, 3), (5, 2, 1)], ["Mul"]),
    ("...i,...i", [(2, 5, 3), (1, 5, 3)], []),
    ("...ij,jk->...ik", [(2, 5, 2, 3), (3, 4)], ["MatMul"]),
    ("bqhd,bkhd->bhqk", [(2, 3, 2, 4), (2, 5, 2, 4)], ["Transpose", "Transpose", "MatMul"]),
    ("bqhd,hdm->bqm", [(2, 3, 2, 4), (2, 4, 6)], ["Reshape", "Reshape", "MatMul"]),
    ("bqm,mhd->bqhd", [(2, 3, 6), (6, 2, 4)], ["Reshape", "MatMul", "Reshape"]),
    ("bxyc,bzwc->bxyzw", [(2, 3, 4, 5), (2, 2, 3, 5)], []),
    ("ijkl,klm->ijm", [(2, 3, 4, 2), (4, 2, 3)], []),
    ("ijk,kjl->il", [(2, 3, 4), (4, 3, 2)], []),
    ("ijk,ijk->", [(2, 3, 4), (2, 3, 4)], ["Reshape", "Reshape", "MatMul", "Squeeze"]),
    ("ijk,jk->i", [(2, 3, 4), (3, 4)], []),
    ("jk,ijk->i", [(3, 4), (2, 3, 4)], []),
    ("bij,bij->b", [(2, 3, 4), (2, 3, 4)], []),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)], ["MatMul", "MatMul"]),
    ("ij,j,j,j->i", [(2, 3), (3,), (3,), (3,)], []),
    ("ba,cb", [(2, 3), (4, 2)], []),
    ("ij,kj->k", [(2, 3), (4, 3)], []),
    ("ij,jk->ik", [(2, 1), (3, 4)], []),
    ("bij,bjk->bik", [(1, 2, 3), (5, 3, 4)], ["MatMul"]),
    (",ij->ij", [(), (3, 4)], []),
    ("ij,->", [(3, 4), ()], []),
]


def model_of(equation: str, types: list[str], output: str, place: str = "main") -> str:
    names = [f"x{place}" for place in range(len(types))]
    inputs = ", ".join(f"{kind} {name}" for kind, name in zip(types, names, strict=True))
    body = f'@y = Einsum <equation = "{equation}"> ({", ".join(names)})'
    return written(body, inputs, output, place=place, opset=16)


def typed(kind: str, rank: int, letter: str) -> str:
    return kind + (f"[{', '.join(f'{letter}{axis}' for axis in range(rank))}]" if rank else "")


def numbers(shapes: list[tuple[int, ...]], dtype: Any = np.float32) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for place, shape in enumerate(shapes):
        whole = np.dtype(dtype).kind == "i"
        values: Any = RNG.integers(-9, 9, size=shape) if whole else RNG.normal(size=shape)
        made[f"x{place}"] = np.asarray(values, dtype)
    return made


@pytest.mark.parametrize("case", EQUATIONS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_static_sizes(case: tuple[str, list[tuple[int, ...]], list[str]]) -> None:
    equation, shapes, ops = case
    feed = numbers(shapes)
    wanted = np.einsum(equation.replace(" ", ""), *feed.values())
    types = [f"float{list(shape) if shape else ''}" for shape in shapes]
    text = model_of(equation, types, f"float{list(wanted.shape) if wanted.ndim else ''}")
    done = assert_rewrite(PASS, text, feeds=[feed], after=ops or None, rtol=1e-5, atol=1e-5)
    assert "Einsum" not in done.ops
    found = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("case", EQUATIONS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_dynamic_sizes(case: tuple[str, list[tuple[int, ...]], list[str]], dtype: Any) -> None:
    equation, shapes, _ = case
    if (2, 1) in shapes and (3, 4) in shapes:
        pytest.skip("whether a letter broadcasts is not seen")
    feed = numbers(shapes, dtype)
    wanted = np.einsum(equation.replace(" ", ""), *feed.values())
    kind = {"float32": "float", "float64": "double"}.get(np.dtype(dtype).name, np.dtype(dtype).name)
    types = [typed(kind, len(shape), "abcd"[place]) for place, shape in enumerate(shapes)]
    text = model_of(equation, types, typed(kind, wanted.ndim, "z"))
    tolerance = 0.0 if np.dtype(dtype).kind == "i" else 1e-5
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=tolerance, atol=tolerance)
    assert "Einsum" not in done.ops


def test_sums_of_integers_without_a_product_are_approximate() -> None:
    done = assert_rewrite(
        PASS, model_of("ij->i", ["int64[n,m]"], "int64[n]"), feeds=[{"x0": np.ones((2, 3), int)}]
    )
    (applied,) = done.with_status(Status.APPLIED)
    assert [site.accuracy.value for site in applied.sites] == ["approximate"]


def test_products_of_integers_beyond_2_to_the_53_are_summed_to_the_last_digit() -> None:
    shapes = [(2, 1), (2, 3)]  # a letter of size 1 broadcasts, and no matrices are multiplied
    feed = {"x0": np.array([[1], [3]]), "x1": np.array([[2**61, 1, 1], [2**53, 1, 5]])}
    types = [f"int64{list(shape)}" for shape in shapes]
    done = run_pass(PASS, model_of("ij,ij->i", types, "int64[2]"))
    (applied,) = done.with_status(Status.APPLIED)
    assert [site.accuracy.value for site in applied.sites] == ["exact"]
    assert "MatMul" not in done.ops
    wanted = (feed["x0"] * feed["x1"]).sum(1)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("shape", [(3, 2, 2), (0, 2, 2), (3, 0, 0), (0, 0, 0), (1, 1, 1)])
def test_diagonals_of_any_size(shape: tuple[int, ...]) -> None:
    text = model_of("bii->bi", ["float[b,n,n]"], "float[b,n]")
    done = run_pass(PASS, text)
    x = RNG.normal(size=shape).astype(np.float32)
    found = outputs_of(done.after, {"x0": x})["y"]
    np.testing.assert_array_equal(found, np.einsum("bii->bi", x))


def test_numbers_off_the_diagonal_do_not_matter() -> None:
    x = np.full((3, 3), np.nan, np.float32)
    x[range(3), range(3)] = [-0.0, np.inf, 2.0]
    done = assert_rewrite(PASS, model_of("ii->i", ["float[n,n]"], "float[n]"), feeds=[{"x0": x}])
    found = outputs_of(done.after, {"x0": x})["y"]
    np.testing.assert_array_equal(found, [0, np.inf, 2])
    assert np.signbit(found[0])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_two_operands(data: st.DataObject) -> None:
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 1}
    left = "".join(data.draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=4)))
    right = "".join(data.draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=4)))
    both = sorted({*left, *right})
    out = "".join(data.draw(st.permutations(both))[: data.draw(st.integers(0, len(both)))])
    shapes = [tuple(sizes[letter] for letter in text) for text in (left, right)]
    feed = numbers(shapes, np.int64)
    equation = f"{left},{right}->{out}"
    wanted = np.einsum(equation, *feed.values())
    known = data.draw(st.booleans())
    types = [
        f"int64{list(shape)}" if known else typed("int64", len(shape), letter)
        for shape, letter in zip(shapes, "xy", strict=True)
    ]
    done = assert_rewrite(
        PASS, model_of(equation, types, typed("int64", wanted.ndim, "z")), feeds=[feed]
    )
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_the_opset_steps_below_einsum() -> None:
    text = model_of("bqhd,hdm->bqm", ["float[b,q,2,4]", "float[2,4,6]"], "float[b,q,6]")
    result = graphfix.run(parse(text), opset=11)
    assert (result.exit_code, result.model.opset) == (0, 11)
