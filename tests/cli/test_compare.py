"""`graphfix compare`: the right verdict, the right node, text, JSON, plot, exit codes."""

from __future__ import annotations

import importlib.util
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from onnx import ModelProto, numpy_helper

import graphfix
from graphfix.cli import main
from graphfix.ir.storage.reading import read_model
from graphfix.proving.layers.comparison import Layer
from graphfix.rendering.plotting import svg
from graphfix.rendering.schemas import schema_of
from graphfix.report import NodeRef, Verdict
from tests.difference.shuffling import disguised
from tests.difference.small_models import MODELS, chain, tower

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
SCHEMA = schema_of("two-models")


def written(path: Path, model: ModelProto) -> str:
    path.write_bytes(model.SerializeToString())
    return str(path)


def scaled(model: ModelProto, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> str:
    """Scale the stored tensor with these values by 1.01 and return its name."""
    for tensor in model.graph.initializer:
        held = numpy_helper.to_array(tensor)
        if held.shape == values.shape and (held == values).all():
            tensor.CopyFrom(numpy_helper.from_array(held * np.float32(1.01), tensor.name))
            return tensor.name
    raise AssertionError("no such tensor")


def faulty_tower(number: int) -> ModelProto:
    """The tower under other names, one weight of it off by 1%."""
    other = disguised(tower(), 11)
    scaled(other, numpy_helper.to_array(tower().graph.initializer[number]))
    return other


@pytest.mark.parametrize("number", [0, 3, 5])
def test_the_faulty_block_is_located_under_other_names(number: int) -> None:
    found = graphfix.compare(tower(), faulty_tower(number), layers=True)
    assert found.status is Verdict.MISMATCH
    assert found.exit_code == 1
    assert found.first is not None
    assert found.first.name == f"m{number}"
    assert (found.first.node.op, found.first.node.index) == ("MatMul", 2 * number)
    assert found.first.max_rel == pytest.approx(0.01, rel=0.01)
    before = [layer for layer in found.layers if layer.depth < 2 * number]
    assert len(found.layers) == 12
    assert all(layer.status is Verdict.EQUAL and layer.max_abs == 0 for layer in before)
    assert (found.only_before, found.only_after) == (0, 0)


@pytest.mark.parametrize("name", ["camera", "slice_assign_ts17"])
def test_a_fault_in_a_fixture_is_located(name: str) -> None:
    model = read_model(ROOT / "fixtures" / f"{name}.onnx").proto
    target = next(
        (t for t in model.graph.initializer if t.data_type == 1 and np.prod(t.dims) > 1), None
    )
    if target is None:
        pytest.skip("the file stores no floats")
    other = disguised(model, 5)
    scaled(other, numpy_helper.to_array(target))
    reader = next(n for n in model.graph.node if target.name in n.input)
    found = graphfix.compare(model, other, layers=True)
    assert found.first is not None
    assert found.first.node.outputs == tuple(reader.output)
    assert found.first.new_name != found.first.name


@pytest.mark.parametrize("name", list(MODELS))
def test_a_disguised_model_is_equal(name: str) -> None:
    model = MODELS[name]()
    found = graphfix.compare(model, disguised(model, 3), layers=True)
    assert found.first is None
    assert found.layers_reason == ""
    # The difference of the twins is zero whatever the input: it proves nothing.
    wanted = Verdict.INCONCLUSIVE if name == "twins" else Verdict.EQUAL
    assert found.status is wanted
    assert found.exit_code == (1 if name == "twins" else 0)
    assert len(found.layers) == found.layers[-1].depth + 1 or name == "several_outputs"


def test_a_difference_inside_that_no_output_shows() -> None:
    one = MODELS["twins"]()
    two = MODELS["twins"]()
    two.graph.node[5].op_type = "Abs"
    plain = graphfix.compare(one, two)
    assert plain.exit_code == 1  # the output is zero everywhere: nothing was shown
    found = graphfix.compare(one, two, layers=True)
    assert found.first is not None
    assert found.first.name == "z"


def test_inputs_of_the_user_and_a_seed(tmp_path: Path) -> None:
    values = np.full((2, 3), 2.0, np.float32)
    np.savez(tmp_path / "in.npz", x=values)
    first = graphfix.compare(chain(), chain(), inputs=tmp_path / "in.npz", layers=True)
    again = graphfix.compare(chain(), chain(), inputs={"x": values}, seed=4)
    assert first.status is again.status is Verdict.EQUAL
    with pytest.raises(graphfix.UsageError, match="no input 'q'"):
        graphfix.compare(chain(), chain(), inputs={"q": values})


def test_text(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", tower())
    two = written(tmp_path / "b.onnx", faulty_tower(3))
    assert main(["compare", one, two, "--layers"]) == 1
    out = capsys.readouterr().out
    assert "a.onnx against b.onnx: mismatch" in out
    assert "12 tensors compared, 6 differ (on 5 samples)" in out
    assert "  the outputs above are of " in out
    assert "  m3, made by MatMul 'm3' (main, #6)" in out
    assert max(map(len, out.splitlines())) <= 80
    assert main(["compare", one, one]) == 0
    assert "a.onnx against a.onnx: equal" in capsys.readouterr().out


def test_one_output_has_one_figure() -> None:
    """What is said of an output is said of the sample whose figure the table has."""
    for found in [graphfix.compare(tower(), faulty_tower(n), layers=True) for n in (0, 3)]:
        (output,) = found.verification.outputs
        assert output.max_abs is not None
        assert f"differ by up to {output.max_abs:.3g}," in found.verification.reason
        for layer in found.layers:
            if layer.status is Verdict.MISMATCH:
                assert layer.max_abs is not None
                assert f"differ by up to {layer.max_abs:.3g}," in layer.reason


def test_json_and_plot(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", tower())
    two = written(tmp_path / "b.onnx", faulty_tower(2))
    plot = tmp_path / "error.svg"
    assert main(["compare", one, two, "--plot", str(plot), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert found["status"] == "mismatch"
    assert found["first"]["name"] == "m2"
    assert [layer["name"] for layer in found["layers"][:3]] == ["m0", "r1", "m1"]
    circles = ET.parse(plot).getroot().findall("{http://www.w3.org/2000/svg}circle")
    assert [c.get("fill") for c in circles] == ["#06c"] * 4 + ["#c00"] * 8


def test_the_plot_holds_what_has_no_number() -> None:
    odd = Layer('<a>&"', "b", NodeRef(op="Relu"), 0, Verdict.MISMATCH, None, None, "shape")
    even = Layer("c", "c", NodeRef(op="Relu"), 1, Verdict.EQUAL, 0.0, 0.0)
    root = ET.fromstring(svg([odd, even]))
    dots = root.findall("{http://www.w3.org/2000/svg}circle")
    heights = [float(dot.get("cy", "nan")) for dot in dots]
    assert heights[0] < heights[1]
    assert dots[0][0].text == '<a>&" (Relu): no number'


def test_different_inputs(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", chain())
    two = written(tmp_path / "b.onnx", MODELS["branches"]())
    for flags in ([], ["--layers"]):
        assert main(["compare", one, two, *flags]) == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert "different inputs: x float32[2, 3] against x float32[2, 3], c bool[]" in error


def test_bad_words_and_files(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", chain())
    (tmp_path / "bad.onnx").write_bytes(b"")
    assert main(["compare", one, str(tmp_path / "bad.onnx")]) == 3
    assert "the file is empty" in capsys.readouterr().err
    assert main(["compare", one, one, "--plot", "p.gif"]) == 2
    assert "FILE.svg or FILE.png" in capsys.readouterr().err
    assert main(["compare", one, one, "--plot", str(tmp_path / "no" / "p.svg")]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is not None, reason="matplotlib is installed"
)
def test_a_png_without_matplotlib_is_refused_before_the_work(
    tmp_path: Path, capsys: Capture
) -> None:
    path = str(tmp_path / "absent.onnx")
    assert main(["compare", path, path, "--plot", str(tmp_path / "p.png")]) == 2
    assert "a .png needs matplotlib" in capsys.readouterr().err
