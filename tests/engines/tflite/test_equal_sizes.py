"""TFLite: what is joined to a tensor whose sizes after the first are equal."""

from __future__ import annotations

import pytest

from tests.engines.cases import check, model_of

NAME = "tflite1.29"


@pytest.mark.parametrize(
    ("order", "joined"),
    [
        ("r, t", []),
        ("t, r", []),
        ("r, k", ["k"]),
        ("k, r", ["k"]),
        ("r, r", []),
        ("l, k, r", ["l"]),
    ],
)
def test_a_constant_next_to_a_turned_tensor_is_found_and_another_tensor_is_not(
    order: str, joined: list[str]
) -> None:
    graph = f"""(float[1,3,4,4] x, float[1,3,3] s, float[1,3,3] t)
        => (float[1,3,4,4] y, float[1,A,3] z)
    <float[1,1,3] k = {{1, 2, 3}}, float[1,1,3] l = {{4, 5, 6}}> {{
        y = MaxPool <kernel_shape = [1, 1]> (x)
        r = Transpose <perm = [0, 2, 1]> (s)
        z = Concat <axis = 1> ({order})
    }}"""
    found = [f for f in check(model_of(graph), NAME) if f.rule == "constant-beside-equal-sizes"]
    said = [f"onnx2tf joins {name} to r, of equal sizes, along the wrong axis" for name in joined]
    assert [f.message for f in found] == said


@pytest.mark.parametrize(
    ("order", "joined"), [("r, s2", []), ("r, s2, s2", ["s2"]), ("s2, r, s2", ["s2"])]
)
def test_of_several_tensors_those_of_other_sizes_are_found(order: str, joined: list[str]) -> None:
    graph = f"""(float[1,3,4,4] x, float[1,3,3] s, float[1,2,3] s2)
        => (float[1,3,4,4] y, float[1,A,3] z) {{
        y = MaxPool <kernel_shape = [1, 1]> (x)
        r = Transpose <perm = [0, 2, 1]> (s)
        z = Concat <axis = 1> ({order})
    }}"""
    found = [f for f in check(model_of(graph), NAME) if f.rule == "constant-beside-equal-sizes"]
    said = [f"onnx2tf joins {name} to r, of equal sizes, along the wrong axis" for name in joined]
    assert [f.message for f in found] == said
    assert {f.feature for f in found} <= {"form:Concat.equal-axes"}
