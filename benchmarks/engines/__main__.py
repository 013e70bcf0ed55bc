"""How a real engine runs the models of a folder: as they are, after onnxsim, after graphfix.

    python -m benchmarks.engines FOLDER --engine openvino2026.4 [tract0.23 ...] [--sample 40]

Each model that onnxruntime runs on drawn inputs is loaded and run in the engine in three forms.
What graphfix calls fixed is counted, and what of that the engine refuses or computes wrongly; and
what it finds in the model as it is, next to what the engine makes of that. An engine whose family
`wants_sizes` gets all three forms with the sizes of the drawn inputs. Where the file is not fixed
as it is and has inputs or outputs of types that the engine does not bind, graphfix runs again with
``--allow-io-change``, and then with ``--allow-lossy`` as well, and the same values are fed in the
types that it has declared. Several engines share the inputs and what onnxsim writes. A further run
continues after the rows of the last, ``results/engines-E.tsv``, and with ``--again`` asks once more
about what graphfix did not make equal or `check` did not foresee; the pages are
``results/engines-E.md``. It ends with 1 where graphfix ended in a fault. It needs POSIX: graphfix
and onnxsim run in forked children.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from benchmarks import RESULTS
from benchmarks.children import call_in_child, graphfix_main
from benchmarks.ended import code_with
from benchmarks.engines.kernels import Asker, difference, family_of
from benchmarks.engines.page import table
from benchmarks.engines.rows import FORMS, POSSIBLY, Row, append, read, write
from graphfix.engines.targets import load_target
from graphfix.errors import GraphfixError
from graphfix.ir.storage.weights import dtype_of
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.models import run_model

_ATTEMPTS = (0, 3, 9, 16, 22)
_SECONDS = 120.0
_MEMORY = 4 << 30
_MILLIONTH = 1e-6
_CONSENTS = (["--allow-io-change"], ["--allow-io-change", "--allow-lossy"])


@dataclass
class Tried:
    """A model of the folder, and what all engines get of it.

    Attributes:
        path: The model.
        name: Its path in the folder.
        feed: Inputs that onnxruntime runs it on.
        expected: What it computes.
        folder: Where forms of it are written.
        sizes: graphfix's options that fix the sizes that it leaves open.
        simplified: Form -> what onnxsim writes, or None.
    """

    path: Path
    name: str
    feed: dict[str, Any]
    expected: dict[str, Any]
    folder: Path
    sizes: list[str] = field(default_factory=list[str])
    simplified: dict[Path, Path | None] = field(default_factory=dict[Path, "Path | None"])

    def __post_init__(self) -> None:
        """Write the form whose sizes are fixed."""
        self._sized = self.folder / "sized.onnx"
        self.sizes = _with_sizes(self.path, self.feed, self._sized)

    def as_it_is(self, *, sized: bool) -> Path:
        """Return the model, with its sizes fixed where that is asked for."""
        return self._sized if sized and self.sizes else self.path

    def by_onnxsim(self, path: Path) -> Path | None:
        """Return what onnxsim writes of a form, or None where it fails."""
        if path not in self.simplified:
            out = self.folder / f"sim{len(self.simplified)}.onnx"
            _called(lambda: _simplify(path, out), self.folder)
            self.simplified[path] = out if out.is_file() else None
        return self.simplified[path]


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
    command = ["run", str(tried.path), "--target", target, "--force", "-o", str(fixed)]
    command += tried.sizes if sized else []
    code, _ = _called(lambda: graphfix(command), tried.folder)
    consent: list[str] = []
    for consent in _consents(tried, target) if code == 1 else ():
        words = [*command, *consent]
        code, _ = _called(partial(graphfix, words), tried.folder)
        if code != 1:
            break
    verdicts = dict(known.verdicts) if known is not None else {}
    said = ""
    answers: dict[bytes, tuple[str, str]] = {}  # a form that is the same file is not asked twice
    for form in FORMS if known is None else FORMS[-1:]:
        file = _form(form, tried, plain, fixed)
        content = b"" if file is None else file.read_bytes()
        if content not in answers:
            answers[content] = _asked(file, tried, asker, consent) if file else ("none", "")
        verdicts[form], said = answers[content]
    checking = ["check", str(plain), "--target", target, "--json"]
    _, findings = _called(lambda: graphfix(checking), tried.folder)
    found = tuple(_severities(findings))
    return Row(tried.name, verdicts, code, found, sized, tuple(consent), said)


def _form(form: str, tried: Tried, plain: Path, fixed: Path) -> Path | None:
    """Return the file of a form, or None where there is none."""
    if form == FORMS[0]:
        return plain
    if form == FORMS[1]:
        return tried.by_onnxsim(plain)
    return fixed if fixed.is_file() else None


def _asked(file: Path, tried: Tried, asker: Asker, consent: Sequence[str]) -> tuple[str, str]:
    """Return what becomes of a file in an engine, given the inputs in the types it declares."""
    inputs = onnx.ModelProto.FromString(file.read_bytes()).graph.input
    types = {info.name: info.type.tensor_type.elem_type for info in inputs}
    given = {
        name: value.astype(dtype_of(types[name]), copy=False) if consent else value
        for name, value in tried.feed.items()
        if name in types
    }
    return asker.verdict(file, given, tried.expected)


def _with_sizes(path: Path, feed: Mapping[str, Any], out: Path) -> list[str]:
    """Write a model with the sizes of inputs that it leaves open; return graphfix's options.

    Args:
        path: The model.
        feed: Its inputs.
        out: Where to; nothing is written where it leaves none open.
    """
    fixing: Any = import_module("onnxruntime.tools.onnx_model_utils")
    model = onnx.ModelProto.FromString(path.read_bytes())
    options: list[str] = []
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        if info.name not in feed or all(dim.HasField("dim_value") for dim in dims):
            continue
        shape = feed[info.name].shape
        fixing.make_input_shape_fixed(model.graph, info.name, list(shape))
        options += ["--shape", f"{info.name}={'x'.join(map(str, shape))}"]
    if options:
        out.write_bytes(model.SerializeToString())
    return options


def _consents(tried: Tried, target: str) -> Sequence[list[str]]:
    """Return the consents that a model is to be tried with whose ends the engine does not bind."""
    bound = load_target(target).io_dtypes
    ends = {value.dtype.name for value in (*tried.feed.values(), *tried.expected.values())}
    return _CONSENTS if bound is not None and ends - bound else ()


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


def _drawn(path: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return inputs that onnxruntime runs a model on, and what it computes.

    Where inputs that differ by a millionth give other results than engines may, sums in another
    order would, too: others are drawn.
    """
    try:
        maker = FeedMaker(onnx.ModelProto.FromString(path.read_bytes()))
        for attempt in _ATTEMPTS:
            feed = maker.draw(0, attempt)
            try:
                outputs, shaken = run_model(path, [feed, _shaken(feed)], timeout=_SECONDS)
            except GraphfixError:
                continue
            if any(difference(outputs[name], shaken[name]) for name in _arrays(outputs)):
                continue
            if all(isinstance(v, np.ndarray) for v in (*outputs.values(), *feed.values())):
                return feed, outputs
            return None
    except Exception as error:  # damaged files of the corpus
        print(f"{path.name}: {error}", file=sys.stderr)
    return None


def _arrays(values: Mapping[str, Any]) -> list[str]:
    return [name for name, value in values.items() if isinstance(value, np.ndarray)]


def _shaken(feed: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs whose floats are larger or smaller by a millionth."""
    numbers = np.random.default_rng(0)
    shaken = dict(feed)
    for name in _arrays(feed):
        array = feed[name]
        if array.dtype.kind == "f":
            signs = numbers.choice((-_MILLIONTH, _MILLIONTH), array.shape)
            shaken[name] = (array * (1 + signs)).astype(array.dtype)
    return shaken


def _simplify(path: Path, out: Path) -> int:
    simplified, _ = import_module("onnxsim").simplify(str(path))
    out.write_bytes(simplified.SerializeToString())
    return 0


def _called(call: Callable[[], int], folder: Path) -> tuple[int, str]:
    """Return the exit code of a call in a child, -1 where it takes too long, and what it prints."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        ended = call_in_child(call, Path(scratch), timeout=_SECONDS * 3, memory_bytes=_MEMORY)
    return -1 if ended.timed_out else ended.code, ended.stdout


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
        "--patience", type=float, default=_SECONDS, metavar="S", help="an engine's for each form"
    )
    parser.add_argument("--memory", type=int, default=_MEMORY, metavar="BYTES", help="an engine's")
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
        drawn = _drawn(path)
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
