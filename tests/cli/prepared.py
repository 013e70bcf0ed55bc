"""The command line as a user starts it, forked from an interpreter that has imported everything.

Most of what such a command costs is the start of an interpreter and its imports. What the command
itself does is the same: it forks, takes its limits on, and ends as a process does.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from graphfix.worker.template import environment

SERVING = """
import json, os, sys
from graphfix.worker.limits import single_threaded
with single_threaded():
    import numpy, onnx, onnxruntime
    import graphfix.api, graphfix.pipeline.files, graphfix.cli.program
    from graphfix.cli.program import COMMANDS
    from graphfix.authoring.registry import shipped_passes
    from graphfix.cli import main
shipped_passes()
for line in sys.stdin:
    asked = json.loads(line)
    pid = os.fork()
    if pid == 0:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number, name in ((0, os.devnull), (1, asked["stdout"]), (2, asked["stderr"])):
            opened = os.open(name, os.O_RDWR | os.O_CREAT)
            os.dup2(opened, number)
            os.close(opened)
        sys.argv = ["graphfix", *asked["words"]]
        sys.path.insert(0, asked["folder"])
        code = 1
        try:
            code = main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])), flush=True)
"""


class Prepared:
    """An interpreter that runs one command line after another, each in a process of its own."""

    def __init__(self, folder: Path) -> None:
        """Start it; `folder` is for what the commands print."""
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVING],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def run(
        self, words: list[str], folder: Path, variables: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run `graphfix` with these words in a folder, and return what it printed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        printed = [self._folder / name for name in ("stdout", "stderr")]
        for path in printed:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        asked = {
            "words": words,
            "folder": str(folder),
            "environment": variables,
            "stdout": str(printed[0]),
            "stderr": str(printed[1]),
        }
        stdin.write(json.dumps(asked) + "\n")
        stdin.flush()
        code = json.loads(stdout.readline())
        out, err = (os.fsdecode(path.read_bytes()) for path in printed)
        return subprocess.CompletedProcess(words, code, out, err)

    def end(self) -> None:
        """End it."""
        self._process.communicate()
