"""--tie and --untie: weights that are equal, transposed too, stored once and apart again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from graphfix import UsageError, edits
from graphfix.cli import main
from graphfix.edits import proof
from tests.edits.small_models import HEAD, checked, ran, with_external_data

# An embedding of 5 words, and a head.
LANGUAGE = (
    HEAD
    + """
g (int64[N, S] ids) => (float[N, S, 5] y) <float[5, 4] table, float[4, 5] head>
{
  x = Gather (table, ids)
  h = Tanh (x)
  [scores] y = MatMul (h, head)
}
"""
)
TABLE = np.arange(20, dtype=np.float32).reshape(5, 4) / 7 - 1
IDS = np.array([[0, 3, 4], [1, 1, 2]])


def language(text: str = LANGUAGE, **more: Any) -> ModelProto:
    """Return a model whose stored tensors have these values."""
    values = {"table": TABLE, "head": TABLE.T, **more}
    lead, _, rest = text.partition(" <float[5, 4] table")
    model = onnx.parser.parse_model(lead + rest.partition(">")[2])
    for name, array in values.items():
        if array is not None:
            model.graph.initializer.append(numpy_helper.from_array(array.copy(), name))
    onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return model


def stored(model: ModelProto) -> list[str]:
    return sorted(tensor.name for tensor in model.graph.initializer)


def kinds(model: ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def same(one: ModelProto, two: ModelProto, **feed: Any) -> bool:
    before, after = ran(one, **feed), ran(two, **feed)
    return before.keys() == after.keys() and all(
        np.array_equal(before[name], after[name]) for name in before
    )


@pytest.mark.parametrize("name", ["table", "*", "head"])
def test_a_head_is_the_embedding_transposed_and_back(name: str) -> None:
    model = language()
    found = edits.tie(model, name)
    tied = checked(found)
    kept, gone = ("head", "table") if name == "head" else ("table", "head")
    assert stored(tied) == [kept]
    assert kinds(tied) == ["Transpose", "Gather", "Tanh", "MatMul"]
    assert found.steps[0].said == (
        f"{gone!r} is {kept!r} transposed",
        "80 bytes less are stored",
    )
    assert same(model, tied, ids=IDS)
    again = checked(edits.untie(tied, kept))
    assert stored(again) == ["head", "table"]
    assert kinds(again) == ["Gather", "Tanh", "MatMul"]
    assert same(model, again, ids=IDS)


def test_a_gemm_reads_it_the_other_way() -> None:
    text = LANGUAGE.replace("(float[N, S, 5] y)", "(float[M, 5] y)").replace(
        "[scores] y = MatMul (h, head)",
        "r = Flatten <axis = 2> (h) [scores] y = Gemm <alpha = 2.0> (r, head)",
    )
    model = language(text)
    tied = checked(edits.tie(model, "table"))
    assert kinds(tied) == ["Gather", "Tanh", "Flatten", "Gemm"]
    gemm = tied.graph.node[-1]
    assert list(gemm.input) == ["r", "table"]
    assert {each.name for each in gemm.attribute} == {"alpha", "transB"}
    assert same(model, tied, ids=IDS)
    apart = checked(edits.untie(tied, "table"))
    assert stored(apart) == ["table", "table_2"]
    assert list(apart.graph.node[-1].input) == ["r", "table_2"]
    straight = checked(
        edits.tie(language(text.replace("alpha = 2.0", "transB = 1"), head=TABLE), "*")
    )
    assert (stored(straight), straight.graph.node[-1].attribute[0].i) == (["table"], 1)
    turned = checked(edits.tie(language(text), "head"))
    assert stored(turned) == ["head"]


def test_equal_ones_are_read_at_one_place_in_subgraphs_too() -> None:
    text = (
        HEAD
        + """
g (float[N, 4] x, bool c) => (float[N, 4] y) <float[5, 4] table, x>
{
  p = MatMul (x, w1)
  y = If (c) <then_branch = t () => (float[N, 4] a) { a = MatMul (p, w2) },
    else_branch = e () => (float[N, 4] b) { q = MatMul (p, w3) b = Neg (q) }>
}
"""
    )
    square = np.arange(16, dtype=np.float32).reshape(4, 4) - 7
    weights = {"w1": square, "w2": square, "w3": square.T}
    model = language(text, table=None, head=None, **weights)
    tied = checked(edits.tie(model, "w1"))
    assert stored(tied) == ["w1"]
    assert kinds(tied) == ["Transpose", "MatMul", "If"]
    x = np.array([[1, -2, 3, 0.5]], np.float32)
    for c in (True, False):
        assert same(model, tied, x=x, c=np.array(c))
    apart = checked(edits.untie(tied, "w1"))
    assert stored(apart) == ["w1", "w1_2", "w3"]
    for c in (True, False):
        assert same(model, apart, x=x, c=np.array(c))


@pytest.mark.parametrize(
    "kind", ["float16", "bfloat16", "double", "int8", "uint8", "int32", "int64", "bool"]
)
def test_types(kind: str) -> None:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(kind.upper()))
    text = (
        HEAD + f"g (int64[N] ids) => ({kind}[N, 8] y, {kind}[8, 16] z) <float[5, 4] table, x> "
        "{ y = Gather (table, ids) z = Identity (head) }"
    )
    values = (np.arange(128).reshape(16, 8) % 5).astype(dtype)
    tied = checked(edits.tie(language(text, table=values, head=values.T), "table"))
    assert stored(tied) == ["table"]
    assert numpy_helper.to_array(tied.graph.initializer[0]).tobytes() == values.tobytes()


def test_other_bits_are_other_weights() -> None:
    zeros = np.zeros((5, 4), np.float32)
    for other in (-zeros.T, np.where(TABLE.T > 1.8, np.nan, TABLE.T).astype(np.float32)):
        with pytest.raises(UsageError, match="no other stored tensor is equal, nor its transpose"):
            edits.tie(language(table=zeros, head=other), "*")
    nans = np.full((5, 4), np.nan, np.float32)
    assert stored(edits.tie(language(table=nans, head=nans.T), "*", verify="off").model.to_proto())


@pytest.mark.parametrize("word", ["int64[N, S] ids", "(float[N, S, 5] y"])
def test_inputs_and_outputs_stay(word: str) -> None:
    declared = f"{word}, float[4, 5] head"
    with pytest.raises(UsageError, match="no other stored tensor is equal"):
        edits.tie(language(LANGUAGE.replace(word, declared)), "*")


def test_what_is_refused() -> None:
    with pytest.raises(UsageError, match="--tie tabel: the model has no stored tensor 'tabel'"):
        edits.tie(language(), "tabel")
    with pytest.raises(UsageError, match="--untie head: one node alone reads it"):
        edits.untie(language(), "head")


def test_a_transpose_that_is_an_output_stays() -> None:
    text = LANGUAGE.replace("(float[N, S, 5] y)", "(float[N, S, 5] y, float[4, 5] t)").replace(
        "[scores] y = MatMul (h, head)", "t = Transpose (table) [scores] y = MatMul (h, t)"
    )
    apart = checked(edits.untie(language(text, head=None), "table"))
    assert kinds(apart) == ["Gather", "Tanh", "Transpose", "MatMul"]
    assert stored(apart) == ["table", "table_2"]


def test_weights_in_data_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With many gigabytes it is shown by the nodes and the values of weights."""

    def refused(*_: object) -> None:
        raise AssertionError("it is run")

    path = with_external_data(language(), tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(proof, "_BIG", 1)
    monkeypatch.setattr(proof, "compare_files", refused)
    assert main(["edit", str(path), "--tie", "table", "-o", "tied.onnx"]) == 0
    assert main(["edit", "tied.onnx", "--untie", "table", "-o", "apart.onnx"]) == 0
    assert capsys.readouterr().out.count("each claim verified") == 2
    tied = onnx.ModelProto.FromString(Path("tied.onnx").read_bytes())
    assert [tensor.external_data[0].value for tensor in tied.graph.initializer] == ["weights.bin"]


def test_a_wrong_transpose_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = onnx.helper.make_node

    def wrong(*words: Any, **attributes: Any) -> Any:
        node = real(*words, **attributes)
        if node.op_type == "Transpose":
            node.attribute[0].ints[:] = [0, 1]
        return node

    monkeypatch.setattr(onnx.helper, "make_node", wrong)
    square = np.arange(16, dtype=np.float32).reshape(4, 4) / 5
    text = LANGUAGE.replace("5]", "4]")
    assert edits.tie(language(text, table=square, head=square.T), "table").exit_code == 4
