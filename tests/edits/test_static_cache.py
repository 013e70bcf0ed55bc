"""--static-cache: caches of a fixed length, the position as an input, proved by decoding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import ModelProto, external_data_helper, helper, numpy_helper

from graphfix import UsageError, edits, load
from graphfix.cli import main
from graphfix.edits.caches.proof import shown
from graphfix.edits.caches.static_form import plain, static_form
from graphfix.edits.step import Subject
from graphfix.report import Verdict
from tests.edits import small_decoders as small
from tests.edits.small_models import HEAD, TOWER, checked, parsed, ran

ONE = {"inputs": (), "tokens": "1"}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (small.PLAIN, {}),
    "no mask": (small.UNMASKED, {"inputs": ()}),
    "grouped": (small.GROUPED, {}),
    "multi-head": (small.MULTI_HEAD, ONE),
    "standard": (small.STANDARD, {**ONE, "opset": 23}),
}


def made(kind: str) -> ModelProto:
    body, how = KINDS[kind]
    return small.decoder(body, **how)


def sizes(model: ModelProto) -> dict[str, list[int]]:
    infos = (*model.graph.input, *model.graph.output)
    return {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in infos}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_tokens_are_decoded(kind: str) -> None:
    found = edits.static_cache(made(kind), 48)
    (proof,) = found.proofs
    assert proof.verification.method == "onnxruntime, 32 of 32 tokens are the same"
    cache = [1, small.HEADS, 48, small.SIZE]
    assert sizes(checked(found)) == {
        "input_ids": [1, 1],
        "position": [1],
        "past_key": cache,
        "past_value": cache,
        "logits": [1, 1, small.TOKENS],
        "present_key": cache,
        "present_value": cache,
    }


@pytest.mark.parametrize("kind", ["plain", "grouped"])
def test_a_second_model_takes_prompts(kind: str) -> None:
    found = edits.static_cache(made(kind), 48, 6)
    assert found.exit_code == 0
    (prompt,) = (part.to_proto() for part in found.parts.values())
    assert sizes(prompt)["input_ids"] == [1, 6]
    assert sizes(prompt)["logits"] == [1, 6, small.TOKENS]


def test_a_model_whose_prompt_sees_what_comes_after_is_not_called_equal() -> None:
    found = edits.static_cache(made("no mask"), 48, 6)
    assert found.exit_code == 1
    assert found.proofs[0].verification.reason == (
        "32 of 32 tokens are the same one by one; a prompt at once gives the model other scores, "
        "for its tokens see those after them"
    )


def test_rows_are_put_at_the_position_and_what_is_after_it_is_not_seen() -> None:
    model = made("plain")
    static = checked(edits.static_cache(model, 48))
    random = np.random.default_rng(0)
    shape = (1, small.HEADS, 48, small.SIZE)
    caches = {n: random.standard_normal(shape, np.float32) for n in ("past_key", "past_value")}
    ids = np.array([[3]])
    mask = np.ones((1, 10), np.int64)
    before = {name: cache[:, :, :9] for name, cache in caches.items()}
    wanted = ran(model, input_ids=ids, attention_mask=mask, **before)
    result = ran(static, input_ids=ids, position=np.array([9]), **caches)
    np.testing.assert_allclose(result["logits"], wanted["logits"], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(result["present_key"][:, :, 9], wanted["present_key"][:, :, 9])
    np.testing.assert_array_equal(result["present_key"][:, :, :9], before["past_key"])
    np.testing.assert_array_equal(result["present_key"][:, :, 10:], caches["past_key"][:, :, 10:])


def test_a_position_below_the_first_place_is_that_place() -> None:
    static = checked(edits.static_cache(made("plain"), 48))
    shape = (1, small.HEADS, 48, small.SIZE)
    caches = {name: np.ones(shape, np.float32) for name in ("past_key", "past_value")}
    below, first = (
        ran(static, input_ids=np.array([[3]]), position=np.array([place]), **caches)["logits"]
        for place in (-2, 0)
    )
    np.testing.assert_array_equal(below, first)


def test_what_is_said() -> None:
    assert edits.static_cache(made("plain"), 48, verify="off").steps[0].said == (
        "2 caches have 48 places; input 'position' says at which the token is",
        "follows from the position: attention_mask",
    )
    assert edits.static_cache(made("no mask"), 48, 6, verify="off").steps[0].said[1:] == (
        "1 Softmax leaves out what is after the position",
        "a second file, .prefill.onnx, takes 6 tokens at once",
    )


def test_a_cache_of_what_was_encoded_stays_as_it_is() -> None:
    crossed = f"float[B, {small.HEADS}, E, {small.SIZE}] past_encoder"
    body = small.UNMASKED.replace(
        "mixed = MatMul (weights, present_value)",
        """over = Transpose <perm = [0, 1, 3, 2]> (past_encoder)
  asked = MatMul (qt, over)
  [cross] parts = Softmax (asked)
  other = MatMul (parts, past_encoder)
  own = MatMul (weights, present_value)
  mixed = Add (own, other)""",
    )
    found = edits.static_cache(small.decoder(body, (crossed,)), 48)
    assert found.steps[0].said[1] == "1 Softmax leaves out what is after the position"
    encoder = next(i for i in checked(found).graph.input if i.name == "past_encoder")
    names = [dim.dim_param or dim.dim_value for dim in encoder.type.tensor_type.shape.dim]
    assert names == [1, small.HEADS, "E", small.SIZE]


def test_lengths_that_are_inputs_follow_from_the_position() -> None:
    body = small.GROUPED[small.GROUPED.index("  h = Gather") :]
    inputs = ("int32[B] lengths", "int32 total32")
    found = edits.static_cache(small.decoder(body, inputs), 48, 6)
    assert found.steps[0].said[1] == "follows from the position: lengths, total32"
    checked(found)


def test_minus_infinity_and_rows_that_see_nothing_are_not_needed() -> None:
    body = small.PLAIN.replace(
        "[mask] hidden = Where (both, scores, lowest)",
        "mask = Where (both, nil, ends) hidden = Add (scores, mask)",
    ).replace(
        "[shares] weights = Softmax (hidden)",
        "r = Softmax (hidden) none = IsNaN (r) [guard] weights = Where (none, nil, r)",
    )
    found = edits.static_cache(small.decoder(body), 48)
    assert found.steps[0].said[2:] == (
        "1 Where is gone, for a Softmax over nothing: each token sees itself",
    )
    static = checked(found)
    assert "IsNaN" not in {node.op_type for node in static.graph.node}
    stored = [numpy_helper.to_array(tensor) for tensor in static.graph.initializer]
    assert not any(np.isinf(array).any() for array in stored)
    assert any(array.shape == () and array == -65504 for array in stored)


def test_what_is_left_of_a_head_that_turns_as_a_whole_is_not_joined() -> None:
    body = small.PLAIN.replace(
        "qt = Transpose <perm = [0, 2, 1, 3]> (qs)",
        """qw = Transpose <perm = [0, 2, 1, 3]> (qs)
  [whole] turned_part = Slice (qw, from0, ends_, at_3)
  [rest] left = Slice (qw, ends_, ends_, at_3)
  [joined_parts] qt = Concat <axis = -1> (turned_part, left)""",
    )
    more = {"from0": np.array([0]), "ends_": np.array([small.SIZE]), "at_3": np.array([3])}
    graph = checked(edits.static_cache(small.decoder(body, more=more), 48)).graph
    names = {node.name: node for node in graph.node}
    assert "rest" not in names
    assert list(names["joined_parts"].input) == ["turned_part"]


def test_a_table_that_is_cut_at_its_end_is_read_from_the_position() -> None:
    body = small.PLAIN.replace(
        "[mask] hidden = Where (both, scores, lowest)",
        """[mask] masked = Where (both, scores, lowest)
  room = Shape <start = 0, end = 1> (wpe)
  count = Add (ps, ss)
  from = Sub (room, count)
  column = Gather <axis = 1> (wpe, zero)
  [cut] slopes = Slice (column, from, room)
  hidden = Add (masked, slopes)""",
    )
    checked(edits.static_cache(small.decoder(body), 48))


SINK = """[sinks] more = Concat <axis = 3> (scores, sink)
  r = Softmax (more)
  [back] weights = Slice (r, from0, before_last, at_3)"""
SINKS = {
    "sink": np.ones((1, small.HEADS, 1, 1), np.float32),
    "at_3": np.array([3]),
    "from0": np.array([0]),
    "before_last": np.array([-1]),
}


def test_the_score_of_a_sink_comes_after_all_places() -> None:
    masked = small.PLAIN.replace("[shares] weights = Softmax (hidden)", SINK)
    masked = masked.replace("Concat <axis = 3> (scores,", "Concat <axis = 3> (hidden,")
    found = edits.static_cache(small.decoder(masked, tokens="1", more=SINKS), 48)
    assert found.exit_code == 0
    graph = found.model.to_proto().graph
    joined = next(node for node in graph.node if node.name == "sinks")
    assert list(joined.input)[1] == "sink"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            small.UNMASKED.replace("[shares] weights = Softmax (scores)", SINK),
            "Softmax 'r?' is over more than the places of a cache",
        ),
        (
            small.PLAIN.replace("[shares] weights = Softmax (hidden)", SINK)
            .replace("Concat <axis = 3> (scores,", "Concat <axis = 3> (hidden,")
            .replace("Slice (r, from0, before_last,", "Slice (r, from1, ends_,"),
            "Slice 'back' cuts axis 3, where something comes after all places",
        ),
    ],
)
def test_a_sink_in_another_place_is_refused(body: str, why: str) -> None:
    more = SINKS | {"from1": np.array([1]), "ends_": np.array([2**62])}
    inputs = (small.MASK,) if "hidden" in body else ()
    with pytest.raises(UsageError, match=f"^--static-cache 48: {why}"):
        edits.static_cache(small.decoder(body, inputs, tokens="1", more=more), 48, verify="off")


def test_a_model_that_no_engine_runs_is_not_shown_to_be_wrong() -> None:
    body = small.PLAIN.replace("logits = MatMul (o, head)", "e = MatMul (o, head) y = Round (e)")
    body += " c = Cast <to = 6> (y) d = Round (c) logits = Cast <to = 1> (d)"
    model = small.decoder(body)
    (proof,) = edits.static_cache(model, 48).proofs
    assert proof.verification.status is Verdict.INCONCLUSIVE
    assert proof.verification.reason.startswith("the model does not run")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "q = MatMul",
            "pe = Add (ps, ss) [odd] cut = Slice (short, ps, pe) q = MatMul",
            "Slice 'odd' cuts a table for 20 places, fewer than 48",
        ),
        (
            "mixed = MatMul",
            "[twice] d = Concat <axis = 3> (weights, weights) e = ReduceMax (d) mixed = MatMul",
            "Concat 'twice' joins other than the past and what is new",
        ),
        (
            "q = MatMul",
            "pp = Mul (ps, ps) pe = Add (pp, ss) [odd] cut = Slice (wpe, pp, pe) q = MatMul",
            "Slice 'odd' cuts 9:10 of axis 0 for a past of 3 and 64:64 of axis 0 for a past of 47",
        ),
        (
            "q = MatMul",
            "[odd] largest, ranks = TopK <axis = 0> (wpe, ps) q = MatMul",
            "TopK 'odd' reads 'ps', which counts the past",
        ),
        (
            "mixed = MatMul",
            "[odd] last_key = Gather <axis = 2> (present_key, minus) mixed = MatMul",
            "Gather 'odd' counts from the end of what is in the cache",
        ),
        (
            "weights = Softmax (scores)",
            "weights = Softmax <axis = 2> (scores)",
            "Softmax 'shares' is not over the last axis, which alone must grow",
        ),
    ],
)
def test_what_is_not_understood_is_refused(old: str, new: str, why: str) -> None:
    assert old in small.UNMASKED
    short = {"short": np.ones((20, 3), np.float32)}
    model = small.decoder(small.UNMASKED.replace(old, new), (), more=short)
    with pytest.raises(UsageError, match=f"^--static-cache 48: {why}"):
        edits.static_cache(model, 48, verify="off")


def test_a_cache_that_slides_is_refused() -> None:
    body = small.GROUPED.replace("<num_heads", "<sliding_window_cache = 1, num_heads")
    with pytest.raises(UsageError, match="GroupQueryAttention 'attn' has a cache that slides"):
        edits.static_cache(small.decoder(body), 48, verify="off")


def test_a_concat_of_the_past_alone_is_gone_through() -> None:
    body = small.PLAIN.replace(
        "[join_keys]", "held = Concat <axis = -2> (past_key) [join_keys]"
    ).replace("(past_key, kt)", "(held, kt)")
    checked(edits.static_cache(small.decoder(body), 48))


def angles(rows: int) -> np.ndarray[Any, Any]:
    """Return places times frequencies, as float32 multiplies them."""
    frequencies = (100.0 ** -(np.arange(8) / 8)).astype(np.float32)
    return np.arange(rows, dtype=np.float32)[:, None] * frequencies


def turning(cosines: np.ndarray[Any, Any], sines: np.ndarray[Any, Any]) -> ModelProto:
    body = small.GROUPED.replace("total32)", "total32, cosines, sines)")
    body = body.replace("<num_heads", "<do_rotary = 1, num_heads")
    return small.decoder(body, more={"cosines": cosines, "sines": sines})


@pytest.mark.parametrize("scale", [1, 1.25])
def test_tables_of_angles_get_rows_for_all_places(scale: float) -> None:
    table = angles(48).astype(np.float64)
    wanted = [(scale * x).astype(np.float32) for x in (np.cos(table), np.sin(table))]
    found = edits.static_cache(turning(wanted[0][:40], wanted[1][:40]), 48)
    assert found.steps[0].said[-1] == "2 tables of angles got rows for 48 places"
    stored = {t.name: numpy_helper.to_array(t) for t in checked(found).graph.initializer}
    for name, array in zip(("cosines", "sines"), wanted, strict=True):
        np.testing.assert_array_equal(stored[name][:40], array[:40])
        np.testing.assert_allclose(stored[name][40:], array[40:], rtol=0, atol=1e-5)
    edits.static_cache(turning(wanted[0], wanted[1]), 48)


def test_tables_of_other_angles_must_reach_as_far_as_the_cache() -> None:
    odd = np.linspace(0, 1, 45 * 8, dtype=np.float32).reshape(45, 8)
    model = turning(np.cos(odd), np.sin(odd))
    checked(edits.static_cache(model, 45, 6))
    with pytest.raises(UsageError, match="'attn' has angles for 45 places, fewer than 46"):
        edits.static_cache(model, 46)
    for cosines, sines in ((np.cos(angles(45)), odd), (odd, odd), (2 * odd, odd)):
        with pytest.raises(UsageError, match="'attn' has angles for 45 places, fewer than 46"):
            edits.static_cache(turning(cosines, sines), 46, verify="off")


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("first", [np.sin, np.cos])
def test_sines_and_cosines_in_one_table_get_rows_too(first: Any, dtype: Any) -> None:
    second = np.cos if first is np.sin else np.sin
    whole = np.concatenate([first(angles(64)), second(angles(64))], axis=1).astype(dtype)
    body = small.PLAIN.replace("place = Gather (wpe, places)", TABLE)
    model = small.decoder(body, more={"table": whole[:44], "twice": np.array([1, 2])})
    table = next(t for t in model.graph.initializer if t.name == "table")
    if dtype == np.float16:  # as a node
        model.graph.initializer.remove(table)
        model.graph.node.insert(0, helper.make_node("Constant", [], ["table"], value=table))
    found = edits.static_cache(model, 64)
    assert found.steps[0].said[-1] == "1 tables of angles got rows for 64 places"
    stored = {t.name: numpy_helper.to_array(t) for t in checked(found).graph.initializer}
    np.testing.assert_allclose(
        stored["table"], whole, rtol=0, atol=1e-5 if dtype == np.float32 else 2e-3
    )


TABLE = """[rows] short = Gather (table, places)
  single = Cast <to = 1> (short)
  place = Tile (single, twice)"""


def test_rows_that_were_learned_must_reach_as_far_as_the_cache() -> None:
    learned = np.random.default_rng(1).standard_normal((44, 16), np.float32)
    body = small.PLAIN.replace("place = Gather (wpe, places)", TABLE)
    model = small.decoder(body, more={"table": learned, "twice": np.array([1, 2])})
    checked(edits.static_cache(model, 44))
    with pytest.raises(UsageError, match="Gather 'rows' has rows for 44 places, fewer than 48"):
        edits.static_cache(model, 48)


def test_elements_that_are_taken_by_the_position_must_reach_as_far() -> None:
    elements = """every = Expand (places, wide_at)
  across = Transpose (table)
  [rows] short = GatherElements <axis = 1> (across, every)
  single = Transpose (short)
  place = Tile (single, twice)"""
    more = {"table": np.ones((44, 16), np.float32), "twice": np.array([1, 2])}
    more |= {"wide_at": np.array([16, 1])}
    body = small.PLAIN.replace("place = Gather (wpe, places)", elements)
    model = small.decoder(body, more=more)
    checked(edits.static_cache(model, 44))
    match = "GatherElements 'rows' has rows for 44 places, fewer than 48"
    with pytest.raises(UsageError, match=match):
        edits.static_cache(model, 48)


def test_models_that_have_no_such_cache_are_refused() -> None:
    with pytest.raises(UsageError, match="no input is a cache to which a Concat"):
        edits.static_cache(parsed(TOWER), 48)
    merged = HEAD + (
        "g (float[N, 2] past, bool[1] use_cache) => (float[N, 2] y) { [switch] y = If (use_cache) <"
        "then_branch = t () => (float[N, 2] a) { a = Neg (past) }, "
        "else_branch = e () => (float[N, 2] b) { b = Abs (past) }> }"
    )
    with pytest.raises(UsageError, match="If 'switch' decides by input 'use_cache'") as error:
        edits.static_cache(parsed(merged), 48)
    assert "--split-by use_cache=" in str(error.value.hint)


def test_lengths_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="the model takes one token at once"):
        edits.static_cache(made("multi-head"), 48, 6, verify="off")
    with pytest.raises(UsageError, match="a cache for 40 new tokens must be longer"):
        edits.static_cache(made("plain"), 40, 40, verify="off")
    with pytest.raises(UsageError, match="by decoding it needs at least 37 places"):
        edits.static_cache(made("plain"), 36)


def test_a_form_that_sees_what_is_after_the_position_is_shown_to_be_wrong() -> None:
    model = made("plain")
    form = static_form(plain(model, ""), "", 48, 1, "--static-cache 48")
    broken = onnx.ModelProto()
    broken.CopyFrom(form.proto)
    for node in broken.graph.node:
        if node.name == "mask":
            node.input[2] = node.input[1]  # no score is hidden
    subject = Subject(model, "")
    assert shown(subject, form, None).verification.status is Verdict.EQUAL
    wrong = shown(subject, replace(form, proto=broken), None).verification
    assert wrong.status is Verdict.MISMATCH
    assert "times noise" in wrong.reason


def test_both_files_share_their_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = made("plain")
    external_data_helper.convert_model_to_external_data(model, location="w.bin", size_threshold=256)
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    source, target = tmp_path / "in" / "m.onnx", tmp_path / "out" / "s.onnx"
    external_data_helper.write_external_data_tensors(model, str(source.parent))
    source.write_bytes(model.SerializeToString())
    words = ["edit", str(source), "--static-cache", "48", "--prefill", "6", "-o", str(target)]
    assert main(words) == 0
    assert sorted(p.name for p in target.parent.iterdir()) == [
        "s.onnx",
        "s.prefill.onnx",
        "w.bin",
    ]
    both = [load(target.parent / name).to_proto() for name in ("s.onnx", "s.prefill.onnx")]
    assert [sizes(each)["input_ids"] for each in both] == [[1, 1], [1, 6]]
    assert "s.prefill.onnx" in capsys.readouterr().out


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(made("plain").SerializeToString())
    assert main(["edit", "m.onnx", "--static-cache", "many", "-o", "o.onnx"]) == 2
    assert "--static-cache: 'many' is not of the form LENGTH" in capsys.readouterr().err
    assert main(["edit", "m.onnx", "--prefill", "6", "-o", "o.onnx"]) == 2
    assert "--prefill: must follow a --static-cache, once" in capsys.readouterr().err
    assert not Path("o.onnx").exists()
