"""What no pass touched comes out as it went in, byte for byte.

Each model gets one Mod that has nothing to do with the rest; the Mod is eliminated; what is then
left of the file when the new nodes are taken away must be the file as it was.
"""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from graphfix.cli import main
from tests.fidelity_models import MAKERS, external_data_model

SHARED = Path(__file__).parents[2] / "shared" / "corpus" / "fidelity"
CORPUS = sorted(SHARED.glob("*.onnx"))
MOD_IN, MOD_BY, MOD_OUT = "graphfix_mod_in", "graphfix_mod_by", "graphfix_mod_out"
# One byte of tag and up to five of length for each message that is added to a repeated field.
FRAME = 6


def with_mod(base: ModelProto) -> ModelProto:
    """Return the model with an unrelated Mod of int64 by 3 after everything else."""
    model = ModelProto.FromString(base.SerializeToString())
    graph = model.graph
    graph.input.append(helper.make_tensor_value_info(MOD_IN, TensorProto.INT64, [5]))
    graph.initializer.append(helper.make_tensor(MOD_BY, TensorProto.INT64, [], [3]))
    if model.ir_version < 4:  # where initializers have to be inputs too
        graph.input.append(helper.make_tensor_value_info(MOD_BY, TensorProto.INT64, []))
    graph.node.append(helper.make_node("Mod", [MOD_IN, MOD_BY], [MOD_OUT]))
    graph.output.append(helper.make_tensor_value_info(MOD_OUT, TensorProto.INT64, [5]))
    return model


def assert_kept(base: ModelProto, source: ModelProto, result: ModelProto) -> None:
    """Assert that `result` is `source` but for the Mod, and that nothing else was added."""
    new = result.graph.node[len(base.graph.node) :]
    assert [node.op_type for node in new][-1:] != ["Mod"]
    # Below IR version 4 constants are nodes, as initializers would be inputs.
    constants = {"Constant"} if source.ir_version < 4 else set[str]()
    assert {node.op_type for node in new} <= {"Div", "Mul", "Sub", "Add", *constants}
    assert new[-1].output[0] == MOD_OUT
    assert (
        result.graph.input[len(base.graph.input) :] == source.graph.input[len(base.graph.input) :]
    )
    assert result.graph.output[-1] == source.graph.output[-1]
    added = [
        *new,
        *result.graph.initializer[len(base.graph.initializer) :],
        *result.graph.value_info[len(base.graph.value_info) :],
        *result.graph.input[len(base.graph.input) :],
        result.graph.output[-1],
    ]
    grown = result.ByteSize() - base.ByteSize()
    assert grown <= sum(part.ByteSize() + FRAME for part in added) + FRAME
    assert grown < 1500, "the new nodes and names are few"
    stripped = ModelProto()
    stripped.CopyFrom(result)
    for field in ("node", "initializer", "value_info", "input", "output"):
        del getattr(stripped.graph, field)[len(getattr(base.graph, field)) :]
    assert stripped == base, "a field was lost or changed"
    assert stripped.SerializeToString(deterministic=True) == base.SerializeToString(
        deterministic=True
    )


def run_on(base: ModelProto, path: Path, *words: str) -> None:
    """Repair the model with a Mod at `path` and compare."""
    source = with_mod(base)
    path.write_bytes(source.SerializeToString())
    command = ["run", str(path), "--passes", "mod-elimination", "--no-provenance", *words]
    code = main(command)
    assert code in (0, 1), "1 where the comparison cannot show that they are equal"
    written = path.with_name(f"{path.stem}.fixed.onnx")
    assert_kept(base, source, ModelProto.FromString(written.read_bytes()))
    assert path.read_bytes() == source.SerializeToString()


@pytest.mark.parametrize("name", list(MAKERS))
def test_what_no_one_touched_is_kept(name: str, tmp_path: Path) -> None:
    run_on(MAKERS[name](), tmp_path / "m.onnx", "--verify", "off")


@pytest.mark.parametrize(
    "name",
    [
        "ir-version-3",
        "overridable-initializers",
        "initializers-shared-by-nested-branches",
        "an-unsorted-file-with-captures",
        "functions-with-overloads",
        "dimension-denotation",
    ],
)
def test_and_it_computes_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_on(MAKERS[name](), tmp_path / "m.onnx")
    text = capsys.readouterr().out
    assert "\n  mod-elimination  1 place, exact, equal on " in text
    assert "\n  verified  outputs equal on " in text, text


def test_external_data_stays_where_it_is(tmp_path: Path) -> None:
    data = tmp_path / "weights.bin"
    data.write_bytes(bytes(range(8)) + b"\0\0\x80?" * 6)
    before = data.stat()
    run_on(external_data_model("weights.bin"), tmp_path / "m.onnx")
    assert (data.stat().st_mtime_ns, data.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "m.fixed.onnx",
        "m.onnx",
        "weights.bin",
    ]


def test_the_models_say_what_they_are_for() -> None:
    assert len(MAKERS) >= 25
    models = {name: maker() for name, maker in MAKERS.items()}
    assert len({model.SerializeToString() for model in models.values()}) == len(models)
    assert models["training-info"].training_info
    assert models["device-configurations"].graph.node[0].device_configurations
    unknown = models["unknown-fields"].SerializeToString()
    assert unknown.count(b"\xb8\x3e\x01") == 6
    shared = models["initializers-shared-by-nested-branches"]
    onnx.checker.check_model(shared, full_check=True)  # pyright: ignore[reportUnknownMemberType]


def test_a_loss_would_be_noticed(tmp_path: Path) -> None:
    base = MAKERS["model-fields"]()
    source = with_mod(base)
    path = tmp_path / "m.onnx"
    path.write_bytes(source.SerializeToString())
    words = ["run", str(path), "--passes", "mod-elimination", "--no-provenance", "--verify", "off"]
    assert main(words) == 0
    result = ModelProto.FromString((tmp_path / "m.fixed.onnx").read_bytes())
    assert_kept(base, source, result)
    result.metadata_props[0].value += "!"
    with pytest.raises(AssertionError, match="a field was lost or changed"):
        assert_kept(base, source, result)


@pytest.mark.skipif(not CORPUS, reason=f"the corpus of fidelity models is not at {SHARED}")
def test_the_corpus_is_all_there() -> None:
    assert len(CORPUS) == 94


@pytest.mark.skipif(not CORPUS, reason=f"the corpus of fidelity models is not at {SHARED}")
@pytest.mark.parametrize("source", CORPUS, ids=lambda path: path.stem)
def test_the_corpus_is_kept(source: Path, tmp_path: Path) -> None:
    base = ModelProto.FromString(source.read_bytes())
    for data in SHARED.glob("*.bin"):
        (tmp_path / data.name).write_bytes(data.read_bytes())
    if not any(entry.domain in ("", "ai.onnx") for entry in base.opset_import):
        base.opset_import.append(helper.make_opsetid("", 13))
    run_on(base, tmp_path / "m.onnx", "--verify", "off")
