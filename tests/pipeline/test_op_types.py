"""What the user says that operators without schema give: --op-type and --op-types."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto

import graphfix
from graphfix.cli import main
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.op_types import op_types_of, parse_op_type, read_op_types
from graphfix.pipeline.reproducers.recipe import Recipe
from graphfix.pipeline.settings import RunOptions
from graphfix.report import Verdict, every_site_equal
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> g'
SWISH = parse(
    f"{HEAD} (float[2,3,4,4] x, float[3] s) => (float[2,3,4,4] y) "
    "{ a = acme.MyNorm (x, s) b = HardSwish (a) c = Exp (b) y = acme.MyNorm (c, s) }"
)
TYPED = {"acme::MyNorm": "like:0"}


def _type(text: str, proto: onnx.ModelProto = SWISH) -> tuple[int, object]:
    model = Model(proto)
    reported = op_types_of({"acme::MyNorm": text})
    infer_types(model, [each.as_pass() for each in reported])
    tensor = model.graph.nodes[0].outputs[0]
    return tensor.elem_type, tensor.shape


@pytest.mark.parametrize(
    ("text", "elem_type", "shape"),
    [
        ("like:0", TensorProto.FLOAT, (2, 3, 4, 4)),
        ("like:1", TensorProto.FLOAT, (3,)),
        ("dtype:0", TensorProto.FLOAT, None),
        ("dtype:0[N,?,7]", TensorProto.FLOAT, ("N", None, 7)),
        ("float16", TensorProto.FLOAT16, None),
        ("float32[]", TensorProto.FLOAT, ()),
        (" int64[ N, 3, ? ] ; float32", TensorProto.INT64, ("N", 3, None)),
        ("?;float32", 0, None),
    ],
)
def test_what_each_form_says(text: str, elem_type: int, shape: object) -> None:
    assert _type(text) == (elem_type, shape)


def test_several_outputs_are_separated_by_semicolons() -> None:
    proto = parse(
        f"{HEAD} (float16[2,3] x) => (float16[a,b] y, int64[c] z) "
        "{ p, q = acme.MyNorm (x) y = Identity (p) z = Identity (q) }"
    )
    model = Model(proto)
    reported = op_types_of({"MyNorm": "like:0; int64[5]"})
    infer_types(model, [each.as_pass() for each in reported])
    types = [(t.elem_type, t.shape) for t in model.graph.nodes[0].outputs]
    assert types == [(TensorProto.FLOAT16, (2, 3)), (TensorProto.INT64, (5,))]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("acme::MyNorm", "like0", "'like0' is no element type"),
        ("acme::MyNorm", "float33[2]", "'float33' is no element type"),
        ("acme::MyNorm", "float32[2", "'float32[2' is no type of an output"),
        ("acme::MyNorm", "float32[-1]", "'-1' is no dimension"),
        ("acme::MyNorm", "like:0[2]", "like: takes the shape of the input too"),
        ("acme::MyNorm", "", "'' is no type of an output"),
        ("acme::My Norm", "like:0", "'acme::My Norm' is not of the form OP or DOMAIN::OP"),
    ],
)
def test_what_cannot_be_read_is_said(name: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_op_type(name, text, "--op-type")
    assert error.value.message == message


def test_once_an_operator_is_assumed_with_types_the_rest_is_judged() -> None:
    kept = graphfix.check(SWISH, "trt7.2", assume_ops=["acme::MyNorm"], op_types=TYPED)
    assert [(f.node.op, f.certain) for f in kept if f.blocks] == [("HardSwish", True)]
    wrong = graphfix.check(
        parse(f"{HEAD} (float[2,3] x) => (float[a,b] y) {{ a = acme.MyNorm (x) y = Exp (a) }}"),
        "trt8",
        assume_ops=["acme::MyNorm"],
        op_types={"acme::MyNorm": "int32[2,3]"},
    )
    assert [(f.feature, f.certain) for f in wrong if f.blocks] == [("dtype:Exp.int32", True)]


def test_exit_code_zero_is_in_reach_where_nothing_can_run_the_operator() -> None:
    result = graphfix.run(SWISH, "trt7.2", assume_ops=["acme::MyNorm"], op_types=TYPED)
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL
    assert "made-up functions for acme::MyNorm in both" in result.report.verification.method
    assert every_site_equal(result.report.outcomes)
    ops = [node.op for node in result.model.graph.nodes]
    assert ops == ["MyNorm", "HardSigmoid", "Mul", "Exp", "MyNorm"]
    without = graphfix.run(SWISH, "trt7.2", assume_ops=["acme::MyNorm"])
    assert without.exit_code == 1


def test_types_that_contradict_the_file_are_said() -> None:
    with pytest.raises(UsageError) as error:
        graphfix.check(SWISH, "trt8", op_types={"acme::MyNorm": "float16"})
    assert str(error.value) == (
        "--op-type acme::MyNorm: output y of MyNorm #3 is float32[2,3,4,4] in the model, "
        "not float16"
    )
    with pytest.raises(UsageError, match=r"is float32\[2,3,4,4\] in the model, not float32\[3\]"):
        graphfix.run(SWISH, "trt8", op_types={"acme::MyNorm": "like:1"})
    with pytest.raises(UsageError, match=r"MyNorm #0 lacks an input .*its last input is 1"):
        graphfix.run(SWISH, "trt8", op_types={"acme::MyNorm": "like:2"})


def test_types_of_operators_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ops.toml"
    path.write_text(
        '# ours\n["acme::MyNorm"]\noutputs = ["like:0"]\n\n[Cut]\noutputs = ["float32[N,3]", "?"]\n'
    )
    norm, cut = read_op_types(path)
    assert (norm.name, norm.text, cut.name, cut.text) == (
        "acme::MyNorm",
        "like:0",
        "Cut",
        "float32[N,3];?",
    )
    found = graphfix.check(SWISH, "trt7.2", assume_ops=["acme::MyNorm"], op_types=path)
    assert [f.node.op for f in found if f.blocks] == ["HardSwish"]


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ('["acme::MyNorm"]\noutput = ["like:0"]\n', 2, "acme::MyNorm has an unknown key 'output'"),
        ('\n["acme::MyNorm"]\n', 2, "acme::MyNorm lacks the key 'outputs'"),
        ('["a"]\noutputs = []\n', 2, "outputs of a has to be a list of texts"),
        ('["a"]\noutputs = "like:0"\n', 2, "outputs of a has to be a list of texts"),
        ("a = 3\n", 1, "a is no table"),
        ('["a"]\noutputs = ["like:0"]\n["b"]\noutputs = ["lik:0"]\n', 4, "'lik:0' is no type"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_line(
    tmp_path: Path, text: str, where: int, message: str
) -> None:
    path = tmp_path / "ops.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_op_types(path)
    assert error.value.where == f"{path}:{where}"
    assert error.value.message.startswith(message)


def test_a_file_that_is_no_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "ops.toml"
    path.write_text("[a\n")
    with pytest.raises(UsageError, match=r"is no TOML: .*line 1"):
        read_op_types(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_op_types(tmp_path / "none.toml")


def test_the_options_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, file = tmp_path / "m.onnx", tmp_path / "ops.toml"
    model.write_bytes(SWISH.SerializeToString())
    file.write_text('["acme::MyNorm"]\noutputs = ["float16"]\n')
    words = ["check", str(model), "--target", "trt8.6", "--assume-op", "acme::MyNorm"]
    # What is named one by one is before the file.
    assert main([*words, "--op-types", str(file), "--op-type", "acme::MyNorm=like:0"]) == 0
    assert main([*words, "--op-type", f"@{file}", "--op-type", "acme::MyNorm=like:0"]) == 0
    assert main([*words, "--op-type", f"@{file}"]) == 2
    assert main([*words, "--op-type", f"@{file}", "--op-type", "@other.toml"]) == 2
    assert f"{file}:2: output y of MyNorm #3 is float32" in capsys.readouterr().err
    assert main([*words, "--op-type", "acme::MyNorm"]) == 2
    assert "is not of the form [DOMAIN::]OP=TYPES" in capsys.readouterr().err
    run = ["run", *words[1:], "--op-type", "acme::MyNorm=like:0", "-o", str(tmp_path / "o.onnx")]
    assert main(run) == 0
    bisect = ["bisect", *words[1:], "--op-type", "acme::MyNorm=float16"]
    assert main(bisect) == 2


def test_what_is_said_of_an_operator_that_the_model_lacks_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(SWISH.SerializeToString())
    words = ["check", str(model), "--target", "trt8.6", "--op-type", "acme::Other=like:0"]
    main(words)
    reported = " ".join(capsys.readouterr().out.split())
    assert "--op-type acme::Other says nothing here" in reported
    main([*words[:-1], "HardSwish=like:0"])
    assert "--op-type HardSwish says nothing here" in " ".join(capsys.readouterr().out.split())


def test_a_reproducer_knows_what_operators_give() -> None:
    recipe = Recipe.of(RunOptions(target="trt8", op_types=TYPED).settings(), [])
    assert recipe.op_types == TYPED
    assert [each.text for each in recipe.settings().op_types] == ["like:0"]


def test_types_reach_what_is_after_the_operator_in_subgraphs_and_functions() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1, "f" : 1]> '
        "g (float[2,3] x) => (float[2,3] y) { y = f.norm (x) }\n"
        '<domain: "f", opset_import: ["" : 17, "acme" : 1]> '
        "norm (u) => (v) { a = acme.MyNorm (u) v = Relu (a) }"
    )
    found = graphfix.check(proto, "trt10.1", assume_ops=["acme::MyNorm"], op_types=TYPED)
    assert [f.rule for f in found if f.blocks] == []
    assert all(f.certain for f in found)


def test_a_function_is_called_in_a_file_without_repairs_around_it(tmp_path: Path) -> None:
    text = (
        '<ir_version: 9, opset_import: ["" : 17, "f" : 1]> g (float[2, N] x) => (float[2, N] y) '
        '{ y = f.Twice (x) } <domain: "f", opset_import: ["" : 17]> Twice (a) => (c) '
        "{ b = Mine (a) c = Mine (b) }"
    )
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    path.write_bytes(parse(text).SerializeToString())
    words = ["run", str(path), "--target", "trt8", "-o", str(out), "--assume-op", "Mine"]
    assert main(words) == 1
    assert main([*words, "--force", "--op-type", "Mine=like:0"]) == 0
