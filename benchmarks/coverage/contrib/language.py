"""Search loops, tokens, containers of engines, and small operators of generation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import GraphProto, TensorProto, helper

from benchmarks.coverage.contrib.form import Form, const, real, whole


def forms() -> Iterator[Form]:
    """Yield the forms."""
    yield from _searches()
    ids = whole(0, 5, 2, 6, seed=1)
    op, open_ = "NGramRepeatBlock", [(0, 0), (0, 1), (1, 0)]
    yield Form(op, "plain", [ids, real(2, 9)], attributes={"ngram_size": 2})
    longer = whole(0, 2, 2, 12, seed=1)
    yield Form(op, "longer", [longer, real(2, 9)], attributes={"ngram_size": 4})
    yield Form(op, "open", [longer, real(2, 9)], attributes={"ngram_size": 3}, free=open_)
    yield Form(op, "few", [ids, real(2, 9)], attributes={"ngram_size": 7})
    tokens = [whole(0, 9, 8), whole(0, 9, 5), np.array([0])]
    both = [np.int64, np.int64]
    sizes = {"min_ngram_size": 1, "max_ngram_size": 3}
    yield Form("BifurcationDetector", "plain", tokens, both, sizes)
    numbers = [
        whole(1, 99, 2, 6),
        const(np.array([3, 5, 7])),
        const(np.array([11, 13, 17, 19])),
    ]
    hashing = {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 0}
    yield Form("NGramHashMapping", "plain", numbers, [np.int64], hashing)
    flat = [whole(1, 99, 6), *numbers[1:], np.array([0, 2, 6], np.int32)]
    yield Form("VarlenNGramHashMapping", "plain", flat, [np.int64], hashing)
    commit = [whole(0, 9, 4), whole(0, 9, 4)]
    yield Form(
        "SpeculativePrefixCommit", "plain", commit, [np.int32, np.int64, np.int64], runs=False
    )
    words = whole(1, 9, 3, 7, dtype=np.int32)
    parts = [const(real(5, 1, 3, 4, seed=1)), const(real(5, seed=2)), const(real(9, 4, seed=3))]
    sizes = {"embedding_size": 5, "conv_window_size": 3, "char_embedding_size": 4}
    # Not run: onnxruntime's kernel reads what it did not write, and gives other values at times.
    yield Form("WordConvEmbedding", "plain", [words, *parts], attributes=sizes, runs=False)
    lstm = [real(5, 2, 3)]
    yield Form("AttnLSTM", "plain", lstm, attributes={"hidden_size": 4}, runs=False)
    yield Form("EPContext", "plain", [real(2, 3)], attributes={"embed_mode": 1}, runs=False)
    yield Form("Snpe", "plain", [real(2, 3)], attributes={"DLC": b"0"}, runs=False)
    text = const(np.array(["a b", "c"], object))
    marks = {"mark": 0, "pad_value": "#", "mincharnum": 1, "separators": [" "]}
    yield Form("Tokenizer", "plain", [text], [np.object_], marks, runs=False)


def _searches() -> Iterator[Form]:
    ids = whole(0, 9, 1, 4, dtype=np.int32)
    number = const(np.array([8], np.int32))
    ends = {"eos_token_id": 1, "pad_token_id": 0, "decoder": _decoder()}
    beams = [ids, number, number, number, number]
    yield Form("BeamSearch", "plain", beams, [np.int32], ends, runs=False)
    sound = [real(1, 4, 8), number, number, number, number]
    yield Form("WhisperBeamSearch", "plain", sound, [np.int32], ends, runs=False)
    for operator in ("GreedySearch", "Sampling"):
        yield Form(operator, "plain", [ids, number, number], [np.int32], ends, runs=False)


def _decoder() -> GraphProto:
    info = helper.make_tensor_value_info
    return helper.make_graph(
        [helper.make_node("Identity", ["input_ids"], ["logits"])],
        "decoder",
        [info("input_ids", TensorProto.INT32, ["batch", "length"])],
        [info("logits", TensorProto.INT32, ["batch", "length"])],
    )
