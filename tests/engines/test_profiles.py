"""The shipped profiles: names, notes, errors, what they hold, and a profile of one's own."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from graphfix.engines import profile as profiles
from graphfix.engines.engine import engine_of, engines
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target, resolve, target_names
from graphfix.engines.tensorrt.engine import releases
from graphfix.engines.versions import in_range
from graphfix.errors import UsageError

FOLDER = Path(profiles.__file__).parent
OWN = """
name = "mine-1.0"
family = "mine"
version = "1.0"
title = "My engine"
source = "measured"
domains = [""]
functions = true
[opset]
max = 13
rejects_above = true
[ops]
Relu = { supported = true, dtypes = ["float32"] }
"""


def test_the_profiles_that_are_promised_are_there_in_order() -> None:
    tens = [f"trt10.{minor}" for minor in range(17)]
    first = [name for name in target_names() if name.startswith(("trt", "ort"))]
    assert (
        first
        == list(target_names())[: len(first)]
        == [
            "trt5.1",
            "trt6",
            "trt6-fulldims",
            "trt7.0",
            "trt7.1",
            "trt7.2",
            "trt8.0",
            "trt8.2",
            "trt8.4",
            "trt8.5",
            "trt8.6",
            "trt9.3",
            *tens,
            *(f"trt11.{minor}" for minor in range(5)),
            *(f"trt-rtx1.{minor}" for minor in range(4, 8)),
            *(f"ort-1.{minor}" for minor in range(4, 33)),
        ]
    )
    targets = [load_target(name) for name in target_names()]
    assert [target.name for target in targets] == list(target_names())
    for family in ("trt", "trt-rtx", "ort"):
        own = [target for target in targets if target.family == family]
        assert sorted(own, key=lambda target: target.order) == own


def test_every_profile_follows_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test extra")
    schema = json.loads((FOLDER / "profile.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for name in target_names():
        table = engine_of(load_target(name).family).profile(name)
        if isinstance(table, Path):
            table = tomllib.loads(table.read_text(encoding="utf-8"))
        assert [error.message for error in validator.iter_errors(table)] == [], name
        assert not validator.is_valid({**table, "surprise": 1})


def test_aliases_name_profiles_that_know_of_them() -> None:
    reported = {alias: name for name in target_names() for alias in load_target(name).aliases}
    assert reported == {
        alias: name for engine in engines() for alias, name in engine.aliases().items()
    }


@pytest.mark.parametrize(
    "name", ["trt8.6", "TRT8.6", "TensorRT8.6", "trt-8.6", "tensorrt 8.6", " trt_8.6 ", "trt8.6.1"]
)
def test_spellings_of_a_name_need_no_note(name: str) -> None:
    target, notes = resolve(name)
    assert (target.name, notes) == ("trt8.6", ())


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("trt6.0", "trt6"),
        ("trt6.0.1", "trt6"),
        ("trt6-full-dims", "trt6-fulldims"),
        ("trt6.0-fulldims", "trt6-fulldims"),
        ("trt10.1", "trt10.1"),
        ("trt10.10", "trt10.10"),
        ("trt7.2.3", "trt7.2"),
    ],
)
def test_other_names_that_are_exact(name: str, known: str) -> None:
    target, notes = resolve(name)
    assert (target.name, notes) == (known, ())


@pytest.mark.parametrize(
    ("alias", "known"),
    [
        ("trt5", "trt5.1"),
        ("trt7", "trt7.2"),
        ("trt8", "trt8.6"),
        ("trt9", "trt9.3"),
        ("trt10", "trt10.10"),
        ("trt11", "trt11.1"),
        ("TensorRT-8", "trt8.6"),
        ("trt", "trt11.4"),
        ("tensorrt", "trt11.4"),
    ],
)
def test_an_alias_says_what_it_means(alias: str, known: str) -> None:
    target, notes = resolve(alias)
    assert target.name == known
    assert len(notes) == 1
    assert notes[0].startswith(f"{alias} is taken as {known} (TensorRT {known[3:]})")


def test_trt8_says_once_what_to_type_on_an_older_jetson() -> None:
    _, notes = resolve("trt8")
    assert notes == (
        "trt8 is taken as trt8.6 (TensorRT 8.6); on a Jetson type what it holds: "
        "trt8.0 for JetPack 4.6; trt8.2 for JetPack 4.6.1, 4.6.2; "
        "trt8.4 for JetPack 5.0, 5.0.2; trt8.5 for JetPack 5.1, 5.1.4",
    )


@pytest.mark.parametrize(
    ("name", "lower"),
    [
        ("trt8.1", "trt8.0"),
        ("trt8.3.4", "trt8.2"),
        ("trt8.9", "trt8.6"),
        ("trt9.4", "trt9.3"),
        ("trt10.99", "trt10.16"),
        ("trt6.5", "trt6"),
        ("tensorrt-7.9", "trt7.2"),
    ],
)
def test_a_minor_that_is_not_listed_is_the_next_lower_one(name: str, lower: str) -> None:
    target, notes = resolve(name)
    assert target.name == lower
    assert notes == (f"there is no profile {name}: {lower}, the next lower one, is taken",)


@pytest.mark.parametrize(("name", "newest"), [("trt11.9", "trt11.4"), ("ort-1.99", "ort-1.32")])
def test_a_release_newer_than_all_profiles_is_judged_by_the_newest(name: str, newest: str) -> None:
    target, notes = resolve(name)
    assert target.name == newest
    assert notes == (
        f"there is no profile {name}: {newest}, the newest one, is taken; "
        "what changed in the engine since is not known",
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("trt9.0", "trt9.3"),
        ("trt5.0", "trt5.1"),
        ("trt4.0", "trt5.1"),
        ("tr8.6", "trt8.6"),
        ("trt12", "trt10.2"),
        ("nonsense", "known families: coreml-mlprogram, coreml-nn, directml"),
        ("", "trt, trt-rtx"),
    ],
)
def test_an_unknown_name_is_the_users_error_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(name)
    assert caught.value.message == f"there is no target {name!r}"
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("name", "known", "note"),
    [
        ("jetpack5.1", "trt8.5", "JetPack 5.1 is taken as trt8.5 (it holds TensorRT 8.5.2)"),
        ("JetPack 4.6", "trt8.0", "JetPack 4.6 is taken as trt8.0 (it holds TensorRT 8.0.1)"),
        (
            "jp4.6.4",
            "trt8.2",
            "JetPack 4.6.4 is not listed and taken as 4.6.2: trt8.2 (TensorRT 8.2.1)",
        ),
        (
            "ngc-22.12",
            "trt8.5",
            "NGC container 22.12 is taken as trt8.5 (it holds TensorRT 8.5.1)",
        ),
    ],
)
def test_a_release_is_a_name(name: str, known: str, note: str) -> None:
    target, notes = resolve(name)
    assert (target.name, notes) == (known, (note,))


@pytest.mark.parametrize("name", ["jetpack3.3", "ngc22.10", "jetpack6"])
def test_an_unknown_release_is_the_users_error(name: str) -> None:
    with pytest.raises(UsageError, match="it is not known which TensorRT") as caught:
        resolve(name)
    assert "known are" in caught.value.hint


def test_releases_name_the_profile_of_their_tensorrt() -> None:
    for release in releases():
        found, notes = resolve(f"trt{release.holds}")
        assert (release.profile, notes) == (found.name, ()), release
        assert release.source


def test_facts_that_rules_rely_on() -> None:
    eight, ten = load_target("trt8.6"), load_target("trt10.10")
    assert (eight.opset_min, eight.opset_max, eight.rejects_above) == (7, 17, False)
    assert (load_target("trt8.2").opset_max, ten.opset_min, ten.opset_max) == (13, 9, 22)
    assert (eight.functions, load_target("trt9.3").functions) == (False, True)
    assert eight.ops["Abs"].dtypes == frozenset({"float32", "float16", "int32"})
    assert eight.dtype_aliases == {"int64": "int32", "float64": "float32"}
    assert ten.dtype_aliases == {"float64": "float32"}
    assert load_target("trt7.2").dtype_aliases == {"int64": "int32"}
    assert eight.io_dtypes is not None
    assert "uint8" in eight.io_dtypes
    assert "uint8" not in (load_target("trt8.4").io_dtypes or ())
    assert "bool" not in (load_target("trt6").io_dtypes or ())
    assert eight.ops["Mod"].supported
    assert eight.ops["Mod"].since == "trt8.5"
    assert not load_target("trt8.4").ops["Mod"].supported
    assert load_target("trt7.2").ops["Abs"].dtypes is None


def test_the_code_wins_over_the_table() -> None:
    assert load_target("trt8.0").ops["Reciprocal"].supported
    assert not load_target("trt8.4").ops["RandomNormal"].supported
    assert not load_target("trt6").ops["Sin"].supported
    assert load_target("trt8.6").ops["TRT_Scale"].dtypes is None
    assert any("no importer for: RandomNormal" in note for note in load_target("trt8.4").notes)


def test_plugins_are_those_of_the_version() -> None:
    targets = [load_target(name) for name in target_names()]
    shipped = {target.name: target.plugins for target in targets if target.family == "trt"}
    assert [name for name in shipped if in_range(load_target(name), "..trt7.0")] == [
        name for name, plugins in shipped.items() if not plugins
    ]
    assert "ScatterND" in shipped["trt8.0"]
    assert "ScatterND" not in shipped["trt7.2"]
    assert "EfficientNMS_TRT" in shipped["trt11.1"]
    assert "BatchedNMS_TRT" in shipped["trt10.15"]
    assert "BatchedNMS_TRT" not in shipped["trt11.1"]
    assert "ROIAlign_TRT" in shipped["trt8.5"]
    assert "ROIAlign_TRT" not in shipped["trt8.4"]


def test_the_choice_for_7_2_is_reported() -> None:
    assert any(note.startswith("Made of 7.2.1") for note in load_target("trt7.2").notes)


def test_onnx_runtime_by_its_names() -> None:
    for name in ("ort-1.8", "ORT1.8", "onnxruntime-1.8", "onnxruntime 1.8.1"):
        assert resolve(name)[0].name == "ort-1.8"
    target, notes = resolve("ort")
    assert target.name == "ort-1.32"
    assert notes == (
        "ort is taken as ort-1.32 (ONNX Runtime 1.32); "
        "type the version that you deploy, such as ort-1.10",
    )


def test_what_onnx_runtime_says_of_itself() -> None:
    limits = {
        minor: (t.opset_max, t.ir_max, t.domain_opsets["ai.onnx.ml"], t.functions)
        for minor in (5, 8, 10, 12, 15, 17, 31, 32)
        for t in [load_target(f"ort-1.{minor}")]
    }
    assert limits == {
        5: (12, 7, 2, False),
        8: (14, 7, 2, False),
        10: (15, 8, 2, False),
        12: (17, 8, 3, False),
        15: (19, 9, 3, True),
        17: (20, 9, 4, True),
        31: (26, 13, 5, True),
        32: (28, 14, 5, True),
    }
    eight = load_target("ort-1.8")
    assert "int8" in eight.ops["Add"].lacks[14]["T"]
    assert "float32" not in eight.ops["Add"].lacks[14]["T"]
    assert "FastGelu" in eight.contrib
    assert "QLinearSoftmax" not in eight.contrib
    assert load_target("ort-1.15").ops["Reshape"].lacks[19] == {}
    assert "T" in load_target("ort-1.16").ops["Reshape"].lacks[19]
    assert eight.ops["Trilu"].since == "ort-1.8"


def test_a_profile_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    for name in (path, str(path)):
        target, notes = resolve(name)
        assert notes == ()
        assert (target.name, target.version, target.opset_max) == ("mine-1.0", (1, 0), 13)
        assert target.rejects_above
        assert target.ops["Relu"].dtypes == frozenset({"float32"})
        assert (target.plugins, target.io_dtypes, target.ir_max) == (frozenset(), None, None)
    assert load_target(target) is target
    path.write_text(OWN.replace("max = 13", "max = 14"))
    assert load_target(path).opset_max == 14


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "My engine"\n', "", "title is missing"),
        ("max = 13", 'max = "13"', "max is '13', which is no int"),
        ("max = 13", "max = true", "max is True, which is no int"),
        ('version = "1.0"', 'version = "one"', "version is 'one'"),
        ("supported = true, ", "supports = true, ", "ops.Relu has 'supports'"),
        ('domains = [""]', "domains = [1]", "domains has to be a list of texts"),
        ("functions = true", "functions = true\nfunction = 1", "the profile has 'function'"),
        ("[opset]", "[opset", "the profile is no TOML"),
    ],
)
def test_a_bad_profile_is_the_users_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in OWN
    path = tmp_path / "mine.toml"
    path.write_text(OWN.replace(old, new))
    with pytest.raises(UsageError) as caught:
        load_target(path)
    assert message in caught.value.message
    assert caught.value.where == str(path)


def test_a_missing_profile_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the profile cannot be read"):
        load_target(str(tmp_path / "none.toml"))


def test_targets_can_be_hashed_and_are_read_once() -> None:
    first: Target = load_target("trt8.6")
    assert load_target("trt8") is first
    assert hash(first) == hash(load_target("tensorrt8.6"))


def test_loading_reads_each_family_once_and_neither_onnx_nor_numpy() -> None:
    script = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "from graphfix.engines.targets import load_target\n"
        "load_target('trt10.3')\n"
        "load_target('ort-1.10')\n"
        "print([p.split('/')[-3:] for p in opened if p.endswith(('.toml', '.json'))])\n"
        "print([name for name in ('onnx', 'numpy') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=FOLDER.parent.parent,
    )
    assert done.stdout.splitlines() == [
        "[['tensorrt', 'profiles', 'versions.json'], ['onnxruntime', 'profiles', 'versions.json']]",
        "[]",
    ]
