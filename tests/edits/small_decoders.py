"""Small decoders with caches that grow, as exporters write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, numpy_helper

HEADS, SIZE, TOKENS = 2, 16, 16
WIDTH = HEADS * SIZE
CACHES = f"float[B, {HEADS}, P, {SIZE}] past_key, float[B, {HEADS}, P, {SIZE}] past_value"
PRESENT = f"float[B, {HEADS}, T, {SIZE}] present_key, float[B, {HEADS}, T, {SIZE}] present_value"
MASK = "int64[B, T] attention_mask"

# Positions are counted from the size of the cache, and so is who sees whom.
PLACES = """
  ps = Shape <start = 2, end = 3> (past_key)
  ss = Shape <start = 1, end = 2> (input_ids)
  p = Squeeze (ps)
  s = Squeeze (ss)
  t = Add (p, s)
  places = Range (p, t, one)
  place = Gather (wpe, places)
  word = Gather (wte, input_ids)
  h = Add (word, place)
"""
EACH = """
  q = MatMul (h, wq)
  k = MatMul (h, wk)
  v = MatMul (h, wv)
"""
APART = """
  qs = Reshape (q, heads)
  ks = Reshape (k, heads)
  vs = Reshape (v, heads)
  qt = Transpose <perm = [0, 2, 1, 3]> (qs)
  kt = Transpose <perm = [0, 2, 1, 3]> (ks)
  vt = Transpose <perm = [0, 2, 1, 3]> (vs)
"""
JOINED = """
  [join_keys] present_key = Concat <axis = 2> (past_key, kt)
  [join_values] present_value = Concat <axis = -2> (past_value, vt)
  turned = Transpose <perm = [0, 1, 3, 2]> (present_key)
  scores = MatMul (qt, turned)
"""
SEEN = """
  keys = Range (zero, t, one)
  own = Unsqueeze (places, last)
  before = LessOrEqual (keys, own)
  asked = Cast <to = 9> (attention_mask)
  wide = Unsqueeze (asked, middle)
  both = And (before, wide)
  [mask] hidden = Where (both, scores, lowest)
"""
GIVEN = """
  flat = Transpose <perm = [0, 2, 1, 3]> (mixed)
  o = Reshape (flat, joined)
  logits = MatMul (o, head)
"""
PLAIN = (
    PLACES
    + EACH
    + APART
    + JOINED
    + SEEN
    + """
  [shares] weights = Softmax (hidden)
  mixed = MatMul (weights, present_value)
"""
    + GIVEN
)
UNMASKED = (
    PLACES
    + EACH
    + APART
    + JOINED
    + """
  [shares] weights = Softmax (scores)
  mixed = MatMul (weights, present_value)
"""
    + GIVEN
)
GROUPED = (
    """
  ones = ReduceSum <keepdims = 0> (attention_mask, last)
  less = Sub (ones, one)
  lengths = Cast <to = 6> (less)
  ts = Shape <start = 1, end = 2> (attention_mask)
  total = Squeeze (ts)
  total32 = Cast <to = 6> (total)
  h = Gather (wte, input_ids)
"""
    + EACH
    + f"""
  [attn] o, present_key, present_value = com.microsoft.GroupQueryAttention
    <num_heads = {HEADS}, kv_num_heads = {HEADS}> (q, k, v, past_key, past_value, lengths, total32)
  logits = MatMul (o, head)
"""
)
MULTI_HEAD = (
    PLACES
    + EACH
    + f"""
  [attn] o, present_key, present_value = com.microsoft.MultiHeadAttention
    <num_heads = {HEADS}> (q, k, v, , , , past_key, past_value)
  logits = MatMul (o, head)
"""
)
STANDARD = (
    PLACES
    + EACH
    + f"""
  [attn] o, present_key, present_value = Attention
    <q_num_heads = {HEADS}, kv_num_heads = {HEADS}> (q, k, v, , past_key, past_value)
  logits = MatMul (o, head)
"""
)


def decoder(
    body: str,
    inputs: Sequence[str] = (MASK,),
    *,
    opset: int = 17,
    tokens: str = "S",
    more: Mapping[str, np.ndarray[Any, Any]] | None = None,
) -> ModelProto:
    """Return a decoder of one layer.

    Args:
        body: Its nodes.
        inputs: What it is fed with next to tokens and caches.
        opset: Of the default domain.
        tokens: How many tokens it takes.
        more: Further constants.
    """
    given = ", ".join((f"int64[B, {tokens}] input_ids", *inputs, CACHES))
    model = onnx.parser.parse_model(
        f'<ir_version: 9, opset_import: ["" : {opset}, "com.microsoft" : 1]> '
        f"g ({given}) => (float[B, {tokens}, {TOKENS}] logits, {PRESENT}) {{ {body} }}"
    )
    random = np.random.default_rng(5)
    sizes = {"wte": (TOKENS, WIDTH), "wpe": (64, WIDTH), "head": (WIDTH, TOKENS)}
    sizes |= dict.fromkeys(("wq", "wk", "wv"), (WIDTH, WIDTH))
    stored = {n: random.standard_normal(s, np.float32) / 2 for n, s in sizes.items()}
    numbers = {"zero": 0, "one": 1, "minus": -1, "last": [1], "middle": [1, 2]}
    numbers |= {"heads": [0, 0, HEADS, SIZE], "joined": [0, 0, WIDTH]}
    arrays = stored | {name: np.array(value, np.int64) for name, value in numbers.items()}
    floats = {"lowest": np.finfo(np.float32).min, "nil": 0, "ends": -np.inf}
    arrays |= {name: np.array(value, np.float32) for name, value in floats.items()}
    for name, array in (arrays | dict(more or {})).items():
        if name in body.replace("(", " ").replace(")", " ").replace(",", " ").split():
            model.graph.initializer.append(numpy_helper.from_array(array, name))
    onnx.checker.check_model(model, full_check=False)  # pyright: ignore[reportUnknownMemberType]
    return model
