"""Inputs are realistic: inside their tables, of several sizes, reproducible."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from graphfix.errors import UsageError
from graphfix.proving.inputs import FeedMaker, make_feeds
from graphfix.proving.inputs.exhaustive import every_feed
from graphfix.proving.inputs.sizes import ATTEMPTS, attempts_for, choose, evaluate, neighbour
from graphfix.proving.values.kinds import Array, Feed

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g'


def model(text: str) -> onnx.ModelProto:
    return parser.parse_model(HEAD + text)


def arrays(feeds: list[Feed], name: str) -> list[Array]:
    return [np.asarray(feed[name]) for feed in feeds]


def test_the_same_seed_draws_the_same_inputs_and_another_seed_others() -> None:
    built = model("(float[3, 4] x) => (float[3, 4] y) { y = Relu(x) }")
    one, same, other = (make_feeds(built, seed=seed) for seed in (3, 3, 4))
    for left, right, third in zip(
        arrays(one, "x"), arrays(same, "x"), arrays(other, "x"), strict=True
    ):
        np.testing.assert_array_equal(left, right)
        assert not np.array_equal(left, third)


def test_floats_have_negative_numbers_zeros_and_ties() -> None:
    built = model("(float[8, 16] x) => (float[8, 16] y) { y = Relu(x) }")
    values = np.concatenate([a.reshape(-1) for a in arrays(make_feeds(built), "x")])
    assert (values < 0).any()
    assert (values == 0).any()
    assert len(np.unique(values)) < values.size
    assert np.isfinite(values).all()


def test_indices_stay_inside_the_table_through_a_cast() -> None:
    table = ", ".join("1.0" for _ in range(21))
    built = model(
        f"(int32[2, 5] ids) => (float[2, 5, 3] y) <float[7, 3] table = {{{table}}}>"
        "{ wide = Cast<to = 7>(ids) y = Gather(table, wide) }"
    )
    drawn = np.concatenate([a.reshape(-1) for a in arrays(make_feeds(built, samples=20), "ids")])
    assert drawn.dtype == np.int32
    assert drawn.min() >= 0
    assert drawn.max() == 6


def test_indices_of_a_dynamic_table_follow_its_size() -> None:
    built = model("(float[N, 2] table, int64[4] ids) => (float[4, 2] y) { y = Gather(table, ids) }")
    for feed in make_feeds(built, samples=12):
        assert np.asarray(feed["ids"]).max() < np.asarray(feed["table"]).shape[0]


def test_scattered_places_are_not_written_twice() -> None:
    built = model(
        """(float[4, 5] x, int64[6, 2] at, float[6] u) => (float[4, 5] y)
        { y = ScatterND(x, at, u) }"""
    )
    for at in arrays(make_feeds(built), "at"):
        assert len({tuple(row) for row in at.tolist()}) == 6
        assert (at >= 0).all()
        assert (at < [4, 5]).all()


def test_one_name_has_one_size_and_sizes_vary() -> None:
    built = model("(float[N, T] a, float[T, N] b) => (float[N, N] y) { y = MatMul(a, b) }")
    feeds = make_feeds(built, samples=3)
    shapes = [a.shape for a in arrays(feeds, "a")]
    assert [tuple(reversed(b.shape)) for b in arrays(feeds, "b")] == shapes
    assert len({shape[1] for shape in shapes}) == 3


def test_a_sum_of_names_is_the_sum_of_their_sizes() -> None:
    assert evaluate("past + seq", {"past": 3, "seq": 4}) == 7
    assert evaluate("2*n - 1", {"n": 4}) == 7
    assert evaluate("past + seq", {"past": 3}) is None
    assert evaluate("__import__('os')", {}) is None


def test_free_sizes_differ_between_symbols() -> None:
    assert len(set(choose({"a": "other", "b": "other"}, 0, 0).values())) == 2


def test_what_is_past_and_what_is_new_make_the_total() -> None:
    names = ["batch", "seq_len", "past_seq_len", "total_seq_len"]
    kinds = dict.fromkeys(names, "other")
    for sample in range(5):
        sizes = choose(kinds, sample, 0)
        assert sizes["total_seq_len"] == sizes["past_seq_len"] + sizes["seq_len"]
    lone = choose({"total_seq_len": "other", "seq_len": "other"}, 0, 0)
    assert len(set(lone.values())) == 2


def test_every_dtype_can_be_drawn() -> None:
    kinds = onnx.TensorProto
    floats = ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "FLOAT8E4M3FN", "COMPLEX64"]
    integers = ["INT4", "UINT4", *(f"{sign}INT{n}" for sign in ("", "U") for n in (8, 16, 32, 64))]
    for name in [*floats, *integers, "BOOL", "STRING"]:
        element = kinds.DataType.Value(name)
        info = onnx.helper.make_tensor_value_info("x", element, [2, 3])
        node = onnx.helper.make_node("Identity", ["x"], ["y"])
        out = onnx.helper.make_tensor_value_info("y", element, [2, 3])
        built = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [info], [out]))
        drawn = np.asarray(make_feeds(built, samples=1)[0]["x"])
        expected = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element))
        assert drawn.dtype == expected, name
        assert drawn.shape == (2, 3), name


def test_sequences_are_lists() -> None:
    built = model("(seq(float[2]) s) => (int64 n) { n = SequenceLength(s) }")
    drawn = make_feeds(built, samples=1)[0]["s"]
    assert isinstance(drawn, list)
    assert [item.shape for item in drawn] == [(2,)] * len(drawn)


def test_initializers_are_not_fed() -> None:
    built = model("(float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> {y = Add(x, w)}")
    assert list(make_feeds(built, samples=1)[0]) == ["x"]


def test_a_binding_fixes_a_shape_and_everything_of_the_same_name() -> None:
    built = model("(float[N, 3] x, int64[N] k) => (float[N, 3] y) { y = Relu(x) }")
    feed = make_feeds(built, samples=1, bindings={"x": (9, 3)})[0]
    assert np.asarray(feed["x"]).shape == (9, 3)
    assert np.asarray(feed["k"]).shape == (9,)


@pytest.mark.parametrize(
    ("bindings", "text"),
    [({"z": (1,)}, "no input 'z'"), ({"x": (2, 4)}, "not as [2, 4]"), ({"x": (2,)}, "not as [2]")],
)
def test_a_wrong_binding_is_refused(bindings: dict[str, tuple[int, ...]], text: str) -> None:
    built = model("(float[N, 3] x) => (float[N, 3] y) { y = Relu(x) }")
    with pytest.raises(UsageError) as caught:
        FeedMaker(built, bindings=bindings)
    assert text in caught.value.message


def test_a_number_that_is_compared_with_a_constant_takes_it_every_second_time() -> None:
    built = model(
        """(int64 rate, float[2] x) => (float[2] y) <int64 wanted = {16000}> {
        c = Equal(rate, wanted)
        y = If(c) <then_branch = t () => (float[2] p) {p = Neg(x)},
                   else_branch = e () => (float[2] q) {q = Abs(x)}> }"""
    )
    maker = FeedMaker(built)
    assert [int(np.asarray(maker.draw(n)["rate"])) == 16000 for n in range(4)] == [
        *(True, False, True, False)
    ]
    assert int(np.asarray(maker.draw(1, other_side=True)["rate"])) == 16000


def test_compared_constants_of_a_body_are_taken_in_turn_and_mixed_into_tensors() -> None:
    built = model(
        """(bool c, int32 n, int64[40] ids) => (bool r, bool[40] s) {
        r = If(c) <then_branch = t () => (bool p) {k = Constant <value = int32 {-70}> ()
                                                  p = Less(k, n)},
                   else_branch = e () => (bool q) {m = Constant <value = int32 {99}> ()
                                                  q = Equal(n, m)}>
        pad = Constant <value_int = -100> () s = Equal(ids, pad) }"""
    )
    maker = FeedMaker(built)
    assert [int(np.asarray(maker.draw(n)["n"])) for n in (0, 2, 4)] == [-70, 99, -70]
    some = np.asarray(maker.draw(0)["ids"]) == -100
    assert 0 < some.sum() < 40
    assert not (np.asarray(maker.draw(1)["ids"]) == -100).any()


def test_a_single_truth_value_alternates_with_samples_and_sides() -> None:
    maker = FeedMaker(model("(bool[1] c) => (bool[1] y) { y = Not(c) }"))
    assert maker.has_sides()
    drawn = [
        np.asarray(maker.draw(n, other_side=other)["c"]).tolist()
        for n, other in ((0, False), (1, False), (0, True))
    ]
    assert drawn == [[True], [False], [False]]


def test_the_last_attempts_give_one_symbol_a_size_of_its_own() -> None:
    symbols = {"time": "other", "batch": "batch", "other batch": "other"}
    last = [choose(symbols, 0, a) for a in range(ATTEMPTS, attempts_for(symbols))]
    assert len({tuple(sizes.values()) for sizes in last}) == len(last)
    assert {"time": 512, "batch": 1, "other batch": 1} in last
    assert {"time": 2, "batch": 2, "other batch": 512} in last
    for attempt in range(ATTEMPTS, attempts_for(symbols)):
        one, two = (choose(symbols, 0, a) for a in (attempt, neighbour(attempt, symbols)))
        assert {name for name in symbols if one[name] > 2} == {
            name for name in symbols if two[name] == one[name]
        }
    assert attempts_for({"batch": "batch"}) == ATTEMPTS


def test_few_truth_values_are_all_there_are() -> None:
    feeds = every_feed(model("(bool c, bool[2] d) => (bool[2] y) { y = And(c, d) }"))
    assert feeds is not None
    flat = {(*np.ravel(np.asarray(f["c"])), *np.asarray(f["d"])) for f in feeds}
    assert len(feeds) == len(flat) == 8
    assert np.asarray(feeds[0]["c"]).shape == ()
    for text in (
        "(bool[5] c) => (bool[5] y) { y = Not(c) }",
        "(bool[N] c) => (bool[N] y) { y = Not(c) }",
        "(bool c, float x) => (float y) { y = Where(c, x, x) }",
        "() => (bool y) <bool c = {1}> { y = Not(c) }",
        "(bool c = {1}, bool d) => (bool y) { y = And(c, d) }",
    ):
        assert every_feed(model(text)) is None


def test_optionals_are_absent_one_by_one_but_not_on_the_other_side_and_not_at_edges() -> None:
    maker = FeedMaker(
        model(
            """(optional(float[N]) a, optional(seq(float[2])) b) => (bool y)
            { p = OptionalHasElement(a) q = OptionalHasElement(b) y = And(p, q) }"""
        )
    )
    assert maker.has_sides()
    fed = [maker.draw(number) for number in range(4)]
    assert [(f["a"] is None, f["b"] is None) for f in fed] == [
        (False, False),
        (True, False),
        (False, True),
        (True, True),
    ]
    assert all(value is not None for value in maker.draw(3, other_side=True).values())
    assert np.asarray(maker.draw(0, 0, 1, edge={"N": 0})["a"]).shape == (0,)


def test_lengths_of_a_cache_fit_the_cache() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
      g (float[2, 1, 16] q, float[2, 1, 16] k, float[2, 1, 16] v, float[2, 2, 6, 8] pk,
         float[2, 2, 6, 8] pv, int32[2] lengths, int32 total) => (float[2, 1, 16] y) {
        y, a, b = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 2>
          (q, k, v, pk, pv, lengths, total)
      }"""
    feeds = make_feeds(parser.parse_model(text), samples=5)
    assert {int(total.reshape(())) for total in arrays(feeds, "total")} == {7}
    drawn = np.concatenate(arrays(feeds, "lengths"))
    assert drawn.min() >= 0
    assert drawn.max() <= 6


def test_a_declared_size_of_0_is_fed_as_0_and_a_negative_one_is_free() -> None:
    built = model("(float[N, M] x) => (float[N, M] y) { y = Relu(x) }")
    for dim, size in zip(built.graph.input[0].type.tensor_type.shape.dim, (0, -1), strict=True):
        dim.dim_value = size
    maker = FeedMaker(built)
    shapes = {np.asarray(maker.draw(sample).get("x")).shape for sample in range(6)}
    assert {rows for rows, _ in shapes} == {0}
    assert len({columns for _, columns in shapes}) > 1
    with pytest.raises(UsageError, match=r"x is declared as \[0, ''\], not as \[2, 3\]"):
        FeedMaker(built, bindings={"x": (2, 3)})
