"""What `graphfix learn` makes of engines that it has never seen: made up, drawn by seed.

    python -m benchmarks.strangers FOLDER [--engines 20] [--networks 60] [--minutes 15]

Each engine is onnxruntime that refuses some operators, attributes, lists, inputs that are given or
left out, pairs of these, element types, ranks, operators of com.microsoft, opsets, IR versions and
free sizes, and computes three forms wrongly (`benchmarks.strangers.habits`). It is
learned, and then networks of FOLDER that it does not take as they are get repaired twice: for what
was learned, with the engine asked, and by rules alone for a profile of its true habits. What the
latter repairs can be repaired; of that is counted what the former repairs, too. A file that is
called fixed is loaded and run in the engine by this benchmark itself.

A further run continues after the rows of the last, ``results/strangers.jsonl``; the page is
``results/strangers.md``. It ends with 1 where something was called fixed that is not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import RESULTS, ROOT
from benchmarks.engines.tried import Tried, asked_of, drawn_for
from benchmarks.strangers.habits import habits_of, profile_of
from graphfix.engines.hosting.host import Host
from graphfix.engines.learned import LearnedFamily
from graphfix.engines.measured_traits import JOINED
from graphfix.engines.versions import write_profiles
from graphfix.learning.verdicts import EQUAL, Asker

Row = dict[str, Any]
PROGRAM = Path(__file__).with_name("program.py")
_LARGEST = 4_000_000  # bytes of a network
_SECONDS = 120
_TRUE, _LEARNED = "oracle", "stranger"


def measured(seed: int, networks: Sequence[Path], minutes: float, known: list[Row], most: int
             ) -> Iterator[Row]:  # fmt: skip
    """Yield the row of an engine, and those of networks that it does not take as they are.

    Args:
        seed: Of the engine.
        networks: The files, in the order in which they are tried.
        minutes: How long the engine is asked.
        known: The rows of earlier runs.
        most: How many networks there are to be.
    """
    habits = habits_of(seed)
    with tempfile.TemporaryDirectory(prefix="strangers-") as text:
        folder = Path(text)
        program = folder / "program.py"
        source = PROGRAM.read_text(encoding="utf-8")
        program.write_text(source.replace("= {}\n", f"= {habits!r}\n", 1), encoding="utf-8")
        graphfix = partial(_graphfix, folder)
        _write_true(folder / "learned" / _TRUE, habits, program)
        start = time.monotonic()
        words = ("--program", str(program), "--minutes", str(minutes), "--json")
        done = graphfix("learn", _LEARNED, *words, seconds=60 * minutes + 120)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        said = json.loads(done.stdout)
        if not any(row["seed"] == seed and "file" not in row for row in known):
            found = [form for form in habits["wrong"] if _is_said(form, said["wrong"])]
            yield {
                "seed": seed,
                "seconds": round(time.monotonic() - start),
                "questions": said["asked"],
                "finished": said["finished"],
                "opset": said["opset_max"] == habits["opset"],
                "ir": (said["ir_max"] or 99) >= habits["ir"] and said["ir_max"] == habits["ir"],
                "static": said["static_shapes"] == habits["static"],
                "operators": [len(set(habits["operators"]) & set(said["lacks"])),
                              len(habits["operators"])],
                "wrong": [len(found), len(habits["wrong"])],
            }  # fmt: skip
        asker = Asker(partial(Host, Path(sys.executable), program, "stranger", seconds=30.0))
        files = {row["file"] for row in known if row["seed"] == seed and "file" in row}
        count = sum(1 for r in known if r["seed"] == seed and r.get("before", EQUAL) != EQUAL)
        for path in networks:
            if count >= most:
                break
            if path.name in files:
                continue
            row = _of_network(seed, path, habits, asker, graphfix)
            count += row.get("before", EQUAL) != EQUAL
            yield row
        asker.close()


def _of_network(seed: int, path: Path, habits: Row, asker: Asker, graphfix: Any) -> Row:
    row: Row = {"seed": seed, "file": path.name}
    drawn = drawn_for(path)
    if drawn is None:
        return row
    with tempfile.TemporaryDirectory() as text:
        tried = Tried(path, path.name, *drawn, Path(text))
        sizes = tried.sizes if habits["static"] else []
        row["before"] = asked_of(tried.as_it_is(sized=bool(sizes)), tried, asker, ())[0]
        if row["before"] == EQUAL:
            return row
        for name, verify in ((_TRUE, "auto"), (_LEARNED, "engine")):
            out = Path(text, f"{name}.onnx")
            rules = ["--questions", "0"] if name == _TRUE else []
            words = ("--target", name, "--verify", verify, "-o", str(out), "--force")
            try:
                done = graphfix("run", str(path), *words, *rules, *sizes, seconds=_SECONDS)
                code = done.returncode
            except subprocess.TimeoutExpired:
                code = -1
            verdict = asked_of(out, tried, asker, ())[0] if out.is_file() else "none"
            row[name] = [code, verdict]
    return row


def _write_true(folder: Path, habits: Row, program: Path) -> None:
    """Write the family of an engine whose habits are known, as `graphfix learn` would."""
    (folder / "profiles").mkdir(parents=True)
    write_profiles(folder, {f"{_TRUE}1.0": profile_of(_TRUE, habits)})
    (folder / "program.py").write_text(program.read_text(encoding="utf-8"), encoding="utf-8")
    family = LearnedFamily(_TRUE, sys.executable, "1.0", "")
    (folder / "learned.json").write_bytes(msgspec.json.encode(family))


def _graphfix(folder: Path, *words: str, seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "graphfix", *words],
        env={
            **os.environ,
            "GRAPHFIX_LEARNED": str(folder / "learned"),
            "GRAPHFIX_ANSWERS": str(folder / "answers"),
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )


def _is_said(form: Sequence[str], wrong: dict[str, list[str]]) -> bool:
    """Say whether a profile has it that a form is computed wrongly."""
    op, attribute, value = form
    texts = [text.partition(" ")[2] for text in wrong.get(op, [])]
    if not attribute:
        return "" in texts
    return any(not text or _names(text, attribute, value) for text in texts)


def _names(text: str, attribute: str, value: str) -> bool:
    """Say whether ``mode: edge, wrap`` or ``T+mode: float32+edge`` has a value of an attribute."""
    names, _, words = text.partition(": ")
    pairs = (
        zip(names.split(JOINED), word.split(JOINED), strict=True) for word in words.split(", ")
    )
    return any((attribute, value) in pair for pair in pairs)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from ("# Engines that were made up, learned", "")
    yield (
        "Networks that the engine does not take as they are; *can be repaired* with a profile of"
        " its true habits. Made by `python -m benchmarks.strangers FOLDER`."
    )
    yield from ("", "| engine | learned in | questions | operators lacking | wrong forms found |"
                " limits | networks | can be repaired | of these repaired | called fixed |"
                " of these not |", "|---|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    totals = [0] * 9
    for engine in (row for row in rows if "file" not in row):
        those = [r for r in rows if r["seed"] == engine["seed"] and _LEARNED in r]
        able = [r for r in those if r[_TRUE] == [0, EQUAL]]
        fixed = [r for r in those if r[_LEARNED][0] == 0]
        right = sum(engine[key] for key in ("opset", "ir", "static"))
        numbers = [
            *engine["operators"], *engine["wrong"], len(those), len(able),
            sum(r[_LEARNED] == [0, EQUAL] for r in able), len(fixed),
            sum(r[_LEARNED][1] != EQUAL for r in fixed),
        ]  # fmt: skip
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        yield _line(str(engine["seed"]), f"{engine['seconds']} s", str(engine["questions"]),
                    f"{right} of 3", numbers)  # fmt: skip
    yield _line("all", "", "", "", totals)


def _line(name: str, learned: str, questions: str, limits: str, numbers: Sequence[int]) -> str:
    lacking, refused, found, wrong, *rest = numbers
    cells = (name, learned, questions, f"{lacking} of {refused}", f"{found} of {wrong}", limits,
             *map(str, rest))  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--engines", type=int, default=20, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--networks", type=int, default=60, metavar="N")
    parser.add_argument("--minutes", type=float, default=15.0)
    given = parser.parse_args()
    store = RESULTS / "strangers.jsonl"
    lines = store.read_text(encoding="utf-8").splitlines() if store.is_file() else []
    rows: list[Row] = [json.loads(line) for line in lines]
    files = sorted(p for p in given.folder.rglob("*.onnx") if p.stat().st_size < _LARGEST)
    with store.open("a", encoding="utf-8") as stream:
        for seed in range(given.first, given.first + given.engines):
            order = random.Random(seed).sample(files, len(files))
            for row in measured(seed, order, given.minutes, list(rows), given.networks):
                rows.append(row)
                stream.write(json.dumps(row) + "\n")
                stream.flush()
    page = "\n".join(table(rows)) + "\n"
    (RESULTS / "strangers.md").write_text(page, encoding="utf-8")
    print(page)
    fixed = [row[_LEARNED] for row in rows if _LEARNED in row and not row[_LEARNED][0]]
    return int(any(verdict != EQUAL for _, verdict in fixed))


if __name__ == "__main__":
    raise SystemExit(main())
