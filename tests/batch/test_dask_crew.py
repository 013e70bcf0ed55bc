"""Jobs on a real Dask scheduler with two workers, of which one is killed in mid-run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import onnx
import pytest

from graphfix.batch.batch import Request, run_fleet
from graphfix.batch.dask_crew import DaskCrew
from graphfix.batch.jobs import Row
from graphfix.batch.sources import sources
from graphfix.errors import UsageError

# Looked for, not imported: each worker collects this file, and one runs it.
pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None, reason='Dask is not here: pip install "graphfix[dask]"'
)

MODELS = 8


@pytest.fixture
def scheduler(tmp_path: Path) -> Generator[tuple[str, list[subprocess.Popen[str]]]]:
    """Give the address of a scheduler, and its two workers."""
    options = ("--no-dashboard", "--host", "127.0.0.1")
    with subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", *options, "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        assert process.stderr is not None
        found = next(filter(None, (re.search(r"tcp://\S+", line) for line in process.stderr)))
        drain = threading.Thread(target=process.stderr.read, daemon=True)
        drain.start()
        workers = [
            subprocess.Popen(
                [
                    sys.executable,
                    *("-m", "distributed.cli.dask_worker", found[0], "--nthreads", "1"),
                    *("--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)),
                ],
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=tmp_path,
            )
            for _ in range(2)
        ]
        yield found[0], workers
        for each in (*workers, process):
            each.kill()
            each.wait()


def test_a_worker_that_dies_loses_no_model(
    scheduler: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path
) -> None:
    address, workers = scheduler
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (float[N] y) { y = %s (x) }'
    (tmp_path / "nets").mkdir()
    for number, op in enumerate(("Relu", "Abs", "Neg", "Exp", "Sin", "Cos", "Tanh", "Floor")):
        model = onnx.parser.parse_model(text % op)
        (tmp_path / "nets" / f"net{number}.onnx").write_bytes(model.SerializeToString())
    out = tmp_path / "out"
    url = f"file://{out}" if find_spec("fsspec") else str(out)
    request = Request(sources([str(tmp_path / "nets")]), ("ort-1.10",), url, tmp_path)
    reported: list[str] = []

    def note(row: Row, made: int, _of: int) -> None:
        reported.append(row.name)
        if made == 2:
            os.kill(workers[0].pid, signal.SIGKILL)

    fleet = run_fleet(request, DaskCrew(address), note)
    assert sorted(reported) == [f"net{number}" for number in range(MODELS)]
    assert [(row.name, row.exit) for row in fleet.rows] == [(f"net{n}", 0) for n in range(MODELS)]
    assert sorted(path.name for path in out.glob("*.onnx")) == [
        f"net{number}.ort-1.10.onnx" for number in range(MODELS)
    ]


def test_no_one_at_the_address_is_said() -> None:
    with pytest.raises(UsageError, match="no scheduler answers there"):
        DaskCrew("tcp://127.0.0.1:9")
