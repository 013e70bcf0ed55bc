"""--split-off: what depends on some inputs alone goes to a file of its own, to be run once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from graphfix import UsageError, edits
from graphfix.analysis.inference import type_text
from graphfix.cli import main
from tests.edits.small_models import BRANCHES, HEAD, parsed, ran, samples, with_external_data

WORDS = {"float16": "FLOAT16", "float64": "DOUBLE"}
ONCE, REST = Path("once.onnx"), Path("rest.onnx")
WEIGHTS = ", ".join(
    f"float[4, 4] w{n} = {{{', '.join(str((7 * i * i + n) % 9 - 4) for i in range(16))}}}"
    for n in (1, 2, 3)
)
# A cross-attention whose keys get the batch size of the tokens, which is computed from them.
CROSS = (
    HEAD
    + """
d (float[B, T, 4] tokens, float[B, S, 4] encoded) => (float[B, T, 4] y, float[B, 2, S, 2] kept)
<WEIGHTS, float[1] scale = {0.5}, int64[1] two = {2}, int64[1] rest = {-1}, int64 zero = {0},
 int64[1] first = {0}, int64[3] flat = {0, 0, 4}>
{
  sizes = Shape (tokens)
  batch = Gather (sizes, zero)
  ahead = Unsqueeze (batch, first)
  shape = Concat <axis = 0> (ahead, rest, two, two)
  q = MatMul (tokens, w1)
  qh = Reshape (q, shape)
  qt = Transpose <perm = [0, 2, 1, 3]> (qh)
  k = MatMul (encoded, w2)
  [keys] kh = Reshape (k, shape)
  kept = Transpose <perm = [0, 2, 1, 3]> (kh)
  kt = Transpose <perm = [0, 2, 3, 1]> (kh)
  ks = Mul (kt, scale)
  v = MatMul (encoded, w3)
  [values] vh = Reshape (v, shape)
  vt = Transpose <perm = [0, 2, 1, 3]> (vh)
  scores = MatMul (qt, ks)
  weights = Softmax <axis = -1> (scores)
  mixed = MatMul (weights, vt)
  back = Transpose <perm = [0, 2, 1, 3]> (mixed)
  y = Reshape (back, flat)
}
"""
).replace("WEIGHTS", WEIGHTS)


def parts(found: edits.Edited) -> tuple[ModelProto, ModelProto]:
    assert [proof for proof in found.proofs if not proof.equal] == []
    once, rest = (found.parts[path].to_proto() for path in (ONCE, REST))
    for each in (once, rest):
        onnx.checker.check_model(each, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return once, rest


def split(model: ModelProto | Path, *names: str) -> edits.Edited:
    return edits.split_off(model, names, ONCE, REST)


def ends(model: ModelProto) -> tuple[dict[str, str], dict[str, str]]:
    inputs, outputs = (
        {i.name: type_text(i.type) for i in infos}
        for infos in (model.graph.input, model.graph.output)
    )
    return inputs, outputs


def one_after_the_other(once: ModelProto, rest: ModelProto, feed: dict[str, Any]) -> dict[str, Any]:
    first = ran(once, **{info.name: feed[info.name] for info in once.graph.input})
    fed = {info.name: {**feed, **first}[info.name] for info in rest.graph.input}
    return {**first, **ran(rest, **fed)}


def test_keys_and_values_of_what_was_encoded_are_computed_once() -> None:
    model = parsed(CROSS)
    found = split(model, "encoded")
    once, rest = parts(found)
    keys = "float32[B, 2, S, 2]"
    assert ends(once) == ({"encoded": "float32[B, S, 4]"}, {"kept": keys, "vt": keys})
    assert ends(rest) == (
        {"kept": keys, "vt": keys, "tokens": "float32[B, T, 4]"},
        {"y": "float32[B, T, 4]"},
    )
    assert not {"w2", "w3"} & {tensor.name for tensor in rest.graph.initializer}
    assert "w1" not in {tensor.name for tensor in once.graph.initializer}
    assert found.steps[0].said == (
        "once.onnx computes kept, vt from encoded",
        "rest.onnx takes them, and tokens",
        "has the batch size of what it reads: keys, values",
    )
    feed = {"tokens": samples(3, 2, 4), "encoded": samples(3, 5, 4, seed=1)}
    wanted, given = ran(model, **feed), one_after_the_other(once, rest, feed)
    for name in wanted:
        np.testing.assert_allclose(given[name], wanted[name], rtol=1e-5, atol=1e-6)


def test_keys_that_are_multiplied_before_they_are_kept() -> None:
    kept = "  kept = Transpose <perm = [0, 2, 1, 3]> (kh)\n"
    text = CROSS.replace(kept, "").replace("  y = Reshape", f"{kept}  y = Reshape")
    text = text.replace("2] kept)", "2] kept, float[B, 2, 2, S] kt)")
    once, rest = parts(split(parsed(text), "encoded"))
    assert list(ends(once)[1]) == ["kt", "vt", "kept"]
    assert list(ends(rest)[0]) == ["kt", "vt", "tokens"]
    once, rest = parts(split(parsed(text.replace(", float[B, 2, 2, S] kt)", ")")), "encoded"))
    assert list(ends(once)[1]) == ["kept", "vt"]


@pytest.mark.parametrize("kind", ["float16", "float64"])
def test_types_of_floats(kind: str) -> None:
    model = parsed(CROSS)
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = TensorProto.DataType.Value(WORDS[kind])
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32:
            tensor.CopyFrom(numpy_helper.from_array(array.astype(kind), tensor.name))
    once, rest = parts(split(model, "encoded"))
    assert set(ends(once)[1].values()) == {f"{kind}[B, 2, S, 2]"}
    assert ends(rest)[1] == {"y": f"{kind}[B, T, 4]"}


def test_a_size_of_it_is_that_of_a_key() -> None:
    text = CROSS.replace(
        "scores = MatMul (qt, ks)",
        """lengths = Shape (encoded)
  length = Gather (lengths, one)
  share = Cast <to = 1> (length)
  raw = MatMul (qt, ks)
  scores = Div (raw, share)""",
    ).replace("int64 zero", "int64 one = {1}, int64 zero")
    once, rest = parts(split(parsed(text), "encoded"))
    assert list(ends(once)[1]) == ["kept", "share", "vt"]
    text = text.replace("share = Cast <to = 1> (length)", "n = Mul (length, batch)").replace(
        "scores = Div (raw, share)", "share = Cast <to = 1> (n) scores = Div (raw, share)"
    )
    once, rest = parts(split(parsed(text), "encoded"))
    assert (list(ends(once)[1]), list(ends(rest)[0])) == (["kept", "vt"], ["kept", "vt", "tokens"])


def test_a_body_reads_it_too() -> None:
    once, rest = parts(split(parsed(BRANCHES), "x"))
    assert (list(ends(once)[1]), list(ends(rest)[0])) == (["h"], ["h", "x", "c"])


def test_several_inputs_and_what_is_drawn() -> None:
    text = HEAD + (
        "g (float[N, 4] a, float[N, 4] b, float[N, 4] c) => (float[N, 4] y) "
        "{ s = Add (a, b) r = RandomNormalLike (b) z = Mul (r, b) k = Sub (z, z) t = Exp (s) "
        "u = Add (t, c) y = Add (u, k) }"
    )
    once, rest = parts(split(parsed(text.replace("RandomNormalLike", "Neg")), "a", "b"))
    assert list(ends(once)[1]) == ["t", "k"]
    found = edits.split_off(parsed(text), ["a", "b"], ONCE, REST, verify="off")
    rest = found.parts[REST].to_proto()
    assert "RandomNormalLike" in [node.op_type for node in rest.graph.node]
    assert list(ends(rest)[0]) == ["t", "b", "c"]


def test_another_batch_is_no_batch_of_its_own() -> None:
    """Where a first size is declared otherwise, the product itself is what is computed once."""
    model = parsed(CROSS.replace("float[B, T, 4] tok", "float[A, T, 4] tok"))
    once, _ = parts(split(model, "encoded"))
    assert list(ends(once)[1]) == ["k", "v"]


def test_a_first_size_that_is_another_is_noticed() -> None:
    model = parsed(
        HEAD + "g (float[B, 4] tokens, float[B, 4] encoded) => (float[C, 8] y) "
        "<int64[1] two = {2}, int64[1] eight = {8}, int64[2] rows = {-1, 8}> "
        "{ n = Shape <end = 1> (tokens) h = Div (n, two) s = Concat <axis = 0> (h, eight) "
        "e = Exp (encoded) r = Reshape (e, s) t = Reshape (tokens, rows) y = Add (r, t) }"
    )
    sizes = {"tokens": (4, 4), "encoded": (4, 4)}
    assert edits.split_off(model, ["encoded"], ONCE, REST, shapes=sizes).exit_code == 4


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        (CROSS, "nothing", "the model has no input 'nothing'"),
        (
            HEAD + "g (float[N, 4] x, float[N, 4] z) => (float[N, 4] y) { y = Add (x, z) }",
            "x",
            "nothing is computed from x and weights alone",
        ),
        (
            HEAD + "g (float[N, 4] x, float[M] z) => (float[K, 4] y) "
            "{ s = Shape <end = 1> (x) e = Expand (z, s) t = Shape <end = 1> (e) "
            "q = Concat <axis = 0> (t, f) y = Expand (z, q) }",
            "x",
            "nothing but sizes is computed from x and weights alone",
        ),
        (
            HEAD + "g (float[N, 4] x) => (float[N, 4] y) { y = Neg (x) }",
            "x",
            "all outputs depend on x alone, nothing is left",
        ),
        (
            HEAD + "g (float[N, 4] x, bool c) => (float[N, 4] y) { y = If (c) <"
            "then_branch = t () => (float[N, 4] z) { z = Neg (x) }, "
            "else_branch = e () => (float[N, 4] z) { z = Abs (x) }> }",
            "x",
            "x is read inside of an If",
        ),
    ],
)
def test_what_is_refused(text: str, name: str, why: str) -> None:
    text = text.replace("(float[K, 4] y) {", "(float[K, 4] y) <int64[1] f = {4}> {")
    with pytest.raises(UsageError, match=f"^--split-off {name}=once.onnx,rest.onnx: {why}"):
        split(parsed(text), name)


def test_one_file_cannot_hold_both() -> None:
    with pytest.raises(UsageError, match="both parts would go to one file"):
        edits.split_off(parsed(CROSS), ["encoded"], ONCE, ONCE)


def test_weights_stay_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = with_external_data(parsed(CROSS), tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["edit", str(path), "--split-off", f"encoded={ONCE},{REST}"]) == 0
    assert "each claim verified" in capsys.readouterr().out
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        ["big.onnx", "once.onnx", "rest.onnx", "weights.bin"]
    )
    assert main(["edit", str(path), "--split-off", "encoded=once.onnx"]) == 2
