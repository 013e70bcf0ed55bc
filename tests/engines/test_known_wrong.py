"""What releases are known to compute wrongly: where it is listed, and that each has its source."""

from __future__ import annotations

import re
from typing import cast

from graphfix.engines.engine import engines
from graphfix.engines.known_rules import KNOWN_WRONG, rows_of
from graphfix.engines.known_wrong import known_wrong
from graphfix.engines.rule_rows import rows_of_table
from graphfix.engines.targets import load_target
from graphfix.ir.storage.toml_files import read_toml
from graphfix.rendering.target_pages import page
from graphfix.rendering.targets_view import target_json, target_text

THREAD = re.compile(r"issue|pull request|release notes|measured", re.IGNORECASE)


def listed(target: str) -> list[str]:
    return [each.rule.id for each in known_wrong(load_target(target))]


def test_a_target_lists_its_own_releases_alone() -> None:
    assert "cumsum-next-to-another" in listed("trt10.8")
    assert "cumsum-next-to-another" not in listed("trt10.7")
    assert "pad-before-average" in listed("ort-1.20")
    assert "pad-before-average" not in listed("ort-1.21")


def test_whether_it_was_seen_here() -> None:
    known = {each.rule.id: each for each in known_wrong(load_target("ort-1.20"))}
    assert known["pad-before-average"].run
    known = {each.rule.id: each for each in known_wrong(load_target("trt10.14"))}
    assert not known["cumsum-next-to-another"].run
    assert known["cumsum-next-to-another"].operators == ("CumSum",)


def test_text_page_and_json_have_them() -> None:
    target = load_target("trt10.8")
    count = len(known_wrong(target))
    assert f"{count} forms are known" in target_text(target, (), (), whole=False)
    assert "cumsum-next-to-another (CumSum; trt10.8..)" in target_text(target, (), ())
    assert "| cumsum-next-to-another | CumSum | trt10.8.. |" in page(target)
    entries = cast("list[dict[str, object]]", target_json(target, (), ())["known_wrong"])
    (entry,) = (each for each in entries if each["rule"] == "cumsum-next-to-another")
    assert (entry["seen"], entry["possible"]) == (False, False)
    assert "1034" in str(entry["source"])


def test_rows_of_the_registry_say_what_comes_instead_and_where_that_was_read() -> None:
    for engine in engines():
        path = None if engine.folder is None else engine.folder / KNOWN_WRONG
        if path is None or not path.is_file():
            continue
        names = set(read_toml(path)[0])
        for row in rows_of(engine):
            if row.rule.id in names:
                assert row.computes, row.rule.id
                assert THREAD.search(row.rule.source), row.rule.id
                assert row.rule.severity == "wrong", row.rule.id


def test_a_row_may_say_that_it_is_possible_only() -> None:
    (row,) = rows_of_table(
        {
            "made-up": {
                "operator": "Softsign",
                "versions": "trt8.6",
                "severity": "wrong",
                "feature": "op:Softsign",
                "source": "issue 0 (made up for this test)",
                "message": "made up",
                "computes": "zeros",
                "seen": ["8.6"],
                "possible": "which networks",
                "fires": ["(float[2] x) => (float[2] y) { y = Softsign (x) }"],
            }
        },
        "here",
    )
    assert (row.computes, row.seen, row.possible) == ("zeros", ("8.6",), True)
