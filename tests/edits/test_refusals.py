"""What edits refuse: each says which option, and why, and leaves the model as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphfix import UsageError, edits
from graphfix.edits.option_texts import written as read
from tests.edits.small_models import BRANCHES, CALLS, HEAD, TOWER, parsed

LISTS = HEAD + "g (seq(float[2]) s, float[N] x) => (float[N] y) { y = Neg (x) }"
PICKED = HEAD + "g (seq(float[2]) s) => (float[2] y) <int64 i = {0}> { y = SequenceAt (s, i) }"
THROUGH = HEAD + "g (float[N, 4] x) => (float[N, 4] x, float[N, 4] y) { y = Neg (x) }"
ACME = """
<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>
g (float[N, 4] x) => (float[N, 4] y) { h = acme.Norm (x) y = acme.Norm (h) }
"""
STORED = (
    HEAD
    + "g (float[N, 2] x, float[2] w) => (float[N, 2] y) <float[2] w = {1, 2}> { y = Add (x, w) }"
)
TWO = HEAD + "h (float[M, 3] a) => (float[M, 3] b, float[M, 3] c) { b = Neg (a) c = Exp (a) }"
ONE = HEAD + "h (float[M, 4] a) => (float[M, 4] b) { b = Neg (a) }"
OF_LISTS = HEAD + "h (seq(float[2]) s) => (float[2] b) <int64 i = {0}> { b = SequenceAt (s, i) }"
OTHER_ACME = ACME.replace('"acme" : 1', '"acme" : 2')
DROPPING = HEAD + "g (float[N, 4] x) => (float[N, 4] y, bool[N, 4] m) { [drop] y, m = Dropout (x) }"
OLD = """
<ir_version: 8, opset_import: ["" : 6]>
g (float[N, 4] x) => (float[N, 4] y) { y = Neg (x) }
"""


@pytest.mark.parametrize(
    ("model", "option", "text", "said"),
    [
        (TOWER, "rename", "nothing=a", "the model has no tensor 'nothing'"),
        (TOWER, "rename", "x=y", "a tensor is called 'y' already"),
        (TOWER, "rename", "*=one", "a pattern of names has one *, and so has the new name"),
        (TOWER, "rename-node", "nothing=a", "the model has no node 'nothing'"),
        (TOWER, "rename-node", "*=a", "a pattern of names has one *, and so has the new name"),
        (TOWER, "rename-node", "dot=", "'dot=' is not of the form OLD=NEW"),
        (TOWER, "rename-node", "dot=act", "a node is called 'act' already"),
        (TOWER, "dim", "M=1", "the model has no input with the size 'M'"),
        (TOWER, "dim", "N=many", "'N=many' is not of the form N=1"),
        (TOWER, "shape", "x=2", "the input has 2 dimensions, not 1"),
        (TOWER, "shape", "x=2x5", "a dimension of the input is 4 and cannot become 5"),
        (LISTS, "shape", "s=2", "input 's' is no tensor"),
        (TOWER, "dynamic", "x=NxM", "MatMul 'dot' does not run with M = 8"),
        (TOWER, "extract", "w:y", "'w' is a stored weight"),
        (TOWER, "extract", "p", "'p' is not of the form"),
        (TOWER, "split", "p=one.onnx", "is not of the form"),
        (TOWER, "split", "p=one.onnx,one.onnx", "both parts would go to one file"),
        (TOWER, "split", "y,z=one.onnx,two.onnx", "no node is left for the back"),
        (TOWER, "split", "w=one.onnx,two.onnx", "no node computes 'w'"),
        (TOWER, "keep-outputs", "p", "the model has no output 'p'"),
        (TOWER, "keep-outputs", "y,", "'y,' is not of the form"),
        (TOWER, "drop-output", "p", "the model has no output 'p'"),
        (TOWER, "add-output", "y", "'y' is an output already"),
        (TOWER, "drop-input", "x", "input 'x' is read"),
        (STORED, "drop-input", "w=1", "'w' has a value already"),
        (PICKED, "drop-input", "s=1", "input 's' is no tensor"),
        (TOWER, "reorder-inputs", "y", "the model has no input 'y'"),
        (TOWER, "reorder-outputs", "x", "the model has no output 'x'"),
        (TOWER, "join", "other", "is not of the form OTHER.onnx:OUT=IN"),
        (TOWER, "input-type", "x=float9", "float9"),
        (TOWER, "input-type", "x=float32", "it is float32 already"),
        (TOWER, "output-type", "y=float32", "it is float32 already"),
        (TOWER, "layout", "x=NHWC", "dimensions"),
        (TOWER, "normalize", "x=1", "is not of the form NAME=MEAN/STD"),
        (TOWER, "normalize", "x=1/0", "0"),
        (OLD, "normalize", "x=1/2", "is for models of opset"),
        (LISTS, "input-type", "s=float16", "'s' is no tensor"),
        (THROUGH, "swap-channels", "x", "of 3 channels"),
        (THROUGH, "input-type", "x=float16", "'x' is an output too"),
        (TOWER, "delete", "dot", "nothing can stand for 'p' of MatMul 'dot'"),
        (TOWER, "set", "act", "'act' is not of the form"),
        (TOWER, "set", "act=1", "is not of the form NODE.ATTRIBUTE=VALUE"),
        (TOWER, "set", "act.alpha=1", "the model has no Relu with the attribute 'alpha'"),
        (ACME, "set", "index:0.alpha=1", "the model has no Norm with the attribute 'alpha'"),
        (TOWER, "weights", "x=1", "the model has no stored tensor 'x'"),
        (TOWER, "weights", "w=1,2", "the value has shape [2], the model has [4, 3]"),
        (TOWER, "to", "int8", "'int8' is none of float16, bfloat16, float32"),
        (ACME, "to", "float16", "no node can be converted"),
        (OLD, "to", "float16", "the model is of opset 6"),
    ],
)
def test_of_texts(model: str, option: str, text: str, said: str) -> None:
    proto = parsed(model)
    before = proto.SerializeToString(deterministic=True)
    with pytest.raises(UsageError) as caught:
        edits.edit(proto, [read(option, text)])
    assert str(caught.value).startswith(f"--{option}")
    assert said in str(caught.value)
    assert proto.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize(
    ("model", "option", "text", "other", "said"),
    [
        (TOWER, "join", "PATH:y=s,z=s", OF_LISTS, ""),
        (TOWER, "join", "PATH:y=a,b=x", TWO, "the model has no output 'b'"),
        (TOWER, "join", "PATH:y=a,z=a", TWO, "an input is joined twice"),
        (TOWER, "join", "PATH:y=nothing", TWO, "the model has no input 'nothing'"),
        (TOWER, "join", "PATH:nothing=a", TWO, "the model has no output 'nothing'"),
        (TOWER, "join", "PATH:y=a", ONE, "output 'y'"),
        (ACME, "join", "PATH:y=x", OTHER_ACME, "one model imports acme 1, the other 2"),
        (TOWER, "insert", "s=PATH", TWO, "has 1 inputs and 2 outputs, not one of each"),
        (TOWER, "insert", "s=PATH", ONE, "tensor 's'"),
        (TOWER, "insert", "nothing=PATH", ONE, "the model has no tensor 'nothing'"),
        (THROUGH, "insert", "x=PATH", ONE, "'x' is an output too"),
        (LISTS, "insert", "s=PATH", OF_LISTS, "'s' of PATH is no tensor"),
        (TOWER, "replace", "nothing=PATH", ONE, "the model has no node 'nothing'"),
        (BRANCHES, "replace", "inner=PATH", ONE, "is in a body or function"),
        (CALLS, "replace", "root=PATH", ONE, "is in a body or function"),
        (DROPPING, "replace", "drop=PATH", ONE, "Dropout 'drop' has 2 outputs that are read"),
        (TOWER, "replace-op", "Mod=PATH", ONE, "the model has no node 'op:Mod'"),
    ],
)
def test_of_files(
    model: str, option: str, text: str, other: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(parsed(other).SerializeToString())
    with pytest.raises(UsageError) as caught:
        edits.edit(parsed(model), [read(option, text.replace("PATH", str(path)))])
    assert str(caught.value).startswith(f"--{option}")
    assert said.replace("PATH", str(path)) in str(caught.value)


def test_of_two_sizes_called_alike() -> None:
    text = HEAD + "g (float[1, 4] a, float[2, 4] b) => (float[1, 4] y) { y = Neg (a) }"
    with pytest.raises(UsageError, match="--dynamic: 'N' is of two sizes"):
        edits.dynamic(parsed(text), {"a": ("N", 4), "b": ("N", 4)})


@pytest.mark.parametrize(
    ("nodes", "stored", "at"),
    [
        ("j = Concat <axis = 1> (x, t)", "float[2, 1] t = {1, 2}", "Concat 'j'"),
        ("u = Resize (v, , , z)", "int64[4] z = {4, 1, 2, 2}", "Resize 'u'"),
    ],
)
def test_of_sizes_that_cannot_be_followed(nodes: str, stored: str, at: str) -> None:
    if "Resize" in nodes:
        body = f"[v] v = Reshape (x, four) {nodes} y = Flatten (u)"
        text = (
            HEAD
            + f"g (float[2, 4] x) => (float[P, Q] y) <{stored}, int64[4] four = {{2, 1, 2, 2}}>"
        )
    else:
        body = f"{nodes} y = Neg (j)"
        text = HEAD + f"g (float[2, 4] x) => (float[2, 5] y) <{stored}>"
    with pytest.raises(UsageError) as caught:
        edits.dynamic(parsed(text + f" {{ {body} }}"), {"x": ("N", 4)})
    assert f"{at} depends on the size in a way that cannot be freed" in str(caught.value)


def test_of_a_tensor_of_unknown_type() -> None:
    with pytest.raises(UsageError, match="the type of tensor 'h' is not known"):
        edits.add_output(parsed(ACME), "h")


def test_of_an_edit_after_a_split(tmp_path: Path) -> None:
    split = edits.Split(("s",), tmp_path / "a.onnx", tmp_path / "b.onnx")
    with pytest.raises(UsageError, match="--rename: comes after the model was split"):
        edits.edit(parsed(TOWER), [split, edits.Rename("x", "a")])


def test_of_a_model_that_no_made_input_runs() -> None:
    text = HEAD + (
        "g (float[2, 4] x) => (float[P, 3] y) <int64[2] s = {3, 3}>"
        " { h = Tanh (x) y = Reshape (h, s) }"
    )
    with pytest.raises(UsageError, match="runs with no made input"):
        edits.to(parsed(text), "float16")
