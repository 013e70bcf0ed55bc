"""What follows from the declarations of edits is as they have it, and an option without a text."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import click
import jsonschema
import onnx
import pytest

from graphfix import UsageError, edits
from graphfix.cli import edit_command, edit_options, main
from graphfix.edits import declaring, listing, option_texts
from graphfix.edits.declaring import Given, Group, Option, option, options
from graphfix.edits.listed import EDITS
from graphfix.edits.listing import ROOT, SCHEMA
from graphfix.edits.option_texts import from_value, value_of
from tests.edits.small_models import TOWER, parsed


@option("drop-act", "", "Take the node act out.", Group.NAMES, after="rename")
def read_drop_act(given: Given) -> edits.Delete:
    """Return an edit that no text says anything of."""
    assert given.text == given.form == ""
    return edits.Delete("act")


@pytest.fixture
def flag(monkeypatch: pytest.MonkeyPatch) -> Option:
    """Return an option without a text, declared as the others are."""
    every: Mapping[str, Option] = {**options(), "drop-act": read_drop_act}
    modules: tuple[ModuleType, ...] = (declaring, listing, option_texts)
    for module in modules:
        monkeypatch.setattr(module, "options", lambda: every)
    return read_drop_act


@pytest.mark.parametrize("path", list(listing.files()), ids=str)
def test_what_is_written_is_as_the_declarations_have_it(path: Path) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert text == listing.files()[path], "run python -m graphfix.edits.listing"


TEXTS = {
    "split-by": "c=a.onnx,b.onnx",
    "split-off": "c=a.onnx,b.onnx",
    "merge": "f.onnx:c",
    "dim": "N=1",
    "static-cache": "64",
    "shape": "x=1x2",
    "dynamic": "x=Nx2",
    "split": "a=b,c",
    "extract": "a:b",
    "bound": "n=8",
    "weights-to": "floats",
    "lora": "in",
}


def test_every_option_reads_a_public_edit_that_bears_its_name() -> None:
    assert len(options()) >= 28
    for declared in options().values():
        text = TEXTS.get(declared.name, "f.onnx:a.b=1/2" if declared.name == "join" else "a.b=1/2")
        edit = declared.edit(text)
        assert edit.option == f"--{declared.name}"
        assert type(edit).__name__ in edits.__all__


def test_public_names_are_found_and_others_are_not() -> None:
    for name in edits.__all__:
        assert getattr(edits, name).__name__ == name
    assert set(edits.__all__) <= set(dir(edits))
    with pytest.raises(AttributeError, match="no attribute 'renam'"):
        _ = edits.renam  # type: ignore[operator, unused-ignore]


def test_a_new_option_is_listed_last_and_in_the_help_where_it_says(flag: Option) -> None:
    listed = json.loads(listing.listed_text())
    assert listed["edits"][-1] == ["drop-act", "", "Take the node act out."]
    assert listed["headings"]["Names"] == ["--rename", "--drop-act", "--rename-node", "--prefix"]


def test_a_flag_on_the_command_line_in_its_order(
    flag: Option, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit_options, "LISTED", (*EDITS, (flag.name, flag.form, flag.help)))
    in_order = {**edit_options.IN_ORDER, "edit_drop_act": flag.name}
    monkeypatch.setattr(edit_command, "IN_ORDER", in_order)
    made = click.command()(edit_options.edit_options(lambda: None))
    (param,) = [each for each in made.params if each.name == "edit_drop_act"]
    assert param.get_help_record(click.Context(made)) == ("--drop-act", "Take the node act out.")
    monkeypatch.setattr(edit_command.edit, "params", [*edit_command.edit.params, param])
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(parsed(TOWER).SerializeToString())
    words = ["edit", "m.onnx", "--rename-node", "act=a", "--rename-node", "a=act", "--drop-act"]
    words += ["--rename", "x=image", "-o", "o.onnx", "--write-recipe", "r.toml"]
    assert main(words) == 0
    steps = tomllib.loads(Path("r.toml").read_text(encoding="utf-8"))["step"]
    assert steps[1:] == [{"rename-node": "a=act"}, {"drop-act": True}, {"rename": "x=image"}]
    nodes = onnx.ModelProto.FromString(Path("o.onnx").read_bytes()).graph.node
    assert [node.op_type for node in nodes if node.name == "act"] == ["Identity"]


def test_a_flag_in_a_recipe_is_true(flag: Option) -> None:
    assert value_of("drop-act", "") is True
    assert from_value("drop-act", True).option == "--drop-act"
    with pytest.raises(UsageError, match="drop-act: 'yes' is not true"):
        from_value("drop-act", "yes")
    with pytest.raises(UsageError, match="rename: True is no text"):
        from_value("rename", True)


def test_the_schema_takes_flags_as_true_and_others_as_text(flag: Option) -> None:
    text = (ROOT / SCHEMA).read_text(encoding="utf-8")
    schema = json.loads(listing.schema_text(text))
    assert listing.schema_text(listing.schema_text(text)) == listing.schema_text(text)
    good = [{"drop-act": True}, {"rename": "a=b"}, {"run": {"target": "trt8"}}]
    jsonschema.validate({"recipe": 1, "step": good}, schema)
    for wrong in ({"drop-act": "x"}, {"drop-act": False}, {"rename": True}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"recipe": 1, "step": [wrong]}, schema)
    with pytest.raises(jsonschema.ValidationError):  # no flag is declared in the tree
        jsonschema.validate({"recipe": 1, "step": [{"drop-act": True}]}, json.loads(text))
