"""How a real engine runs the models of a folder: as they are, after onnxsim, after graphfix.

    python -m benchmarks.engines FOLDER --engine openvino2026.4 [tract0.23 ...] [--sample 40]

Each model that onnxruntime runs on drawn inputs is loaded and run in the engine in three forms.
What graphfix calls fixed is counted, and what of that the engine refuses or computes wrongly; and
what it finds in the model as it is, next to what the engine makes of that. An engine whose family
`wants_sizes` gets all three forms with the sizes of the drawn inputs. Where the file is not fixed
as it is and has inputs or outputs of types that the engine does not bind, graphfix runs again with
``--allow-io-change``, and then with ``--allow-lossy`` as well, and the same values are fed in the
types that it has declared. None of these runs asks the engine: `benchmarks.unseen` has those.
Several engines share the inputs and what onnxsim writes. A further run continues after the rows of
the last, ``results/engines-E.tsv``, and with ``--again`` asks once more about what graphfix did
not make equal or `check` did not foresee; the pages are ``results/engines-E.md``. It ends with 1
where graphfix ended in a fault. It needs POSIX: graphfix and onnxsim run in forked children.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from benchmarks import RESULTS
from benchmarks.children import graphfix_main
from benchmarks.ended import code_with
from benchmarks.engines.alone import is_wrong_alone
from benchmarks.engines.kernels import Asker, family_of
from benchmarks.engines.page import table
from benchmarks.engines.rows import ALONE, FORMS, POSSIBLY, Row, append, read, write
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


def measured(
    tried: Tried, asker: Asker, target: str, graphfix: Callable[..., int], known: Row | None
) -> Row:
    """Return what becomes of one model in one engine.

    Args:
        tried: The model.
        asker: The engine.
        target: Its name.
        graphfix: The command.
        known: What became of it before: of what graphfix has no part in, that is kept.
    """
    sized = family_of(target).wants_sizes and bool(tried.sizes)
    plain, fixed = tried.as_it_is(sized=sized), tried.folder / f"{target}.onnx"
    command = ["run", str(tried.path), "--target", target, "--force", "--trust-rules"]
    command += ["-o", str(fixed)]
    command += tried.sizes if sized else []
    graphfix = by_rules_alone(graphfix, tried.folder)
    code, _ = called(lambda: graphfix(command), tried.folder)
    consent: list[str] = []
    for consent in consents(tried, target) if code == 1 else ():
        words = [*command, *consent]
        code, _ = called(partial(graphfix, words), tried.folder)
        if code != 1:
            break
    verdicts = dict(known.verdicts) if known is not None else {}
    said = ""
    answers: dict[bytes, tuple[str, str]] = {}  # a form that is the same file is not asked twice
    for form in FORMS if known is None else FORMS[-1:]:
        file = _form(form, tried, plain, fixed)
        content = b"" if file is None else file.read_bytes()
        if content not in answers:
            answers[content] = asked_of(file, tried, asker, consent) if file else ("none", "")
        verdicts[form], said = answers[content]
    checking = ["check", str(plain), "--target", target, "--json"]
    _, findings = called(lambda: graphfix(checking), tried.folder)
    found = tuple(_severities(findings))
    is_called = verdicts[FORMS[0]] == "equal" and "wrong" in found
    if is_called and is_wrong_alone(plain, target, asker, tried.folder):
        found = tuple(ALONE if severity == "wrong" else severity for severity in found)
    return Row(tried.name, verdicts, code, found, sized, tuple(consent), said)


def _form(form: str, tried: Tried, plain: Path, fixed: Path) -> Path | None:
    """Return the file of a form, or None where there is none."""
    if form == FORMS[0]:
        return plain
    if form == FORMS[1]:
        return tried.by_onnxsim(plain)
    return fixed if fixed.is_file() else None


def _severities(said: str) -> list[str]:
    """Return the severities of what `graphfix check` finds in a model."""
    try:
        findings = json.loads(said)["findings"]
    except (ValueError, KeyError):  # it ended with an error
        return []
    found = {finding["severity"] for finding in findings}
    if not any(each["certain"] for each in findings if each["severity"] == "wrong"):
        found = {POSSIBLY if severity == "wrong" else severity for severity in found}
    return sorted(found)


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", required=True, nargs="+", metavar="TARGET")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="N of the models, the same each time"
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after these")
    parser.add_argument(
        "--patience", type=float, default=SECONDS, metavar="S", help="an engine's for each form"
    )
    parser.add_argument("--memory", type=int, default=MEMORY, metavar="BYTES", help="an engine's")
    parser.add_argument(
        "--again", action="store_true", help="of rows that are there, ask those that fail anew"
    )
    parser.add_argument("--rows", type=Path, help="a table, or a folder of them")
    parser.add_argument("-o", "--output", type=Path, help="the page, or a folder of them")
    given = parser.parse_args()
    files = sorted(given.folder.rglob("*.onnx"))
    random.Random(0).shuffle(files)
    folder: Path = given.rows or RESULTS
    books = {
        engine: Book(
            _in(folder, engine, "tsv"),
            Asker(engine, seconds=given.patience, memory=given.memory),
            engine,
            again=given.again,
        )
        for engine in given.engine
    }
    began, graphfix = time.monotonic(), graphfix_main()
    import_module("onnxsim")  # once for all children
    for path in files[: given.sample]:
        if time.monotonic() - began > given.seconds:
            break
        name = path.relative_to(given.folder).as_posix()
        left = [book for book in books.values() if book.wants(name)]
        if not left:
            continue
        drawn = drawn_for(path)
        with tempfile.TemporaryDirectory(prefix="engines-") as made:
            tried = None if drawn is None else Tried(path, name, *drawn, Path(made))
            for book in left:
                book.add(tried, name, graphfix)
    codes: list[int] = []
    for book in books.values():
        page = _in(given.output or RESULTS, book.engine, "md")
        rows = book.closed()
        page.write_text(table(book.engine, rows), encoding="utf-8")
        codes += [row.code for row in rows if row.runs]
    return code_with(codes)


def _in(place: Path, engine: str, suffix: str) -> Path:
    """Return the file of an engine: the one that is given, or one in the folder that is given."""
    return place / f"engines-{engine}.{suffix}" if place.is_dir() else place


class Book:
    """The rows of an engine, in a table that a further run continues with."""

    def __init__(self, file: Path, asker: Asker, engine: str, *, again: bool) -> None:
        """Read the rows that are there."""
        self.engine, self._file, self._asker, self._again = engine, file, asker, again
        self._rows = {row.file: row for row in read(file)}

    def wants(self, name: str) -> bool:
        """Say whether a model is to be asked about."""
        row = self._rows.get(name)
        if row is None or not row.runs:
            return row is None
        return self._again and not (row.equal and row.foreseen)

    def add(self, tried: Tried | None, name: str, graphfix: Callable[..., int]) -> None:
        """Add the row of a model; None for one that onnxruntime does not run."""
        row = Row(name, {})
        if tried is not None:
            row = measured(tried, self._asker, self.engine, graphfix, self._rows.get(name))
        self._rows[name] = row
        append(self._file, row)

    def closed(self) -> list[Row]:
        """End the engine, put the table in order, and return its rows."""
        self._asker.close()
        rows = list(self._rows.values())
        write(self._file, rows)
        return rows


if __name__ == "__main__":
    sys.exit(main())
