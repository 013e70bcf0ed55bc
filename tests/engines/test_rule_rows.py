"""How rows are read, what each word asks, and what is said of what cannot be known."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from graphfix.authoring.declaring import Unknown
from graphfix.engines.rule import Answer, Yes
from graphfix.engines.rule_rows import Row, read_rows, rows_of_table
from graphfix.engines.targets import load_target
from graphfix.errors import PassBug
from tests.engines.test_rows import inferred, nodes_of

HEAD = """
versions = "opencv"
severity = "reject"
feature = "op:Relu"
source = "made up"
message = "OpenCV does not do that."
fires = ["(float[2] x) => (float[2] y) { y = Relu (x) }"]
"""
RELU = "(float{} x) => (float{} y) {{ y = Relu (x) }}"
POOL = "(float[1,1,4,4] x) => (float[A,B,C,D] y) {{ y = MaxPool <kernel_shape = [2, 2]{}> (x) }}"
OPEN = "(float[n] x, int64[k] s) => (float[] y) { r = Reshape (x, s) y = Relu (r) }"
CLIP = "(float[2] x, float l) => (float[2] y) <float m = {-1.5}> { y = Clip (x, m, l) }"


def row_of(words: str, head: str = HEAD) -> Row:
    (row,) = rows_of_table(tomllib.loads(f"[made-up]\n{words}{head}"), "rules.toml")
    return row


def answer(words: str, probe: str, op: str, target: str = "opencv5.0") -> Answer:
    node = next(node for node in nodes_of(inferred(probe)) if node.op == op)
    found: Answer = row_of(words).rule.check(node, load_target(target))
    return found


@pytest.mark.parametrize(
    ("words", "probe", "said"),
    [
        ("opset = '..16'", "16 " + RELU.format("[2]", "[2]"), True),
        ("opset = '..16'", RELU.format("[2]", "[2]"), None),
        ("input.0.rank = '2..3'", RELU.format("[2,2]", "[2,2]"), True),
        ("input.0.rank = 'not 2..3'", RELU.format("[2,2]", "[2,2]"), None),
        ("input.0.rank = '2'", OPEN, Unknown("rank of r")),
        ("input.0.rank = '2'\nmissing = 'the rank'", OPEN, Unknown("the rank")),
        ("input.0.rank = '2'\nunknown = 'no'", OPEN, None),
        ("input.0.rank = '2'\nunknown = 'yes'", OPEN, True),
        # What surely does not hold decides, wherever it is.
        ("opset = '18..'\ninput.0.rank = '2'", OPEN, None),
        ("input.0 = { rank = '2', type = 'int64' }", OPEN, None),
        ("input.0.type = 'float32, float16'", RELU.format("[2]", "[2]"), True),
        ("input.0.sizes = 'open'", RELU.format("[2,n]", "[2,n]"), True),
        ("input.0.sizes = 'open'", RELU.format("[2,3]", "[2,3]"), None),
        ("input.0.sizes = '3'", RELU.format("[2,3]", "[2,3]"), True),
        ("input.0.sizes = '4'", RELU.format("[2,n]", "[2,n]"), Unknown("sizes of x")),
        ("input.0.sizes = '4'", RELU.format("[2,3]", "[2,3]"), None),
        ("output.0.read = true", RELU.format("[2]", "[2]"), True),
        ("output.1.given = true", RELU.format("[2]", "[2]"), None),
    ],
)
def test_what_a_word_asks(words: str, probe: str, said: Answer) -> None:
    assert answer(words, probe, "Relu") == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("attribute.auto_pad = 'NOTSET'", True),  # ONNX's default
        ("attribute.auto_pad = 'not NOTSET'", None),
        ("attribute.auto_pad = 'absent'", True),
        ("attribute.kernel_shape = 'not absent'", True),
        ("attribute.kernel_shape = '3..'", None),
        ("attribute.kernel_shape = '..2'", True),
        ("attribute.dilations = 'not 1'", None),  # ONNX says no default
        ("attribute.storage_order = 'not 0'", None),
    ],
)
def test_what_is_asked_of_attributes(words: str, said: Answer) -> None:
    assert answer(words, POOL.format(""), "MaxPool") == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("input.1.values = '<0'", True),
        ("input.1.values = '..-2'", None),
        ("input.1.values = 'not -1.5'", None),
        ("input.2.values = '<0'", None),  # computed: no one knows
        ("input.1-2.constant = false", True),
        ("input.1.constant = false", None),
        ("input.any = { rank = '0', constant = false }", True),
        ("input.any = { rank = '1', constant = true }", None),
        ("input.1-3.given = false", True),
        ("input.1-2.given = false", None),
    ],
)
def test_what_is_asked_of_operands(words: str, said: Answer) -> None:
    assert answer(words, CLIP, "Clip") == said


def test_the_last_of_several_that_are_not_known_is_named() -> None:
    graph = "(float[] x, float[] z) => (float[] y) { y = Add (x, z) }"
    assert answer("input.any.rank = '2'", graph, "Add") == Unknown("rank of z")
    known = graph.replace("float[] z", "float[2,2] z")
    assert answer("input.any.rank = '2'", known, "Add") is True
    assert answer("input.any.rank = '3'", known, "Add") == Unknown("rank of x")


def test_what_was_found_is_named() -> None:
    found = answer("input.1-2.constant = false\nshows = 'const:{op}.{input}'", CLIP, "Clip")
    assert found == Yes(feature="const:{op}.max")
    words = "attribute.ceil_mode = 'not 0'\ninput.0.rank = '4'\n"
    names = "shows = 'rank:MaxPool.{rank}'\nsays = '{target}: {ceil_mode} of {type}'"
    found = answer(words + names, POOL.format(", ceil_mode = 1"), "MaxPool")
    assert found == Yes(feature="rank:MaxPool.4", message="OpenCV 5.0: 1 of float32")


def test_the_engine_names_the_type() -> None:
    words = "input.0.type = 'uint8'\ntext = 'no {type}'"
    node = "(uint8[2] x) => (uint8[2] y) { y = Relu (x) }"
    assert answer(words, node, "Relu", "trt8.6") == Yes(text="no UINT8")


def test_shared_texts_and_what_is_usual() -> None:
    table = tomllib.loads(
        "[shared]\nversions = 'ncnn'\nseverity = 'wrong'\nsource = 'tests'\nlayer = 'no layer'\n"
        "[made-up]\noperator = 'Relu $reductions com.microsoft::Gelu'\ntext = '$layer of {op}'\n"
        "feature = 'op:{op}'\nmessage = 'ncnn lacks it.'\nfires = ['']\n"
    )
    rule = rows_of_table(table, "rules.toml")[0].rule
    assert (rule.versions, str(rule.severity), rule.source) == ("ncnn", "wrong", "tests")
    assert (rule.id, rule.text, rule.feature) == ("made-up", "no layer of {op}", "op:{op}")
    assert {("", "Relu"), ("", "ReduceMax"), ("com.microsoft", "Gelu")} < set(rule.ops)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("maker = 'Conv'", "'maker' is no word of rules"),
        ("input.0.maker = 'Conv'", "input.0.maker: 'maker' is no word of rules"),
        ("input.first.rank = '1'", "input.first is no place"),
        ("input.0.rank = 1", "input.0.rank is 1, not a text such as"),
        ("input.0.rank = '1 or 2'", "input.0.rank is '1 or 2', not a text such as"),
        ("input.0.constant = 'yes'", "input.0.constant is 'yes', neither true nor false"),
        ("input.0 = { given = false, rank = '1' }", "nothing else holds of what is not given"),
        ("input = '0'", "input is '0', not a table"),
        ("unknown = 'maybe'", "unknown is 'maybe', not one of"),
        ("text = '$lost'", "text has $lost, which `shared` lacks"),
        ("silent = 'x'", "silent has to be a list of texts"),
    ],
)
def test_what_rows_cannot_say(words: str, said: str) -> None:
    with pytest.raises(PassBug, match=r"rules\.toml: made-up: ") as caught:
        row_of(words)
    assert said in str(caught.value)


@pytest.mark.parametrize("left_out", ["versions", "severity", "feature", "source", "message"])
def test_what_a_row_needs(left_out: str) -> None:
    head = "\n".join(line for line in HEAD.splitlines() if not line.startswith(left_out))
    with pytest.raises(PassBug, match=f"{left_out} is missing"):
        row_of("opset = '1'", head)


def test_a_row_needs_a_probe_and_a_severity_that_there_is() -> None:
    with pytest.raises(PassBug, match="fires is missing"):
        row_of("opset = '1'", HEAD.partition("fires")[0])
    with pytest.raises(PassBug, match="'refuse' is no severity"):
        row_of("opset = '1'", HEAD.replace('"reject"', '"refuse"'))


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text("[made-up\n", encoding="utf-8")
    with pytest.raises(PassBug, match="is no TOML"):
        read_rows(tmp_path / "rules.toml")
