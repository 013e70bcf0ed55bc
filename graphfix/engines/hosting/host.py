"""The process of an engine, as whoever asks it sees it; `serve` is its other side."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from graphfix.errors import EngineFailed, NoEngine
from graphfix.worker.limits import Limits, gibibytes
from graphfix.worker.service import Crashed, OutOfTime

Array: TypeAlias = npt.NDArray[Any]
Shapes: TypeAlias = Mapping[str, Sequence[int]]

SERVE = Path(__file__).with_name("serve.py")
CAPABILITY = "GRAPHFIX_COMPUTE_CAPABILITY"
STARTING = 120.0  # of an engine whose files are read from a disk for the first time
_LAST = 400
_OF_OTHERS = 2  # what `numpy.dtype.isbuiltin` is for bfloat16 and such


class Refused(EngineFailed):
    """An engine says that it does not take a model, or does not run it.

    Attributes:
        stage: Where that happened, such as ``build``; empty where the engine has no stages.
    """

    stage: str = ""


class Host:
    """An engine in a process of its own, which takes one model after the other.

    What a model does to the process is an error, after which `alive` is false and a new host is
    needed. A host ends with the thread that made it.
    """

    def __init__(
        self,
        python: Path,
        program: Path,
        name: str,
        *,
        seconds: float = 300.0,
        memory: int | None = None,
        held: bool = True,
        capability: str = "",
    ) -> None:
        """Start the process.

        Args:
            python: The Python that has the engine.
            program: The family's ``program.py``.
            name: The engine, for people.
            seconds: How long each request may take.
            memory: Bytes that models may take; None for a share of what is free.
            held: Whether the system holds it to that; not where a driver reserves addresses.
            capability: What the program is to build for; empty for what it chooses.

        Raises:
            NoEngine: The process does not start, or the engine cannot be imported.
            EngineFailed: It died of that, or took too long.
        """
        self.name = name
        self._seconds = seconds
        self._memory = (Limits(seconds, memory).allowed() or 0) if held else 0
        self._folder = tempfile.TemporaryDirectory(prefix="graphfix-engine-")
        self._said = Path(self._folder.name, "stderr")
        words = [
            str(python.absolute()),
            "-Iu",
            str(SERVE),
            str(program.absolute()),
            str(os.getpid()),
            str(self._memory),
        ]
        with self._said.open("wb") as stderr:
            try:
                self._process = subprocess.Popen(
                    words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    cwd=self._folder.name,
                    start_new_session=True,  # what an engine starts goes with it
                    encoding="utf-8",
                    env={**os.environ, CAPABILITY: capability} if capability else None,
                )
            except OSError as error:
                self._folder.cleanup()
                raise NoEngine(f"{python} does not start: {error.strerror}", where=name) from None
        self._answers: queue.Queue[str] = queue.Queue()
        stdout = self._process.stdout
        assert stdout is not None
        threading.Thread(target=_pass_on, args=(stdout, self._answers), daemon=True).start()
        answer = self._answer(STARTING)
        if "broken" in answer:
            self.close()
            raise NoEngine(f"it cannot be imported: {answer['broken']}", where=name)

    def __enter__(self) -> Self:
        """Return the host, which is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    @property
    def process_id(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether requests can be made."""
        return self._process.poll() is None

    def version(self) -> str:
        """Return the engine's version, in its own words.

        Raises:
            EngineFailed: The engine does not say.
        """
        return str(self._asked({"version": True})["version"])

    def load(self, path: Path, shapes: Shapes) -> None:
        """Load a model, which takes the place of the one before.

        Args:
            path: The file.
            shapes: The sizes of its inputs, for engines that want to know them.

        Raises:
            Refused: The engine does not take it.
            EngineFailed: The process died, or took too long.
        """
        self._asked(loading(path, shapes))

    def run(self, feed: Mapping[str, Any]) -> dict[str, Array] | list[Array]:
        """Run the model that was loaded last.

        Args:
            feed: The inputs by name, arrays of numpy's own types.

        Returns:
            The outputs by name, or in the order of the graph, as the family's program gives them.

        Raises:
            Refused: The engine does not run it, or an input is nothing that it can be given.
            EngineFailed: The process died, or took too long.
        """
        return running(Path(self._folder.name), feed, self._asked, self.name)

    def close(self) -> None:
        """End the process; nothing happens where it has ended."""
        self._kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what a dead process was still to read
                    stream.close()
        self._folder.cleanup()

    def _kill(self) -> None:
        if not hasattr(os, "killpg"):
            self._process.kill()
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _asked(self, request: Mapping[str, Any]) -> dict[str, Any]:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
        except (OSError, ValueError):
            raise self._death() from None
        return answered(self._answer(self._seconds), self.name)

    def _answer(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            self._kill()
            raise OutOfTime(f"it took longer than {seconds:.3g} s", where=self.name) from None
        if not line:
            raise self._death()
        found: dict[str, Any] = json.loads(line)
        return found

    def _death(self) -> EngineFailed:
        code = self._process.wait()
        words = " ".join(self._said.read_text("utf-8", "replace").split())[-_LAST:]
        last_words = f": {words}" if words else ""
        if code >= 0:
            return Crashed(f"it ended with code {code}{last_words}", where=self.name)
        least = f", with {gibibytes(self._memory)} at most" if self._memory else ""
        return Crashed(f"it crashed ({_signal(-code)}{least}){last_words}", where=self.name)


def loading(path: Path, shapes: Shapes) -> dict[str, Any]:
    """Return the request to load a model."""
    given = {name: [int(size) for size in sizes] for name, sizes in shapes.items()}
    return {"load": str(path.absolute()), "shapes": given}


def running(
    folder: Path,
    feed: Mapping[str, Any],
    asked: Callable[[Mapping[str, Any]], dict[str, Any]],
    name: str,
) -> dict[str, Array] | list[Array]:
    """Run the model that an engine has loaded; see `Host.run`.

    Args:
        folder: Where arrays are put.
        feed: The inputs by name.
        asked: Gives a request to the engine.
        name: The engine, for people.
    """
    given, out = folder / "in.npz", folder / "out.npz"
    np.savez(given, *[_given(each, value, name) for each, value in feed.items()])
    answer = asked({"run": str(given), "names": list(feed), "out": str(out)})
    try:
        with np.load(out, allow_pickle=False) as archive:
            arrays = [archive[f"arr_{number}"] for number in range(len(archive.files))]
    except ValueError as error:  # a type that numpy writes and does not read: float8
        raise Refused(f"its outputs cannot be read: {error}", where=name) from None
    names = answer["names"]
    return arrays if names is None else dict(zip(names, arrays, strict=True))


def _given(name: str, value: Any, engine: str) -> Array:
    if not isinstance(value, np.ndarray):
        raise Refused(f"input {name} is not a tensor", where=engine)
    array = cast("Array", value)
    if array.dtype.isbuiltin == _OF_OTHERS:
        raise Refused(f"input {name} is {array.dtype.name}, which numpy lacks", where=engine)
    return array.astype(str) if array.dtype.kind == "O" else array


def answered(answer: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an answer of an engine.

    Raises:
        Refused: It is a refusal.
    """
    for kind in ("refused", "failed"):
        if kind in answer:
            refused = Refused(answer[kind], where=name)
            refused.stage = answer.get("stage", "")
            raise refused
    return answer


def _pass_on(stream: IO[str], lines: queue.Queue[str]) -> None:
    try:
        for line in stream:
            lines.put(line)
    except (OSError, ValueError):
        pass  # closed
    lines.put("")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
