"""The Python API as the design promises it, and passes that a user brings along."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

import graphfix
from graphfix import APPROXIMATE, Refuse, rewrite
from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Option, Pass
from graphfix.authoring.registry import get_pass
from graphfix.cli import main
from graphfix.ir.views import NodeView, Value
from graphfix.report import Status
from graphfix.testing import outputs_of

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
FUNCTIONS = (
    *("load", "save", "run", "check", "explain", "compare", "diff", "bisect", "bisect_run"),
    *("reduce", "replay", "edit", "to_graphsurgeon", "from_graphsurgeon"),
    *("rewrite", "graph_pass", "get_pass"),
)
CLASSES = (
    "Model",
    "Finding",
    "Report",
    "Result",
    "Certificate",
    "Refuse",
    "Unknown",
    "GraphfixError",
    "InvalidModel",
    "UsageError",
    "PassBug",
)

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[3,4] x) => (float[3,4] y) { h = Abs (x) y = Sqrt (h) }
"""

PASS_FILE = '''
"""A repair of my own."""

from graphfix import Refuse, rewrite


@rewrite("Sqrt", removes="op:Sqrt", emits="Pow")
def sqrt_to_pow(node, build):
    """Replace Sqrt by Pow."""
    if node.inputs[0].rank != 2:
        raise Refuse("only matrices")
    return build.Pow(node.inputs[0], 0.5)
'''


# What a copy of the tree says, in one process of its own, and the pages on its passes.
OF_A_TREE = """
import contextlib, io, json, pathlib, sys
from graphfix.cli import main
from graphfix.rendering import pass_pages

def printed(words):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(words) == 0, words
    return out.getvalue()

print(json.dumps([printed(words) for words in json.loads(sys.argv[1])]))
for name, text in pass_pages.pages().items():
    path = pathlib.Path("docs", "passes", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
"""


def model() -> ModelProto:
    return onnx.parser.parse_model(TEXT)


@rewrite(
    "Sqrt",
    removes="op:Sqrt",
    emits=("Pow", "Mul"),
    accuracy=APPROXIMATE,
    options={"factor": Option(float, 1.0, "Multiply by this.")},
)
def root_as_power(node: NodeView, build: Builder) -> Value:
    """Replace Sqrt by Pow."""
    x = node.inputs[0]
    if x is None:
        raise Refuse("no input")
    power = build.Pow(x, 0.5)
    factor: float = build.option("factor")
    return power if factor == 1.0 else build.Mul(power, factor)


def read(path: Path) -> ModelProto:
    return ModelProto.FromString(path.read_bytes())


def feed() -> dict[str, Any]:
    return {"x": np.arange(-6, 6, dtype=np.float32).reshape(3, 4)}


def statuses(result: Any) -> dict[str, str]:
    return {outcome.pass_id: str(outcome.status) for outcome in result.report.outcomes}


def test_every_public_name_survives_importing_every_module() -> None:
    # A module of the same name would take the place of a lazily imported function. The programs of
    # engines are files for other interpreters, and no modules of this one.
    script = (
        "import importlib, json, pkgutil, graphfix\n"
        "for info in pkgutil.walk_packages(graphfix.__path__, 'graphfix.'):\n"
        "    if not info.name.endswith(('__main__', 'program')) or '.cli.' in info.name:\n"
        "        importlib.import_module(info.name)\n"
        "kinds = {n: type(getattr(graphfix, n)).__name__ for n in graphfix.__all__}\n"
        "print(json.dumps(kinds))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    kinds = json.loads(done.stdout)
    assert kinds.pop("rewrite") == "Rewriting"  # it is called, and has `pattern` next to
    assert {name for name, kind in kinds.items() if kind == "function"} == {*FUNCTIONS} - {
        "rewrite"
    }
    assert {name for name, kind in kinds.items() if kind == "type"} == set(CLASSES)
    assert {name for name, kind in kinds.items() if kind == "Accuracy"} == {
        "EXACT",
        "APPROXIMATE",
        "LOSSY",
        "MENDED",
    }
    assert "module" not in kinds.values()


def test_no_module_bears_a_public_name() -> None:
    modules = {info.name for info in pkgutil.iter_modules(graphfix.__path__)}
    assert modules.isdisjoint({*graphfix.__all__, "compare", "diff"})


def test_public_names_are_where_they_are_said_to_be() -> None:
    assert set(dir(graphfix)) == {*graphfix.__all__, "__version__"}
    name = "nothing"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = getattr(graphfix, name)


def test_load_check_run_save(tmp_path: Path) -> None:
    path = FIXTURES / "slice_assign_ts17.onnx"
    original = path.read_bytes()
    loaded = graphfix.load(path)
    assert (loaded.opset, loaded.ir_version, loaded.path) == (17, 8, path)
    before = loaded.to_proto()
    assert before == read(path)

    findings = graphfix.check(loaded, target="trt7")
    rejected = [f for f in findings if f.feature == "op:ScatterND"]
    assert rejected
    assert {f.node.op for f in rejected} == {"ScatterND"}
    assert all(f.severity == "reject" and f.certain for f in rejected)
    assert all("ScatterND" in f.engine_text for f in rejected)
    assert all("scatternd-to-where" in f.removed_by for f in rejected)

    result = graphfix.run(loaded, target="trt7")
    assert result.exit_code == 0
    assert result.report.target == "trt7.2"
    assert result.report.verification.status == "equal"
    left = graphfix.check(result.model, target="trt7")
    assert left == result.report.findings_after
    assert [f.severity for f in left] == ["note"], "the opset number is above what is stated"
    assert loaded.to_proto() == before, "the model given was changed"
    assert path.read_bytes() == original

    graphfix.save(result.model, tmp_path / "fixed.onnx")
    saved = read(tmp_path / "fixed.onnx")
    assert saved == result.model.to_proto()
    assert "ScatterND" not in {node.op_type for node in saved.graph.node}
    reference = np.load(path.with_suffix(".npz"))
    given = {"x": reference["in_x"]}
    (name,) = [output.name for output in saved.graph.output]
    np.testing.assert_array_equal(outputs_of(saved, given)[name], reference[f"out_{name}"])


def test_a_proto_and_a_path_do_as_well() -> None:
    proto = model()
    result = graphfix.run(proto, passes=[root_as_power])
    assert proto == model()
    assert result.exit_code == 0
    as_path = graphfix.run(str(FIXTURES / "pool_aten17.onnx"), "trt8")
    assert as_path.exit_code == 0
    assert graphfix.check(FIXTURES / "pool_aten17.onnx", "trt8") != ()


def test_passes_are_names_or_objects_in_the_order_given() -> None:
    result = graphfix.run(model(), passes=["identity-elimination", root_as_power])
    assert statuses(result) == {"root-as-power": "applied", "identity-elimination": "not_needed"}
    (site,) = next(o.sites for o in result.report.outcomes if o.pass_id == "root-as-power")
    assert site.accuracy == "approximate"
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["Abs", "Pow"]
    given = get_pass("identity-elimination")
    assert statuses(graphfix.run(model(), passes=[given])) == {given.id: "not_needed"}


def test_skip_and_options() -> None:
    with pytest.raises(graphfix.UsageError, match="--passes and --skip both name root-as-power"):
        graphfix.run(model(), passes=[root_as_power], skip=["root-as-power"])
    result = graphfix.run(model(), passes=[root_as_power], skip=["mod-elimination"])
    assert statuses(result)["root-as-power"] == "applied"
    off = graphfix.run(
        model(), passes=[root_as_power], options={"root-as-power.factor": "2"}, verify="off"
    )
    given = feed()
    np.testing.assert_allclose(
        outputs_of(off.model.to_proto(), given)["y"], 2 * outputs_of(model(), given)["y"], rtol=1e-6
    )
    wrong = graphfix.run(model(), passes=[root_as_power], options={"root-as-power.factor": 2.0})
    # The comparison notices, the pass is rolled back, and the model is as it was.
    assert statuses(wrong)["root-as-power"] == "failed"
    assert wrong.model.to_proto() == model()


def test_inputs_of_the_user_are_compared_on() -> None:
    result = graphfix.run(model(), passes=[root_as_power], inputs=feed())
    assert result.report.verification.status == "equal"
    assert result.exit_code == 0


def test_an_opset_that_cannot_be_reached() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 20]> '
        "g (string[2] x) => (string[2] y) { y = StringConcat (x, x) }"
    )
    result = graphfix.run(proto, opset=19)
    assert result.exit_code == 1
    assert result.model.to_proto() == proto
    (refused,) = [o for o in result.report.outcomes if o.status is Status.REFUSED]
    assert refused.sites[0].node.op == "StringConcat"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: graphfix.run(model(), "trt0"), "trt0"),
        (lambda: graphfix.run(model()), "nothing to do"),
        (lambda: graphfix.run(model(), passes=["nonesuch"]), "nonesuch"),
        (lambda: graphfix.run(model(), "trt8", skip=["mod-eliminaton"]), "mod-elimination"),
        (lambda: graphfix.run(model(), "trt8", options={"mod-elimination.x": 1}), "'x'"),
        (lambda: graphfix.run(model(), "trt8", verify="maybe"), "maybe"),
        (lambda: graphfix.run(model(), "trt8", shapes={"x": (3, 5)}), "cannot become 5"),
        (lambda: graphfix.run(model(), passes=[root_as_power], inputs={"z": 1}), "'z'"),
        (lambda: graphfix.check(model(), "trt8", shapes={"z": (1,)}), "'z'"),
    ],
)
def test_wrong_usage_is_a_usage_error(call: Callable[[], object], words: str) -> None:
    with pytest.raises(graphfix.UsageError) as caught:
        call()
    assert words in str(caught.value)
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, graphfix.GraphfixError)


def test_what_is_no_model_is_invalid(tmp_path: Path) -> None:
    with pytest.raises(graphfix.InvalidModel, match="no such file") as caught:
        graphfix.load(tmp_path / "nothing.onnx")
    assert caught.value.exit_code == 3
    broken = model()
    broken.graph.node[0].input[0] = "nowhere"
    with pytest.raises(graphfix.InvalidModel, match="nowhere"):
        graphfix.run(broken, "trt8")


def test_a_pass_file_in_python(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PASS_FILE, encoding="utf-8")
    result = graphfix.run(model(), passes=["sqrt-to-pow"], pass_files=[file])
    assert statuses(result) == {"sqrt-to-pow": "applied"}
    assert result.exit_code == 0
    assert result.report.verification.status == "equal"
    vector = model()
    for info in (*vector.graph.input, *vector.graph.output):
        del info.type.tensor_type.shape.dim[0]
    refused = graphfix.run(vector, passes=["sqrt-to-pow"], pass_files=[file])
    assert [o.reason for o in refused.report.outcomes] == ["only matrices"]
    assert refused.model.to_proto() == vector


def test_a_pass_file_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PASS_FILE, encoding="utf-8")
    (tmp_path / "m.onnx").write_bytes(model().SerializeToString())
    words = ["run", str(tmp_path / "m.onnx"), "--passes", "sqrt-to-pow", "--json"]
    assert main(words) == 2
    assert "sqrt-to-pow" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert main([*words, "--pass-file", str(file)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(o["pass"], o["status"]) for o in report["outcomes"]] == [("sqrt-to-pow", "applied")]
    saved = read(tmp_path / "m.fixed.onnx")
    assert [node.op_type for node in saved.graph.node] == ["Abs", "Pow"]


def test_a_new_file_is_found_with_nothing_else_edited(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("graphfix", "passes"):  # compiled files too: they are valid in a copy
        shutil.copytree(ROOT / name, tree / name, symlinks=True)
    head, _, rest = PASS_FILE.partition('"""A repair of my own."""')
    doc = (
        '"""Replace Sqrt by Pow.\n\nWhat it does:\nIt takes a power.\n\nWhy engines need it:\nNone '
        "does.\n\nBefore:\n    y = Sqrt (x)\n\nAfter:\n    y = Pow (x, 0.5)\n\nWhen it refuses:\n"
        'Never.\n\nAccuracy:\nExact.\n\nReferences:\nNone.\n"""'
    )
    (tree / "passes" / "mod" / "sqrt_to_pow.py").write_text(head + doc + rest, encoding="utf-8")

    (tmp_path / "m.onnx").write_bytes(model().SerializeToString())
    lines = (
        ["passes", "-v"],
        ["passes", "sqrt-to-pow"],
        ["run", "m.onnx", "--passes", "sqrt-to-pow", "--json"],
    )
    done = subprocess.run(
        [sys.executable, "-c", OF_A_TREE, json.dumps(lines)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    listed, shown, ran = json.loads(done.stdout)
    assert "  sqrt-to-pow " in listed
    assert "It takes a power." in shown
    assert json.loads(ran)["outcomes"][0]["status"] == "applied"
    page = (tmp_path / "docs" / "passes" / "sqrt-to-pow.md").read_text(encoding="utf-8")
    assert page.startswith("# sqrt-to-pow\n\nReplace Sqrt by Pow.\n")
    index = (tmp_path / "docs" / "passes" / "index.md").read_text(encoding="utf-8")
    assert "| [sqrt-to-pow](sqrt-to-pow.md) |" in index


def test_a_pass_is_a_value() -> None:
    assert isinstance(root_as_power, Pass)
    assert root_as_power.id == "root-as-power"
    assert root_as_power.matches == (("", "Sqrt"),)
    module = importlib.import_module("graphfix.passes.mod.mod_elimination")
    assert module.mod_elimination is get_pass("mod_elimination")
