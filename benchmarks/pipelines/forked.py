"""Call a script's `main` many times, each in a forked child with limits, after importing once.

    forked.py SCRIPT SECONDS GIB

Reads a line of JSON for each call, its arguments, and writes one for each: why it failed, empty
where it did not. Runs in the environment of an exporter or tool, with nothing but Python.
`PRELOADED` of the script names modules that are imported before the first call.
"""

import json
import os
import resource
import runpy
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

_POLL_SECONDS = 0.01


def last_line(text: str, code: int) -> str:
    """Return what a program says at last, where it ended with a code other than 0."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = lines[-1] if lines else "says nothing"
    return f"ended with {code}: {said}"[:200]


def called(script: str, words: Sequence[str], seconds: float, gib: float) -> str:
    """Call a script in a forked child.

    Args:
        script: Its path.
        words: Its arguments.
        seconds: By the clock, after which it is killed with its own children.
        gib: The most memory of its own that each process can have.

    Returns:
        Why it failed, in a line; empty where it did not.
    """
    scratch = Path(tempfile.mkdtemp(prefix="forked-"))
    try:
        child = os.fork()
        if child == 0:
            _be_child(script, words, scratch, int(gib * 2**30))
        deadline = time.monotonic() + seconds
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > deadline:
                os.killpg(child, 9)
                os.waitpid(child, 0)
                return f"took longer than {seconds:g} s"
            time.sleep(_POLL_SECONDS)
        code = os.waitstatus_to_exitcode(status)
        said = (scratch / "said").read_text("utf-8", "replace")
        return "" if code == 0 else last_line(said, code)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _be_child(script: str, words: Sequence[str], scratch: Path, size: int) -> NoReturn:
    code = 1
    try:
        os.setpgid(0, 0)
        said = os.open(scratch / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for descriptor in (1, 2):
            os.dup2(said, descriptor)
        os.chdir(scratch)
        os.environ["HOME"] = str(scratch)
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.argv = [script, *words]
        runpy.run_path(script, run_name="__main__")
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)


def main() -> None:
    """Answer each line."""
    script, seconds, gib = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    sys.path.insert(0, str(Path(script).parent))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what an import prints is no answer
    for name in runpy.run_path(script).get("PRELOADED", ()):
        import_module(name)
    for line in sys.stdin:
        answers.write(json.dumps(called(script, json.loads(line), seconds, gib)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
