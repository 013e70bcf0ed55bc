"""How many files of a corpus TensorRT for RTX builds: as they are, and after graphfix.

    python -m benchmarks.tensorrt.builds CORPUS [--every N] [--rows FILE] [-o FILE]

Needs the engine (``graphfix targets --install trt-rtx1.7``) and no GPU. Each file is repaired, and
what ends with exit code 0 is built for compute capability 8.6, with the first sizes of inputs that
onnxruntime runs the file with, or 1 where it runs it with none. Rows are kept in a file of JSON
lines, so that a run continues where it stopped; ``--every 10`` takes each tenth file.
"""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import graphfix
from benchmarks import RESULTS
from benchmarks.ended import code_with
from graphfix.engines.engine import engine_of
from graphfix.engines.hosting.host import Host, Refused
from graphfix.errors import EngineFailed, GraphfixError, PassBug
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.models import run_model
from graphfix.worker.service import OutOfTime

_TARGET = "trt-rtx1.7"
_SECONDS = 180.0
_RUNNING = 30.0
_ATTEMPTS = 26


class Builder:
    """The engine, started again where a file has killed it."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._host: Host | None = None

    def objection(self, path: Path, sizes: dict[str, list[int]]) -> str:
        """Return why the engine does not build a file; empty where it does."""
        if self._host is None:
            self._host = engine_of("trt-rtx").host(_TARGET, seconds=_SECONDS)
        try:
            self._host.load(path, sizes)
        except Refused as refused:
            return refused.message[:200]
        except EngineFailed as error:
            self.close()
            return error.message[:200]
        return ""

    def close(self) -> None:
        """End the engine."""
        if self._host is not None:
            self._host.close()
        self._host = None


def row(file: Path, name: str, runs: bool, builder: Builder) -> dict[str, Any]:
    """Return what becomes of one file."""
    sizes = _sizes(file) if runs else {}
    found: dict[str, Any] = {"name": name, "runs": runs, "before": builder.objection(file, sizes)}
    try:
        result = graphfix.run(file, _TARGET)
    except (GraphfixError, PassBug) as error:
        return {**found, "exit": error.exit_code}
    found["exit"] = result.exit_code
    if result.exit_code == 0:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "result.onnx")
            graphfix.save(result.model, path)
            found["after"] = builder.objection(path, sizes)
    return found


def _sizes(file: Path) -> dict[str, list[int]]:
    """Return sizes of the inputs that onnxruntime runs the file with; none where none are found."""
    maker = FeedMaker(onnx.ModelProto.FromString(file.read_bytes()))
    for attempt in range(_ATTEMPTS):
        feed = maker.draw(0, attempt)
        try:
            run_model(file, [feed], timeout=_RUNNING)
        except OutOfTime:
            break
        except GraphfixError:
            continue
        arrays = {name: value for name, value in feed.items() if isinstance(value, np.ndarray)}
        return {name: list(array.shape) for name, array in arrays.items()}
    return {}


def rows(corpus: Path, every: int, kept: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a corpus folder, those that are kept first."""
    done: set[str] = set()
    if kept.is_file():
        for line in kept.read_text(encoding="utf-8").splitlines():
            known = json.loads(line)
            done.add(known["name"])
            yield known
    entries = sorted(json.loads((corpus / "index.json").read_text()), key=lambda e: e["file"])
    builder = Builder()
    with kept.open("a", encoding="utf-8") as stream:
        for entry in entries[::every]:
            if entry["file"] in done:
                continue
            found = row(corpus / entry["file"], entry["file"], bool(entry["ort_run"]), builder)
            stream.write(json.dumps(found) + "\n")
            stream.flush()
            yield found
    builder.close()


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the results."""
    yield "# What TensorRT for RTX 1.7.1 builds for compute capability 8.6"
    yield ""
    yield (
        "With the first sizes of inputs that onnxruntime runs a file with, or 1; three minutes are"
        " given to a build. Made by `python -m benchmarks.tensorrt.builds CORPUS`."
    )
    yield from ("", "| files | number | build as they are | exit code 0 | of these build |")
    yield "|---|---|---|---|---|"
    for title, those in (
        ("all", found),
        ("that onnxruntime runs", [each for each in found if each["runs"]]),
    ):
        before = sum(not each["before"] for each in those)
        fixed = [each for each in those if each["exit"] == 0]
        built = sum(not each["after"] for each in fixed)
        yield f"| {title} | {len(those)} | {before} | {len(fixed)} | {built} |"
    for each in found:
        if each.get("after"):
            yield f"\n- exit code 0 and not built: {each['name']}: {each['after']}"


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--rows", type=Path, default=Path("rtx-builds.jsonl"))
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "rtx-builds.md")
    options = parser.parse_args()
    found = list(rows(options.corpus, options.every, options.rows))
    lines = list(table(found))
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return code_with(each["exit"] for each in found)


if __name__ == "__main__":
    sys.exit(main())
