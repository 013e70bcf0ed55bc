"""One file: what targets say of it as it is, after other tools, and after graphfix."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from benchmarks.children import Main, call_in_child
from benchmarks.corpus.row import BLOCKING, Job, run_job
from benchmarks.corpus.row import Row as Run
from benchmarks.pipelines.callers import Caller
from benchmarks.pipelines.catalogue import HERE
from benchmarks.pipelines.environments import python_of
from benchmarks.pipelines.measure import engine_of
from benchmarks.pipelines.measured import Measured, measured_row
from benchmarks.score.rows import DIFFERENT, FAILED, LEFT, TAKEN, UNKNOWN, Row
from graphfix.ir.model import Model
from graphfix.pipeline.findings import examined, findings_for
from graphfix.pipeline.model_files import load
from graphfix.pipeline.settings import RunOptions

SECONDS = 240.0
_TOOL_SECONDS, _GIB = 120.0, 8.0
_MEMORY = int(_GIB) << 30
# As `benchmarks.pipelines.tools.rewrite` calls them.
_TOOLS = ("onnxsim", "onnxslim")


class Judges:
    """The other tools, and the judge of what they write, each in a process that stays."""

    def __init__(self, environments: Path) -> None:
        """Take where the environments of `benchmarks.pipelines` are."""
        self._environments = environments
        tools = python_of(environments.resolve(), "tools")
        self._tools = Caller(tools, HERE / "tools" / "rewrite.py", _TOOL_SECONDS, _GIB)
        self._judge = Caller(Path(sys.executable), HERE / "judging.py", _TOOL_SECONDS, _GIB)

    def __enter__(self) -> Self:
        self._tools.__enter__()
        self._judge.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._tools.__exit__()
        self._judge.__exit__()

    def written(self, path: Path, tool: str, out: Path) -> bool:
        """Say whether a tool wrote a file of another."""
        words = [json.dumps({"by": tool}), str(path), str(out)]
        return not self._tools.call(words) and out.is_file()

    def said(
        self, path: Path, result: Path | None, scratch: Path, target: str = ""
    ) -> Mapping[str, Any]:
        """Return what the judge says: whether a file runs, and whether a result is equal.

        Args:
            path: The file.
            result: What became of it, if anything.
            scratch: A folder for the answer.
            target: In whose engine the result runs, where there is an environment of it.
        """
        answer = scratch / "answer.json"
        answer.unlink(missing_ok=True)
        engine = engine_of(target, self._environments)
        self._judge.call([str(path), "" if result is None else str(result), str(answer), *engine])
        found: Mapping[str, Any] = json.loads(answer.read_bytes()) if answer.is_file() else {}
        return found


def measured(
    path: Path,
    name: str,
    targets: Sequence[str],
    judges: Judges,
    main: Main,
    held: Collection[str],
) -> tuple[Row, list[Measured]]:
    """Prepare a file in each way, and ask what each target says of it.

    Args:
        path: The file.
        name: As the rows have it.
        targets: The targets.
        judges: The other tools and the judge.
        main: graphfix's command line, see `benchmarks.children.graphfix_main`.
        held: The targets whose results are held to the file by the judge.

    Returns:
        The letters, and a row of `benchmarks.pipelines.measure` for each target that is held.
    """
    with tempfile.TemporaryDirectory(prefix="score-") as folder:
        scratch = Path(folder)
        runs = bool(judges.said(path, None, scratch).get("runs", False))
        tools: list[Mapping[str, str]] = []
        for tool in _TOOLS:
            out = scratch / f"{tool}.onnx"
            if not judges.written(path, tool, out):
                tools.append(dict.fromkeys(targets, FAILED))
            elif not runs:
                tools.append(dict.fromkeys(targets, UNKNOWN))
            elif judges.said(path, out, scratch).get("status") != "equal":
                tools.append(dict.fromkeys(targets, DIFFERENT))
            else:
                tools.append(_found(out, targets, scratch))
        letters: dict[str, str] = {}
        rows: list[Measured] = []
        for target in targets:
            out = scratch / f"{target}.onnx"
            run = repair(path, target, main, scratch / "certificates", out)
            plain = LEFT if run.before or not run.resolved else TAKEN
            repaired = {0: TAKEN, 1: LEFT}.get(run.code, FAILED)
            letters[target] = "".join((plain, *(tool[target] for tool in tools), repaired))
            if target in held:
                said = judges.said(path, out if run.code == 0 else None, scratch, target)
                rows.append(_row(name, target, run, said))
    return Row(name, runs, letters), rows


def repair(path: Path, target: str, main: Main, kept: Path, out: Path) -> Run:
    """Run `graphfix run` on a file.

    What was proved for one target is kept in a folder for the next, as `graphfix batch` does.
    """
    options = ("--certificates", str(kept))
    job = Job(path.name, path, target, options, timeout=SECONDS, memory_bytes=_MEMORY, out=out)
    return run_job(job, main)


def _row(name: str, target: str, run: Run, said: Mapping[str, Any]) -> Measured:
    left = f"left: {', '.join(run.after)}" if run.after else ""
    return measured_row(
        f"{name}.onnx",
        target,
        said,
        code=run.code,
        verification=run.verification,
        seconds=round(run.seconds, 2),
        reason="; ".join(filter(None, (run.reason, left))),
    )


def _found(path: Path, targets: Sequence[str], scratch: Path) -> Mapping[str, str]:
    """Return what the rules of targets say of a file that is equal; asked in a child."""
    said = scratch / "found.json"

    def ask() -> int:
        said.write_text(json.dumps(letters_of(load(path), targets)))
        return 0

    ended = call_in_child(ask, scratch, timeout=_TOOL_SECONDS, memory_bytes=_MEMORY)
    if ended.code or not said.is_file():
        return dict.fromkeys(targets, FAILED)
    found: Mapping[str, str] = json.loads(said.read_bytes())
    return found


def letters_of(model: Model, targets: Sequence[str]) -> dict[str, str]:
    """Return whether the rules of each target find a problem in a model, which is edited."""
    settings = {target: RunOptions(target=target).settings() for target in targets}
    complaints = examined(model, settings[targets[0]])  # of the file, whatever it is for
    return {
        target: LEFT
        if any(f.severity in BLOCKING for f in findings_for(model, complaints, each))
        else TAKEN
        for target, each in settings.items()
    }
