"""Measure repaired networks in OpenVINO, next to what simplifiers write.

    python -m benchmarks.speed.in_openvino FOLDER --python ENV/bin/python [--every 12]
        [--tool onnxsim="onnxsim {in} {out}"] [--tool OnnxSlim="onnxslim {in} {out}"]

Of each network that OpenVINO runs: the time of the file as it is, of `graphfix run --target
openvino2026.4`, and of what each tool writes, one thread, in turns on the same inputs. PYTHON has
openvino and numpy. Writes `results/speed-openvino.md`.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx

from benchmarks import RESULTS
from benchmarks.speed.cost import networks
from benchmarks.unseen import tables
from graphfix.errors import GraphfixError
from graphfix.proving.inputs.maker import FeedMaker

_OURS = f"{sys.executable} -m graphfix run {{in}} --target openvino2026.4 -o {{out}} --verify sites"
_TURNS = Path(__file__).with_name("turns_in_openvino.py")
_FLOOR = 50.0  # microseconds; below, it is calls that are measured
_LONGEST = 240


@dataclass(frozen=True)
class Row:
    """The least microseconds of a network as it is, repaired, and as each tool writes it.

    Attributes:
        network: The file below its folder.
        times: In the order of the columns; None where there is no file, or OpenVINO refuses it.
    """

    network: str
    times: tuple[float | None, ...]

    def ratio(self, place: int) -> float | None:
        """Return the time of the repaired file over that of another; None where one is missing."""
        own, other = self.times[1], self.times[place]
        return own / other if own is not None and other is not None else None


def measured(network: str, path: Path, python: str, commands: Sequence[str]) -> Row | None:
    """Write and time all files of a network; None where OpenVINO refuses it or takes less."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            model = onnx.ModelProto.FromString(path.read_bytes())
            feed: Any = {k: np.asarray(v) for k, v in FeedMaker(model).draw(0, 0).items()}
            np.savez(folder / "inputs.npz", **feed)
        except (GraphfixError, TypeError, ValueError):
            return None
        files = [path]
        first = _times(folder, python, files)
        if not first or first[0] is None or first[0] < _FLOOR:
            return None
        for place, command in enumerate(commands):
            out = folder / f"{place}.onnx"
            words = [word.format_map({"in": path, "out": out}) for word in shlex.split(command)]
            try:
                subprocess.run(words, capture_output=True, timeout=_LONGEST, check=False)
            except subprocess.TimeoutExpired:
                out.unlink(missing_ok=True)
            files.append(out)
        times = _times(folder, python, files)
    return Row(network, tuple(times)) if times else None


def _times(folder: Path, python: str, files: Sequence[Path]) -> list[float | None]:
    words = [python, str(_TURNS), str(folder / "inputs.npz"), *map(str, files)]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=_LONGEST, check=False, cwd=folder
        )
        return list(json.loads(done.stdout.splitlines()[-1]))
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return []


def page(rows: Sequence[Row], names: Sequence[str], every: int) -> str:
    """Return the page."""
    lines = [
        "# Repaired networks in OpenVINO",
        "",
        f"`python -m benchmarks.speed.in_openvino FOLDER --every {every}`: of the networks of the",
        f"open corpus that take OpenVINO 2026.4 {_FLOOR:g} microseconds and more, the least",
        "microseconds of a call, one thread, each file compiled twice and all of a network in",
        "turns on the same inputs. Below 1 the repaired file is the faster one.",
        "",
        "| repaired over | networks | median | least | most |",
        "|---|---|---|---|---|",
    ]
    for place, name in enumerate(names):
        ratios = [r for row in rows if place != 1 and (r := row.ratio(place)) is not None]
        if ratios:
            cells = [f"{of(ratios):.3f}" for of in (median, min, max)]
            lines.append(tables.line([name, str(len(ratios)), *cells]).rstrip())
    lines += ["", tables.line(["network", *names]).rstrip(), "|---" * (len(names) + 1) + "|"]
    for row in rows:
        cells = ["" if time is None else f"{time:.0f}" for time in row.times]
        lines.append(tables.line([row.network, *cells]).rstrip())
    return "\n".join([*lines, ""])


def main(words: Sequence[str] | None = None) -> int:
    """Measure, write the page, and return 1 where a median is above 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--python", required=True, help="of an environment with openvino")
    parser.add_argument("--every", type=int, default=12)
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND")
    given = parser.parse_args(words)
    tools: Mapping[str, str] = dict(text.split("=", 1) for text in given.tool)
    names = ["as it is", "graphfix", *tools]
    rows: list[Row] = []
    for network, path in networks(given.folders, "*", given.every):
        row = measured(network, path.resolve(), given.python, [_OURS, *tools.values()])
        if row is not None:
            rows.append(row)
            text = page(rows, names, given.every)
            (RESULTS / "speed-openvino.md").write_text(text, encoding="utf-8")
    found = [[r for row in rows if (r := row.ratio(at)) is not None] for at in range(2, len(names))]
    return int(any(median(ratios) > 1 for ratios in found if ratios))


if __name__ == "__main__":
    sys.exit(main())
