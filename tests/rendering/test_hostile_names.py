"""Names that act on a terminal, a page or a shell: no view hands them on as they are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix.cli import main
from graphfix.ir.printing import for_terminal, in_code, printable, shell_word
from graphfix.rendering.markdown import report_markdown
from graphfix.report import FileFacts, Report, Verdict, Verification

BAD = "\x1b[31mR\x07\r\u202e\u2066`|[k](http://e)<b>&\n# H *s* _u_"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028]")


def hostile() -> ModelProto:
    """Return a model in which everything that has a name has a bad one."""
    x, y = (
        helper.make_tensor_value_info(name + BAD, TensorProto.FLOAT, ["N" + BAD, 4])
        for name in ("x", "y")
    )
    z = helper.make_tensor_value_info("z" + BAD, TensorProto.FLOAT, None)
    domain = "dom" + BAD
    nodes = [
        helper.make_node("Mod", ["x" + BAD, "w" + BAD], ["a" + BAD], name="mod" + BAD, fmod=1),
        helper.make_node("Celu", ["a" + BAD], ["y" + BAD], name="celu" + BAD),
        helper.make_node("Op" + BAD, ["a" + BAD], ["z" + BAD], name="own" + BAD, domain=domain),
    ]
    weight = numpy_helper.from_array(np.ones((1, 4), np.float32), "w" + BAD)
    graph = helper.make_graph(nodes, "g" + BAD, [x], [y, z], [weight], doc_string="doc" + BAD)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name="p" + BAD)
    model.metadata_props.add(key="key" + BAD, value="value" + BAD)
    return model


COMMANDS = (
    ("check", "--target", "trt8"),
    ("check", "--target", "trt8", "--explain"),
    ("check", "--target", "tflite"),
    ("inspect",),
    ("run", "--target", "trt8", "--verify", "off", "-o", "OUT", "--force"),
    ("run", "--target", "trt8", "--verify", "off", "-o", "OUT", "--force", "-v"),
    ("run", "--target", "trt8", "--passes", "no" + BAD),
    ("run", "--target", "trt8", "--shape", f"x{BAD}=1x5", "-o", "OUT"),
    ("edit", "--prefix", "q/", "--verify", "off", "-o", "OUT", "--force"),
    ("edit", "--rename", f"x{BAD}=b{BAD}", "--verify", "off", "-o", "OUT", "--force"),
    ("edit", "--delete", "no" + BAD, "-o", "OUT", "--force"),
    ("diff", "OTHER"),
    ("explain", "error: no importer for op: Op" + BAD),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:3])[:30])
def test_nothing_printed_acts_on_a_terminal(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"m{BAD}.onnx".replace("/", "")
    path.write_bytes(hostile().SerializeToString())
    other = tmp_path / "other.onnx"
    changed = hostile()
    changed.graph.node[1].op_type = "Elu"
    other.write_bytes(changed.SerializeToString())
    given = [{"OUT": str(tmp_path / "out.onnx"), "OTHER": str(other)}.get(w, w) for w in words]
    code = main([given[0], *([] if words[0] == "explain" else [str(path)]), *given[1:]])
    assert code != 5
    for text in capsys.readouterr():
        assert not ACTS.search(text), ascii(text)
        assert "\n# H" not in text


@pytest.mark.parametrize("ending", ["md", "html", "sarif", "json", "xml"])
def test_no_report_hands_them_on(ending: str, tmp_path: Path) -> None:
    path, report = tmp_path / "m.onnx", tmp_path / f"report.{ending}"
    path.write_bytes(hostile().SerializeToString())
    words = ["check", str(path), "--target", "tflite"]
    if ending == "md":
        words = ["run", *words[1:], "--verify", "off", "-o", str(tmp_path / "o.onnx")]
    main([*words, "--report", str(report)])
    text = report.read_text("utf-8")
    assert text
    assert not ACTS.search(text), ascii(text)
    if ending in ("html", "xml"):
        assert "<b>&" not in text
    if ending == "md":
        outside = re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        assert "[k](" not in outside.replace("\\[k\\](", "")
        assert not re.search(r"(?<!\\)<b>", outside)
        assert not re.search(r"^# H", text, re.MULTILINE)


def test_markdown_of_a_file_called_so() -> None:
    facts = FileFacts(path=f"m{BAD}", sha256="0", opset=17, ir_version=8, nodes=1, bytes=1)
    off = Verification(Verdict.OFF, BAD)
    report = Report("0", "trt8", facts, facts, (), (), (), (), off, notes=(BAD,))
    text = report_markdown(report, 1)
    assert not ACTS.search(text)
    assert "\\[k\\]" in text


def test_what_is_escaped() -> None:
    assert printable("a\x1bb\u202ec\nd") == "a\\x1bb\\u202ec\\nd"
    assert for_terminal("\x1b[1mx\x1b[0m\x1b]0;t\x07\n") == "\x1b[1mx\x1b[0m\\x1b]0;t\\x07\n"
    assert in_code("a`b") == "a'b"
    assert shell_word("a b") == "'a b'"


def test_bash_reads_a_quoted_word_as_it_was() -> None:
    word = "a\x1b\x07'\\ü\u202e\nb"
    done = subprocess.run(
        ["bash", "-c", f"printf %s {shell_word(word)}"], capture_output=True, check=True
    )
    assert done.stdout.decode() == word
