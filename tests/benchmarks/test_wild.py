"""The list of networks of public repositories, and what is reported them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.wild.__main__ import main
from benchmarks.wild.listing import Network, networks, save
from benchmarks.wild.page import page
from benchmarks.wild.rows import Rows

SEEN, UNSEEN, THIRD = "0" * 64, "0" * 63 + "1", "0" * 63 + "2"


def network(sha256: str) -> Network:
    return Network(f"o/{sha256[-1]}", "a b.onnx", "c0ffee", "MIT", sha256, 17, 'py"torch 2', 9)


def test_the_list_is_of_many_repositories_with_few_networks_each() -> None:
    listed = networks()
    each = Counter(n.repository for n in listed)
    assert len(listed) >= 250
    assert len(each) >= 150
    assert max(each.values()) <= 3
    assert len({n.sha256 for n in listed}) == len(listed)
    halves = Counter(n.seen for n in listed)
    assert min(halves.values()) >= 120


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    given = [network(SEEN), network(UNSEEN)]
    save(given, tmp_path / "l.toml")
    assert networks(tmp_path / "l.toml") == given
    assert [n.seen for n in given] == [True, False]


def test_without_the_models_nothing_is_measured(tmp_path: Path, capsys: Any) -> None:
    assert main(["run", str(tmp_path), "--target", "trt8", "--rows", str(tmp_path / "r")]) == 0
    assert "`fetch` brings them" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_of_the_half_that_is_not_looked_into_only_numbers_are_reported(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "rows.jsonl")
    why = {"left_because": ["reject op:Foo: no pass removes it"], "reason": "", "code": 1}
    left = {"before": ["reject op:Foo"], "after": ["reject op:Foo"], "done": False, **why}
    for sha256 in (SEEN, UNSEEN):
        rows.keep("runs", sha256, runs=True)
        rows.keep("trt8.6", sha256, consent=sha256 == UNSEEN, verification="equal", **left)
    text = page([network(SEEN), network(UNSEEN)], Rows(tmp_path / "rows.jsonl"))
    assert "| o/0: a b.onnx | yes | reject op:Foo: no pass removes it |" in text
    assert "o/1" not in text
    reported = "| 1 | 0 of 1 (0.0%) | {} | 0 |"
    assert "| seen | rejected, that run " + reported.format("0 of 1 (0.0%)") in text
    assert "| unseen | rejected, that run " + reported.format("1 of 1 (100.0%)") in text


def test_other_tools_are_reported_of_where_they_were_asked(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "rows.jsonl")
    for target in ("trt8.6", "trt7.2"):
        rows.keep(f"{target} found", SEEN, found=["op:Foo"] if target == "trt7.2" else [])
    yes, no = dict.fromkeys(("trt8.6", "trt7.2"), True), {"trt8.6": False, "trt7.2": True}
    rows.keep("tools", SEEN, onnxsim=yes, OnnxSlim=no, polygraphy=yes)
    rows.keep("tools", UNSEEN, revision="abc1234")  # it does not run
    for sha256 in (SEEN, THIRD):
        rows.keep("runs", sha256, runs=True)
    lines = page([network(SEEN), network(UNSEEN)], rows).splitlines()
    assert (
        "| for | half | files | asked of | do-nothing | onnxsim | OnnxSlim | polygraphy |" in lines
    )
    assert "| trt7.2 | all | rejected | 1 | 0 | 1 | 1 | 1 |" in lines
    assert "| trt8.6 | seen | all | 1 | 1 | 1 | 0 | 1 |" in lines
    assert "| trt8.6 | unseen | all | 0 | 0 | 0 | 0 | 0 |" in lines


def test_what_the_page_says_of_targets_that_are_not_measured_again_is_kept(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "rows.jsonl")
    rows.keep("runs", SEEN, runs=True)
    left: dict[str, Any] = {"before": [], "after": [], "left_because": [], "verification": "equal"}
    rows.keep("trt8.6", SEEN, done=True, consent=True, revision="abc1234", **left)
    first = page([network(SEEN)], rows)
    newer = Rows(tmp_path / "newer.jsonl")
    newer.keep("runs", SEEN, runs=True)
    newer.keep("trt7.2", SEEN, done=True, consent=True, revision="def5678", **left)
    second = page([network(SEEN)], newer, first)
    assert second.endswith(first[first.index("## trt8.6") :])
    assert "## trt7.2\n\nMeasured with these revisions of graphfix: 1 of def5678." in second
    assert page([network(SEEN)], newer, second) == second


def test_what_is_rejected_is_reported_for_each_target_and_for_any_of_them(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "rows.jsonl")
    rows.keep("trt7.2 found", SEEN, found=["op:Foo"])
    rows.keep("trt7.2 found", UNSEEN, found=[])
    rows.keep("trt8.6 found", UNSEEN, found=["op:Bar"])
    text = page([network(SEEN), network(UNSEEN)], rows)
    for line in ("trt7.2 | 1 | 1 | 0", "trt8.6 | 1 | 0 | 1", "trt7.2 or trt8.6 | 2 | 1 | 1"):
        assert f"| {line} |" in text
    assert "##" not in text


def test_a_rejected_network_whose_run_ended_early_is_no_less_rejected(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "rows.jsonl")
    rows.keep("runs", SEEN, runs=True)
    rows.keep("trt8.6 found", SEEN, found=["op:Foo"])
    early: dict[str, Any] = {
        "before": [],
        "after": [],
        "left_because": [],
        "reason": "",
        "code": -9,
    }
    rows.keep("trt8.6", SEEN, done=False, consent=False, verification="", **early)
    text = page([network(SEEN)], rows)
    assert "| seen | rejected, that run | 1 | 0 of 1 (0.0%) | 0 of 1 (0.0%) | 0 |" in text


def test_the_revisions_that_were_measured_are_reported_where_any_is_known(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "rows.jsonl")
    left: dict[str, Any] = {"before": [], "after": [], "left_because": []}
    for sha256, of in ((SEEN, {"revision": "abc1234"}), (UNSEEN, {})):
        rows.keep("runs", sha256, runs=True)
        rows.keep("trt8.6", sha256, done=True, consent=True, verification="equal", **left, **of)
    reported = page([network(SEEN), network(UNSEEN)], rows)
    line = "Measured with these revisions of graphfix: 1 of abc1234, 1 of an earlier one."
    assert line in reported.splitlines()
