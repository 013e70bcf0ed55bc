"""From a fault to its folder, and from the folder to the fault again, until the pass is mended."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

import graphfix
from graphfix import InvalidModel, UsageError
from graphfix.pipeline.reproducers.folder import read_folder
from graphfix.proving.values.files import read_values, write_values
from graphfix.report import NodeRef, Verdict
from tests.pipeline.reproducers.faulty import (
    ELEMENT,
    HEAD,
    INFINITE,
    NEEDS_NEIGHBOUR,
    RAISES,
    STRAY,
    UNSOUND,
    kept_model,
    pass_file,
    reproduced,
    secret_model,
)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a reproducer that no one may change."""
    return Path(reproduced(tmp_path_factory.mktemp("once"), ELEMENT).folder)


@pytest.fixture
def folder(made_once: Path, tmp_path: Path) -> Path:
    """Return a reproducer of one's own."""
    return Path(shutil.copytree(made_once, tmp_path / "folder"))


def ops(folder: str) -> list[str]:
    return [node.op_type for node in kept_model(folder).graph.node]


def test_a_site_that_differs_is_kept_with_the_smallest_inputs(tmp_path: Path) -> None:
    made = reproduced(tmp_path, ELEMENT)
    assert (made.pass_id, made.kind, made.reason) == ("wrong", "differs", "")
    assert made.node.name == "secret_node"
    model = kept_model(made.folder)
    assert [(n.name, n.op_type) for n in model.graph.node] == [("secret_node", "Neg")]
    assert [info.name for info in model.graph.input] == ["secret_in"]
    (feed,) = read_values(Path(made.folder) / "inputs.json")
    value = feed["secret_in"]
    assert isinstance(value, np.ndarray)
    assert np.flatnonzero(value).tolist() == [1 * 4 + 2]
    index = json.loads((Path(made.folder) / "reproducer.json").read_text(encoding="utf-8"))
    assert index["pipeline"]["passes"] == ["wrong"]
    assert index["pipeline"]["stages"] == {"wrong": "targeted"}
    assert index["certificate"]["status"] == "mismatch"
    assert set(index["versions"]) == {"graphfix", "onnx", "onnxruntime", "numpy", "python"}
    assert list(index["pass_files"]) == ["wrong.py"]
    assert "graphfix replay" in (Path(made.folder) / "README.md").read_text(encoding="utf-8")


def test_the_fault_shows_until_the_pass_is_mended(tmp_path: Path) -> None:
    made = reproduced(tmp_path, ELEMENT)
    found = graphfix.replay(made.folder)
    assert (found.shows, found.exit_code) == (True, 1)
    assert found.certificate is not None
    assert found.certificate.status is Verdict.MISMATCH
    assert found.now == found.then.replace("natural values", "given values")
    assert found.versions == found.versions_now
    mended = pass_file(tmp_path, ELEMENT.replace("-1.01", "-1.0"))
    found = graphfix.replay(made.folder, pass_files=[mended])
    assert (found.shows, found.exit_code) == (False, 0)
    assert found.certificate is not None
    assert found.certificate.status is Verdict.EQUAL
    assert found.certificate.samples >= 4, "the stored inputs and fresh ones"
    assert graphfix.replay(made.folder).shows, "the folder has the pass as it was"
    copy = Path(made.folder) / "passes" / "wrong.py"
    copy.write_text(mended.read_text(encoding="utf-8"), encoding="utf-8")
    found = graphfix.replay(made.folder)
    assert found.shows is False
    assert found.notes == ("passes/wrong.py was changed since the fault was seen",)


def test_stored_inputs_show_what_fresh_ones_would_not(folder: Path, tmp_path: Path) -> None:
    """The pass is wrong for one number only, which no sample has; the folder has it."""
    source = ELEMENT.replace(
        "    return build.Mul(node.inputs[0], factor)",
        "    x = node.inputs[0]\n"
        "    rare = build.Cast(build.Equal(x, np.float32(12345.678)), to=1)\n"
        "    return build.Sub(build.Neg(x), rare)",
    ).replace('("Mul",)', '("Equal", "Cast", "Sub", "Neg")')
    rare = pass_file(tmp_path, source)
    assert graphfix.replay(folder, pass_files=[rare]).shows is False
    index = json.loads((folder / "reproducer.json").read_text(encoding="utf-8"))
    feed = np.zeros((3, 4), np.float32)
    feed[0, 0] = 12345.678
    write_values(folder / "inputs.json", [{"secret_in": feed}])
    for name in ("inputs.json", "inputs.npz"):
        raw = (folder / name).read_bytes()
        index["sha256"][name] = hashlib.sha256(raw).hexdigest()
    (folder / "reproducer.json").write_text(json.dumps(index), encoding="utf-8")
    assert graphfix.replay(folder, pass_files=[rare]).shows is True


def test_a_difference_for_infinities_that_are_claimed_is_kept_and_shows(tmp_path: Path) -> None:
    made = reproduced(tmp_path, INFINITE)
    assert (made.kind, made.node.op) == ("differs", "Neg")
    found = graphfix.replay(made.folder)
    assert found.shows is True
    assert "special values" in found.then


@pytest.mark.parametrize("source", [RAISES, UNSOUND])
def test_a_pass_that_raises_is_kept_with_its_node(tmp_path: Path, source: str) -> None:
    made = reproduced(tmp_path, source)
    assert (made.kind, made.node.op, made.node.outputs) == ("raises", "Abs", ("y",))
    assert ops(made.folder) == ["Abs"]
    found = graphfix.replay(made.folder)
    assert found.shows is True
    assert found.now == found.then
    other = source.replace("    raise ", "    return build.Mul(node.inputs[0], 1.0)\n    #")
    other = other.replace("axis=7", "axis=1")
    found = graphfix.replay(made.folder, pass_files=[pass_file(tmp_path, other)])
    assert (found.shows, found.now) == (False, "the pass is applied")


def test_as_much_is_kept_as_the_fault_needs(tmp_path: Path) -> None:
    made = reproduced(tmp_path, NEEDS_NEIGHBOUR)
    assert ops(made.folder) == ["Neg", "MatMul", "Abs", "Relu"]
    found = graphfix.replay(made.folder)
    assert found.shows is True
    assert "AssertionError: after a MatMul" in found.now


def test_what_cannot_be_cut_out_is_kept_whole(tmp_path: Path) -> None:
    made = reproduced(tmp_path, STRAY, verify="off")
    assert (made.kind, made.node) == ("raises", NodeRef())
    assert len(ops(made.folder)) == 5
    assert graphfix.replay(made.folder).shows is True


def test_a_model_that_is_too_big_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphfix.pipeline.reproducers.reducing.MOST_BYTES", 100)
    made = reproduced(tmp_path, STRAY, verify="off")
    assert made.folder == ""
    assert "MiB, too many to copy" in made.reason
    assert not (tmp_path / "kept").exists()


def test_a_folder_is_never_overwritten(tmp_path: Path) -> None:
    first = reproduced(tmp_path, ELEMENT)
    assert reproduced(tmp_path, ELEMENT).folder == first.folder, "the same fault, the same folder"
    (Path(first.folder) / "README.md").write_text("my own notes", encoding="utf-8")
    second = reproduced(tmp_path, ELEMENT)
    assert second.folder == f"{first.folder}-2"
    assert (Path(first.folder) / "README.md").read_text(encoding="utf-8") == "my own notes"
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert names == [Path(first.folder).name, Path(second.folder).name]


def test_a_folder_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("graphfix.pipeline.reproducers.folder.write_values", full)
    made = reproduced(tmp_path, ELEMENT)
    assert (made.folder, made.reason) == (
        "",
        f"{tmp_path / 'kept'} cannot be written: No space left on device",
    )
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_run_is_not_lost_for_a_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr("graphfix.pipeline.reproducers.folder_writer.observe", broken)
    made = reproduced(tmp_path, RAISES)
    assert (made.folder, made.reason) == ("", "RuntimeError: out of luck")
    monkeypatch.undo()
    monkeypatch.setattr("graphfix.pipeline.faults._evidence", broken)
    made = reproduced(tmp_path, RAISES)
    assert read_folder(Path(made.folder)).whole
    assert graphfix.replay(made.folder).shows is True


def test_at_most_two_of_a_pass(tmp_path: Path) -> None:
    lines = "".join(f"a{n} = Abs (x{n})\n" for n in range(6))
    inputs = ", ".join(f"float[{n + 1}] x{n}" for n in range(6))
    outputs = ", ".join(f"float[{n + 1}] a{n}" for n in range(6))
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 13]> g ({inputs}) => ({outputs}) {{ {lines} }}'
    )
    source = RAISES.replace("raise ValueError", "return build.Mul(node.inputs[0], 1.0)\n    #")
    path = pass_file(tmp_path, source)
    result = graphfix.run(
        model, passes=["raises"], pass_files=[path], reproducers=tmp_path / "kept"
    )
    made = result.report.reproducers
    assert [m.kind for m in made] == ["differs", "differs"]
    assert len({m.folder for m in made}) == 2
    failed = [o for o in result.report.outcomes if o.sites]
    assert sum(len(o.sites) for o in failed) == 6


def test_a_run_without_faults_leaves_nothing(tmp_path: Path) -> None:
    result = graphfix.run(
        secret_model(), passes=["identity-elimination"], reproducers=tmp_path / "kept"
    )
    assert result.report.reproducers == ()
    assert not (tmp_path / "kept").exists()


def test_a_site_within_the_flow_of_a_target(tmp_path: Path) -> None:
    source = """
@rewrite("Mish", removes="op:Mish", emits=("Softplus", "Tanh", "Mul"), accuracy=EXACT)
def a_mish(node, build):
    x = node.inputs[0]
    return build.Mul(build.Mul(x, build.Tanh(build.Softplus(x))), 1.01)
"""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (float[2, 3] x) => (float[2, 3] y)'
        "{ a = Relu (x)  b = Mish (a)  y = Neg (b) }"
    )
    path = pass_file(tmp_path, source)
    result = graphfix.run(
        model,
        "trt8.2",
        pass_files=[path],
        skip=["mish-to-softplus"],
        reproducers=tmp_path / "kept",
    )
    (made,) = result.report.reproducers
    assert (made.pass_id, made.kind) == ("a-mish", "differs")
    assert ops(made.folder) == ["Mish"]
    assert graphfix.replay(made.folder).shows is True


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel, match="no such folder"):
        graphfix.replay(tmp_path / "none")
    with pytest.raises(InvalidModel, match=r"is no reproducer: it has no reproducer\.json"):
        graphfix.replay(tmp_path)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InvalidModel, match="is not a folder"):
        graphfix.replay(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "content", "reported"),
    [
        ("reproducer.json", b"{", "is a damaged reproducer: reproducer.json does not say what"),
        ("reproducer.json", b"[]", "is a damaged reproducer: reproducer.json does not say what"),
        ("reproducer.json", b"\xff\xfe", "is a damaged reproducer"),
        ("reproducer.json", b"{}", "is a damaged reproducer: reproducer.json does not say what"),
        ("model.onnx", b"", "model.onnx is not as it was written"),
        ("model.onnx", None, "model.onnx is missing"),
        ("inputs.npz", b"PK", "inputs.npz is not as it was written"),
        ("passes/wrong.py", None, "passes/wrong.py is missing"),
    ],
)
def test_a_damaged_folder(folder: Path, name: str, content: bytes | None, reported: str) -> None:
    path = folder / name
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(InvalidModel, match=reported) as caught:
        graphfix.replay(folder)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "reported"),
    [
        (
            "format",
            2,
            r"was written in format 2 by graphfix 0\.1\.0; graphfix 0\.1\.0 reads format 1",
        ),
        ("versions", {"graphfix": "9.0"}, r"was written by graphfix 9\.0, which is newer"),
        ("kind", "other", "does not say what it should"),
        ("pipeline", {}, "does not say what it should"),
        ("passes", ["no-such-pass"], "needs the pass 'no-such-pass', which is not there"),
        ("sha256", {"../../x": ""}, "does not say what it should"),
    ],
)
def test_a_folder_of_another_version(
    folder: Path, field: str, value: object, reported: str
) -> None:
    path = folder / "reproducer.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index[field] = value
    path.write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(InvalidModel, match=reported):
        graphfix.replay(path.parent)


def test_an_older_graphfix_is_reported(folder: Path) -> None:
    path = folder / "reproducer.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["versions"]["graphfix"] = "0.0.9"
    path.write_text(json.dumps(index), encoding="utf-8")
    found = graphfix.replay(path.parent)
    assert found.shows is True
    assert (found.versions["graphfix"], found.versions_now["graphfix"]) == ("0.0.9", "0.1.0")


def test_a_pass_file_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such pass file"):
        graphfix.replay(folder, pass_files=[tmp_path / "none.py"])
    other = tmp_path / "other.py"
    other.write_text(HEAD + RAISES, encoding="utf-8")
    with pytest.raises(InvalidModel, match="needs the pass 'wrong'"):
        graphfix.replay(folder, pass_files=[other])


def test_what_is_seen_now_is_said_of_the_inputs_that_are_kept(tmp_path: Path) -> None:
    found = graphfix.replay(reproduced(tmp_path, INFINITE).folder)
    assert "NaN or infinity differs in 5 of 12 elements (special values)" in found.then
    assert "NaN or infinity differs in 1 of 12 elements (given values)" in found.now
