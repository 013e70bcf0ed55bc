"""Recipes: steps in order, what is written, and which step is at fault."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from onnx import ModelProto

from graphfix.cli import main
from graphfix.edits.recipes import RunTable
from graphfix.rendering.schemas import schema_of
from tests.edits.small_models import HEAD, TOWER, parsed, ran

SCHEMA = schema_of("recipe")
MODS = (
    HEAD
    + "g (int32[3] x) => (int32[3] y) <int32 three = {3}> "
    + "{ [m] a = Mod (x, three) [s] b = Identity (a) [n] y = Mod (b, three) }"
)
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tower.onnx").write_bytes(parsed(TOWER).SerializeToString())
    Path("mods.onnx").write_bytes(parsed(MODS).SerializeToString())


def write(text: str) -> str:
    Path("steps.toml").write_text(text, encoding="utf-8")
    return "steps.toml"


def read(name: str) -> ModelProto:
    return ModelProto.FromString(Path(name).read_bytes())


def test_a_recipe_that_is_written_does_the_same_again(capsys: Capture) -> None:
    odd = 'a "b"\\ \u00e4\x7f\n'
    words = ["--rename", "x=image", "--rename-node", f"dot={odd}", "--keep-outputs", "y"]
    assert main(["edit", "tower.onnx", *words, "-o", "a.onnx", "--write-recipe", "r.toml"]) == 0
    held = tomllib.loads(Path("r.toml").read_text(encoding="utf-8"))
    jsonschema.validate(held, SCHEMA)
    assert held["step"] == [
        {"rename": "x=image"},
        {"rename-node": f"dot={odd}"},
        {"keep-outputs": "y"},
    ]
    assert main(["edit", "tower.onnx", "--recipe", "r.toml", "-o", "b.onnx"]) == 0
    assert "\n  verified  5 of 5 claims, " in capsys.readouterr().out
    assert read("a.onnx") == read("b.onnx")


def test_steps_of_recipes_and_of_the_command_line_are_in_order(capsys: Capture) -> None:
    recipe = write('recipe = 1\n[[step]]\nrename = "b1=c1"\n[[step]]\nrename = "c1=d1"\n')
    words = ["--rename", "x=b1", "--recipe", recipe, "--rename", "d1=e1"]
    assert main(["edit", "tower.onnx", *words, "-o", "o.onnx", "--write-recipe", "all.toml"]) == 0
    assert read("o.onnx").graph.input[0].name == "e1"
    held = tomllib.loads(Path("all.toml").read_text(encoding="utf-8"))
    assert [step["rename"] for step in held["step"]] == ["x=b1", "b1=c1", "c1=d1", "d1=e1"]


def test_a_run_between_edits(capsys: Capture) -> None:
    recipe = write(
        'recipe = 1\n[[step]]\nrename-node = "n=last"\n'
        '[[step]]\nrun = { target = "trt8.0", except = ["last"], partial = true }\n'
        '[[step]]\nrename = "x=image"\n'
    )
    jsonschema.validate(tomllib.loads(Path(recipe).read_text(encoding="utf-8")), SCHEMA)
    assert main(["edit", "mods.onnx", "--recipe", recipe, "-o", "o.onnx", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert [step["edit"] for step in said["edits"]] == ["rename-node", "run", "rename"]
    run = said["edits"][1]
    assert "mod-elimination at 1 place" in run["said"]
    assert run["unfinished"][0].startswith("left for trt8.0: ")
    assert [p["verification"]["status"] for p in run["proofs"]] == ["equal"]
    nodes = read("o.onnx").graph.node
    assert [n.name for n in nodes if n.op_type == "Mod"] == ["last"]
    x = np.array([-7, 5, 9], np.int32)
    assert ran(read("o.onnx"), image=x)["y"].tolist() == ran(read("mods.onnx"), x=x)["y"].tolist()


def test_a_run_without_proof(capsys: Capture) -> None:
    recipe = write('recipe = 1\n[[step]]\nrun = { passes = ["mod-elimination"] }\n')
    words = ["edit", "mods.onnx", "--recipe", recipe, "-o", "o.onnx", "--verify", "off", "--json"]
    assert main(words) == 0
    (step,) = json.loads(capsys.readouterr().out)["edits"]
    assert (step["said"], step["proofs"]) == (["mod-elimination at 2 places"], [])


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('rename = "q=r"', "step 2: the model has no tensor 'q' (in --rename q=r)"),
        ('delete = "op:Dropout"', "step 2: the model has no node 'op:Dropout'"),
        ('run = { passes = ["mod-elimination"] }', "step 2: mod-elimination changed no node"),
        (
            'run = { target = "trt8", only = ["gone*"] }',
            "step 2: the model has no node 'gone*' (in --only gone*)",
        ),
        ('renam = "a=b"', "step 2: there is no edit 'renam'"),
        ('rename = "ab"', "step 2: 'ab' is not of the form OLD=NEW"),
        ("rename = 3", "step 2: 3 is no text"),
        ('rename = "a=b"\nprefix = "p_"', "is no recipe: Expected `object` of length <= 1"),
        ('run = "trt8"', "step 2: Expected `object`, got `str` (in run)"),
        ('run = { targt = "trt8" }', "step 2: Object contains unknown field `targt`"),
        ("run = { opset = true }", "step 2: Expected `int | null`, got `bool` - at `$.opset`"),
        ("run = { shapes = { x = [0] } }", "Expected `int` >= 1 - at `$.shapes"),
        ("run = { allow-lossy = true }", "step 2: nothing to do"),
        ('run = { passes = ["no-such-pass"] }', "step 2: no pass is called 'no-such-pass'"),
    ],
)
def test_the_step_at_fault_is_named(step: str, said: str, capsys: Capture) -> None:
    recipe = write(f'recipe = 1\n[[step]]\nprefix = "p_"\n[[step]]\n{step}\n')
    assert main(["edit", "tower.onnx", "--recipe", recipe, "-o", "o.onnx"]) == 2
    assert said in capsys.readouterr().err
    assert not Path("o.onnx").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no recipe: Object missing required field `recipe`"),
        ("recipe = 2", "is no recipe"),
        ("recipe = true", "is no recipe"),
        ("recipe = 1", "missing required field `step`"),
        ("recipe = 1\nstep = []", "Expected `array` of length >= 1"),
        ("recipe = 1\nsteps = []", "unknown field `steps`"),
        ("recipe = [", "no TOML"),
    ],
)
def test_what_is_no_recipe(text: str, said: str, capsys: Capture) -> None:
    assert main(["edit", "tower.onnx", "--recipe", write(text), "-o", "o.onnx"]) == 2
    assert said in capsys.readouterr().err
    assert main(["edit", "tower.onnx", "--recipe", "gone.toml", "-o", "o.onnx"]) == 2


def test_other_files_are_not_overwritten(capsys: Capture) -> None:
    Path("mine.toml").write_text("[tool]\n", encoding="utf-8")
    words = [
        "edit",
        "tower.onnx",
        "--rename",
        "x=b1",
        "-o",
        "o.onnx",
        "--write-recipe",
        "mine.toml",
    ]
    assert main(words) == 2
    assert "is there and is no recipe" in capsys.readouterr().err
    assert not Path("o.onnx").exists()
    assert main([*words, "--force"]) == 0
    assert Path("mine.toml").read_text(encoding="utf-8").startswith("recipe = 1\n")


def test_the_schema_has_every_key_of_a_run() -> None:
    step: dict[str, Any] = SCHEMA["properties"]["step"]["items"]["properties"]["run"]
    assert tuple(step["properties"]) == RunTable.__struct_encode_fields__
