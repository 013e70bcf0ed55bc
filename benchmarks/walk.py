"""Which files of the product a run enters: those of which a function is called.

    python -m benchmarks.walk [MODEL --target T] [-o FILE]

The command runs in this process. What only an import executes does not count: the body of a module
or of a class, a decorator, and what these call. Neither do the children that run models, which
enter `graphfix/proving` alone. Writes `results/walk.md` and ends with 1 where more than 120 files
are entered.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType

from benchmarks import RESULTS

ROOT = Path(__file__).resolve().parents[1]
MOST = 120
_PRODUCT = tuple(f"{ROOT / folder}/" for folder in ("graphfix", "passes"))


class Entered:
    """Takes down the functions that are called; given to `sys.setprofile`."""

    def __init__(self) -> None:
        """Begin with none."""
        self.functions: dict[CodeType, None] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Take down a call."""
        code = frame.f_code
        if event != "call" or code in self.functions or not code.co_filename.startswith(_PRODUCT):
            return
        # The body of a class has no fast locals.
        if code.co_flags & inspect.CO_OPTIMIZED and not _imports(frame):
            self.functions[code] = None

    def files(self) -> dict[str, int]:
        """Return the files, and how many of their functions were called."""
        places = (Path(code.co_filename).relative_to(ROOT) for code in self.functions)
        return dict(sorted(Counter(map(str, places)).items()))


def _imports(frame: FrameType | None) -> bool:
    """Say whether a call is part of an import of the product."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(_PRODUCT):
            return True
        frame = frame.f_back
    return False


def entered(model: Path, target: str) -> dict[str, int]:
    """Return the files that a run enters, and how many of their functions.

    Raises:
        RuntimeError: The run does not end with 0.
    """
    seen = Entered()
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        words = ["run", str(model), "--target", target, "--no-settings"]
        words += ["-o", str(Path(folder) / "out.onnx")]
        threading.setprofile(seen)
        sys.setprofile(seen)
        try:
            from graphfix.cli import main

            with redirect_stdout(StringIO()):
                code = main(words)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    if code:
        raise RuntimeError(f"{model} for {target} ends with {code}")
    return seen.files()


def page(files: Mapping[str, int], model: str, target: str) -> str:
    """Return the table as Markdown."""
    rooms: dict[str, list[str]] = {}
    for file, functions in files.items():
        room, _, name = file.rpartition("/")
        rooms.setdefault(room, []).append(f"{name.removesuffix('.py')} {functions}")
    lines = [
        "# Files that a run enters",
        "",
        f"`python -m benchmarks.walk`: `graphfix run {model} --target {target}` enters",
        f"{len(files)} files and calls {sum(files.values())} of their functions. Imports, and the",
        "children that run models, are left out. After each file: how many functions are called.",
        "",
        "| folder | files | entered |",
        "|---|---|---|",
    ]
    for room, names in sorted(rooms.items()):
        lines.append(f"| `{room}` | {len(names)} | {', '.join(names)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walk")
    parser.add_argument("model", type=Path, nargs="?", default=Path("fixtures/camera.onnx"))
    parser.add_argument("--target", default="trt8")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "walk.md")
    asked = parser.parse_args()
    files = entered(asked.model, asked.target)
    asked.output.write_text(page(files, str(asked.model), asked.target), encoding="utf-8")
    print(f"{len(files)} files", file=sys.stderr)
    return int(len(files) > MOST)


if __name__ == "__main__":
    sys.exit(main())
