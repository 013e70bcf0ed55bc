"""What becomes of networks that no rule was written for, in real engines.

    python -m benchmarks.unseen FOLDER --engine ncnn1.0 tflite1.29 ... [--seconds S]

Each network that onnxruntime runs on drawn inputs is checked, repaired by rules alone as on a
machine without the engine, and repaired with the engine asked; both results are run in the engine.
An engine whose family `wants_sizes` gets the sizes of the drawn inputs. What an engine said of one
network is known to the next, as in the user's cache. A further run continues after the rows of
``results/unseen.tsv``; the page is ``results/unseen.md``. With
``--again`` nothing but `check` is run, on the networks of all rows: what the engine says of them
is known. It ends with 1 where graphfix ended in a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from benchmarks import RESULTS
from benchmarks.children import graphfix_main
from benchmarks.ended import code_with
from benchmarks.engines.kernels import Asker, family_of
from benchmarks.engines.tried import (
    MEMORY,
    SECONDS,
    Tried,
    asked_of,
    by_rules_alone,
    called,
    consents,
    drawn_for,
)
from benchmarks.unseen.page import page
from benchmarks.unseen.row import Row, shortened
from benchmarks.unseen.tables import read, write

_ANSWERS = "GRAPHFIX_ANSWERS"
_TRUST = "--trust-rules"
Command = Callable[[Sequence[str]], int]


def measured(tried: Tried, asker: Asker, target: str, graphfix: Command, answers: Path) -> Row:
    """Return what becomes of one network for one engine.

    Args:
        tried: The network.
        asker: The engine.
        target: Its name.
        graphfix: The command.
        answers: Where it keeps what engines say.
    """
    sized = family_of(target).wants_sizes and bool(tried.sizes)
    plain = tried.as_it_is(sized=sized)
    fixed, asked = (tried.folder / f"{target}.{kind}.onnx" for kind in ("rules", "asked"))
    alone = by_rules_alone(graphfix, tried.folder)

    def run(command: Command, out: Path, consent: Sequence[str]) -> tuple[int, str, float]:
        words = ["run", str(tried.path), "--target", target, "--force", "--json", "-o", str(out)]
        words += [*(tried.sizes if sized else []), *consent]
        began = time.monotonic()
        code, said = called(lambda: command(words), tried.folder)
        return code, said, time.monotonic() - began

    consent: list[str] = []
    code, _, seconds = run(alone, fixed, [_TRUST])
    for consent in consents(tried, target) if code == 1 else ():
        code, _, seconds = run(alone, fixed, [*consent, _TRUST])
        if code != 1:
            break
    before, _ = asked_of(plain, tried, asker, ())
    after, words = asked_of(fixed, tried, asker, consent) if fixed.is_file() else ("none", "")

    def asking(words: Sequence[str]) -> int:
        os.environ[_ANSWERS] = str(answers)
        return graphfix(words)

    asked_code, said, asked_seconds = run(asking, asked, consent)
    asked_after, more = asked_of(asked, tried, asker, consent) if asked.is_file() else ("none", "")
    check = _check(tried, target, graphfix)
    return Row(
        *(target, tried.name, before, check, code, after, asked_code, asked_after),
        round(seconds, 2),
        round(asked_seconds, 2),
        _questions(said),
        " ".join(consent),
        shortened(more or words),
    )


def _check(tried: Tried, target: str, graphfix: Command) -> int:
    """Return what `check` ends with, by rules alone."""
    plain = tried.as_it_is(sized=family_of(target).wants_sizes and bool(tried.sizes))
    alone = by_rules_alone(graphfix, tried.folder)
    return called(partial(alone, ["check", str(plain), "--target", target]), tried.folder)[0]


def _checked_again(rows: Sequence[Row], folder: Path, engines: Sequence[str]) -> Iterator[Row]:
    """Yield rows with what `check` says today; what the engine says of a network is as it was."""
    graphfix = graphfix_main()
    drawn = lru_cache(maxsize=64)(drawn_for)
    for row in rows:
        made = drawn(folder / row.file) if row.engine in engines else None
        if made is None:
            yield row
            continue
        with tempfile.TemporaryDirectory(prefix="unseen-") as text:
            tried = Tried(folder / row.file, row.file, *made, Path(text))
            yield replace(row, check=_check(tried, row.engine, graphfix))


def _questions(said: str) -> int:
    try:
        return int(json.loads(said).get("engine", {}).get("questions", 0))
    except (ValueError, AttributeError):  # it ended with an error
        return 0


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", required=True, nargs="+", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after these")
    parser.add_argument("--again", action="store_true", help="`check` the rows once more, no more")
    parser.add_argument("--rows", type=Path, default=RESULTS / "unseen.tsv")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "unseen.md")
    given = parser.parse_args()
    rows = read(given.rows, Row)
    if given.again:
        rows = list(_checked_again(rows, given.folder, given.engine))
        write(given.rows, Row, rows)
        given.output.write_text(page(rows), encoding="utf-8")
        return code_with(row.check for row in rows)
    askers = {name: Asker(name, seconds=SECONDS, memory=MEMORY) for name in given.engine}
    began, graphfix = time.monotonic(), graphfix_main()
    with tempfile.TemporaryDirectory(prefix="unseen-answers-") as answers:
        for path in sorted(given.folder.glob("*.onnx")):
            known = {row.engine for row in rows if row.file == path.name}
            left = [name for name in askers if name not in known]
            drawn = drawn_for(path) if left else None
            if time.monotonic() - began > given.seconds:
                break
            with tempfile.TemporaryDirectory(prefix="unseen-") as made:
                tried = None if drawn is None else Tried(path, path.name, *drawn, Path(made))
                for name in left if tried is not None else ():
                    assert tried is not None
                    rows.append(measured(tried, askers[name], name, graphfix, Path(answers)))
                    rows.sort(key=lambda row: (row.engine, row.file))
                    write(given.rows, Row, rows)
    if rows:
        given.output.write_text(page(rows), encoding="utf-8")
    return code_with(code for row in rows for code in (row.code, row.asked_code, row.check))


if __name__ == "__main__":
    raise SystemExit(main())
