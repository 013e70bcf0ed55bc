"""Forms of operators of com.microsoft that came after a release."""

import pytest

import graphfix
from graphfix.engines.onnxruntime.rules.contrib_forms import forms
from graphfix.operators.arguments.neutral import contrib_form
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> '
PRODUCT = HEAD + (
    "g (float[N,32] x, uint8[1,1,16] b, float[1] s) => (float[N,1] y) {{ y = com.microsoft."
    "MatMulNBits <K = 32, N = 1, bits = 4, block_size = 32{}> (x, b, s) }}"
)
ATTENTION = HEAD + (
    "g (float[1,1,16] q, float[1,1,8] k, float[1,1,8] v, float[1,1,M,8] pk, float[1,1,M,8] pv, "
    "int32[1] n, int32 t, int64[1,1] p, float[1,2,1,1] m) => "
    "(float[1,1,16] y, float[1,1,L,8] a, float[1,1,L,8] b) {{ y, a, b = com.microsoft."
    "GroupQueryAttention <num_heads = 2, kv_num_heads = 1{}> (q, k, v, pk, pv, n, t{}) }}"
)
NEEDLESS = "form:com.microsoft::{}.needless"
OP = "op:com.microsoft::{}"


@pytest.mark.parametrize(
    ("text", "target", "feature"),
    [
        (PRODUCT.format(", weight_prepacked = 0"), "ort-1.27", NEEDLESS.format("MatMulNBits")),
        (PRODUCT.format(", weight_prepacked = 1"), "ort-1.27", OP.format("MatMulNBits")),
        (PRODUCT.format(", weight_prepacked = 0"), "ort-1.28", ""),
        (PRODUCT.format(""), "ort-1.16", ""),
        (ATTENTION.format("", ", , , , "), "ort-1.18", NEEDLESS.format("GroupQueryAttention")),
        (ATTENTION.format("", ", , "), "ort-1.18", ""),
        (
            ATTENTION.format(", softcap = 0.0", ""),
            "ort-1.19",
            NEEDLESS.format("GroupQueryAttention"),
        ),
        (ATTENTION.format(", softcap = 1.0", ""), "ort-1.19", OP.format("GroupQueryAttention")),
        (ATTENTION.format("", ", , , , , , "), "ort-1.22", NEEDLESS.format("GroupQueryAttention")),
        (ATTENTION.format("", ", , , p, m"), "ort-1.21", OP.format("GroupQueryAttention")),
        (ATTENTION.format("", ", , , p, m"), "ort-1.22", ""),
    ],
)
def test_what_came_later(text: str, target: str, feature: str) -> None:
    found = [f.feature for f in graphfix.check(parse(text), target) if "com.microsoft" in f.feature]
    assert found == [feature] * bool(feature)


def test_the_table_is_about_arguments_that_there_are() -> None:
    for op, row in forms().items():
        known = contrib_form(op)
        if known is None:
            continue  # registered by providers that are not built into the CPU's wheel
        assert set(row.get("attributes", ())) <= set(known.defaults), op
        steps = row.get("inputs", [[0, len(known.inputs)]])
        assert [since for since, _ in steps] == sorted(since for since, _ in steps), op
        assert steps[-1][1] >= len(known.inputs), op
