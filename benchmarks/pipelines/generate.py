"""Make files by exporters, and of these files others by tools.

    python -m benchmarks.pipelines.generate FOLDER --environments ENVIRONMENTS
        [--exporter NAME ...] [--tool NAME ...] [--exported-only | --tools-only] [--share P]
        [--seconds S] [--again]

Writes FOLDER/KIND/EXPORTER/ARCHITECTURE[+PART].onnx, KIND being `exported` or a tool, and a line of
FOLDER/made.tsv for each (kind, exporter, architecture and part, why it failed), so that a further
run continues; `--again` tries again what failed. P is the share of the exported files that each
tool gets, the same ones in each run. After S seconds nothing is begun (3). What has no environment
is left out, with a line that says so. That a tool fails on a file is its own affair.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pipelines.callers import Caller
from benchmarks.pipelines.catalogue import EXPORTED, HERE, Catalogue, catalogue, drawn
from benchmarks.pipelines.environments import python_of

_UNFINISHED = 3
# Beyond this a file is not small, and a table on small files says nothing of it.
_MOST_BYTES = 40 * 2**20


class Making:
    """What is made in a folder, and what was tried."""

    def __init__(self, folder: Path, environments: Path, until: float, *, again: bool) -> None:
        """Read what earlier runs have noted.

        Args:
            folder: Where files go.
            environments: Where the environments are.
            until: When nothing more is begun, by `time.monotonic`.
            again: Whether to forget what failed.
        """
        self.folder, self.environments, self.until = folder, environments, until
        self.notes = folder / "made.tsv"
        self.tried: set[str] = set()
        self.missing: set[str] = set()
        lines = self.notes.read_text("utf-8").splitlines() if self.notes.is_file() else []
        for line in lines:
            what, _, why = line.partition("\t")
            if not (again and why):
                self.tried.add(what)

    def due(self, what: str, environment: str) -> bool:
        """Say whether something is still to be made, and can be."""
        if what in self.tried or time.monotonic() > self.until:
            return False
        if python_of(self.environments, environment).exists():
            return True
        self.missing.add(environment)
        return False

    def note(self, what: str, why: str) -> None:
        """Take down that something was tried, and why it failed."""
        self.tried.add(what)
        with self.notes.open("a", encoding="utf-8") as stream:
            stream.write(f"{what}\t{why}\n")
        print(f"{what}: {why or 'made'}", flush=True)

    def export(self, table: Catalogue, name: str) -> None:
        """Export all architectures of an exporter."""
        exporter = table.exporters[name]
        python = python_of(self.environments, exporter.environment)
        script = HERE / "exporters" / exporter.script
        with Caller(python, script, exporter.seconds, exporter.gib) as caller:
            for architecture, row in exporter.architectures.items():
                what = f"{EXPORTED}/{name}/{architecture}"
                if not self.due(what, exporter.environment):
                    continue
                with tempfile.TemporaryDirectory(prefix="exported-") as scratch:
                    given = json.dumps({**row, **exporter.options})
                    why = caller.call([architecture, given, scratch])
                    found = sorted(Path(scratch).rglob("*.onnx"))
                    why = why or ("" if found else "no file") or self._taken(found, what)
                self.note(what, why)

    def _taken(self, found: Sequence[Path], what: str) -> str:
        for path in found:
            if path.stat().st_size > _MOST_BYTES:
                return f"{path.stat().st_size} bytes"
            part = "" if len(found) == 1 else f"+{path.stem}"
            out = self.folder / f"{what}{part}.onnx"
            out.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, out)
        return ""

    def convert(self, table: Catalogue, name: str, exporters: Sequence[str], share: float) -> None:
        """Make files of a share of the exported ones by a tool."""
        tool = table.tools[name]
        python = python_of(self.environments, tool.environment)
        script = HERE / "tools" / tool.script
        with Caller(python, script, tool.seconds, tool.gib) as caller:
            for source in sorted((self.folder / EXPORTED).glob("*/*.onnx")):
                exporter = source.parent.name
                what = f"{name}/{exporter}/{source.stem}"
                wanted = exporter in exporters and (not tool.of or exporter in tool.of)
                if not (wanted and drawn(what) < share and self.due(what, tool.environment)):
                    continue
                with tempfile.TemporaryDirectory(prefix="converted-") as scratch:
                    out = Path(scratch) / "out.onnx"
                    why = caller.call([json.dumps(dict(tool.options)), str(source), str(out)])
                    why = why or ("" if out.is_file() else "no file") or self._taken([out], what)
                self.note(what, why)


def main(words: Sequence[str]) -> int:
    """Make what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--exporter", nargs="*", help="default: all")
    parser.add_argument("--tool", nargs="*", help="default: all")
    parser.add_argument("--exported-only", action="store_true")
    parser.add_argument("--tools-only", action="store_true")
    parser.add_argument("--share", type=float, default=1.0, help="of files, for each tool")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--again", action="store_true", help="try again what failed")
    given = parser.parse_args(words)
    folder: Path = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + given.seconds
    making = Making(folder, given.environments.resolve(), until, again=given.again)
    table = catalogue()
    exporters: list[str] = given.exporter or list(table.exporters)
    for name in [] if given.tools_only else exporters:
        making.export(table, name)
    tools: list[str] = [] if given.exported_only else given.tool or list(table.tools)
    for name in tools:
        making.convert(table, name, exporters, given.share)
    for name in sorted(making.missing):
        print(f"no environment {name}: what needs it is left out", file=sys.stderr)
    return _UNFINISHED if time.monotonic() > until else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
