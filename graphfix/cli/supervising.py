"""Running a command in a child, so that no file can bring down more than that.

Parsers, inference and checker are native code: a file may make them crash, run for ever or take
all memory. The process that the user started forks before anything heavy is imported; the child
works under limits, and notes where it is on a page of memory that both see. Where it dies, the
parent says in one line where it was, and takes away what it left in the folder for temporary files.
Where the system has no fork there is no child and no limit.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from graphfix.cli.limits import Page

if TYPE_CHECKING:
    from graphfix.cli.failures import Failure

INTERRUPTED = 130
UNREADABLE = 3
SECONDS = 900.0
_LOOK = 0.5  # how often to look whether the child is there, should nothing else tell
_FIRST_LOOK = 0.02  # as often, until the child may have said how long it has
_FIRST = 1.0
_PATIENCE = 5.0  # for a child that is to end by itself
_ECHO = 0.3  # a terminal sends Ctrl-C to both; then there is no need to pass it on
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def supervised(
    work: Callable[[Page], int], on_death: Callable[[Failure], int] | None = None
) -> int:
    """Run `work` in a child process and return its exit code.

    Args:
        work: What is done.
        on_death: Is given how the child died, in place of a line on stderr, and returns the code.

    Returns:
        What `work` returned; 3 where the child crashed, ran out of memory or of time; 130 after
        Ctrl-C; 128 and the number of any other signal that was to end this process.
    """
    page = Page()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    parent, (alive, held) = os.getpid(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(alive)
        _be_child(work, page, parent)
    os.close(held)
    watch = _Watch(pid, alive, page, on_death)
    try:
        return watch.run()
    finally:
        page.sweep()


def _be_child(work: Callable[[Page], int], page: Page, parent: int) -> NoReturn:
    code = 1
    try:
        _take_limits(parent)
        page.adopt(time.monotonic() + SECONDS)
        try:
            code = work(page)
        finally:
            import atexit

            # As an interpreter does that ends by itself.
            atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            page.sweep()
    except _Ended as ended:
        code = 128 + ended.number
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code & 0xFF)


class _Ended(BaseException):
    """A signal came that ends the process; what is open is closed on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _take_limits(parent: int) -> None:
    def end(number: int, _frame: object) -> NoReturn:
        raise _Ended(number)

    signal.signal(signal.SIGTERM, end)
    from graphfix.worker.parent_death import die_with_parent

    die_with_parent(parent, signal.SIGTERM)
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


class _Watch:
    """The parent: waits, passes signals on, and holds the child to its time."""

    def __init__(
        self, pid: int, alive: int, page: Page, on_death: Callable[[Failure], int] | None
    ) -> None:
        self._tell = on_death
        self._pid = pid
        self._alive = alive
        self._page = page
        self._signals: list[int] = []
        self._kill_at = float("inf")
        self._pass_on_at = float("inf")
        self._late = False

    def run(self) -> int:
        woken, waker = os.pipe()
        os.set_blocking(waker, False)
        before = [(getattr(signal, n), signal.getsignal(getattr(signal, n))) for n in _SIGNALS]
        old = signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number, handler in before:
            if handler is not signal.SIG_IGN:  # as nohup leaves it
                signal.signal(number, lambda n, _: self._signals.append(n))
        try:
            status = self._wait(woken)
        finally:
            signal.set_wakeup_fd(old)
            for number, handler in before:
                signal.signal(number, handler)
            for descriptor in (woken, waker, self._alive):
                os.close(descriptor)
        return self._code(os.waitstatus_to_exitcode(status))

    def _wait(self, woken: int) -> int:
        watched = [self._alive, woken]
        handled = 0
        start = time.monotonic()
        while True:
            ended, status = os.waitpid(self._pid, os.WNOHANG)
            if ended:
                return status
            now = time.monotonic()
            for number in self._signals[handled:]:
                self._kill_at = now + _PATIENCE
                self._pass_on_at = now + (_ECHO if number == signal.SIGINT else 0.0)
            handled = len(self._signals)
            if now >= self._pass_on_at:
                os.kill(self._pid, self._signals[-1])
                self._pass_on_at = float("inf")
            if now >= self._page.deadline and self._kill_at == float("inf"):
                self._late = True
                self._kill_at = now
            if now >= self._kill_at:
                os.kill(self._pid, signal.SIGKILL)
            look = _FIRST_LOOK if now - start < _FIRST else _LOOK
            until = min(self._pass_on_at, self._kill_at, self._page.deadline, now + look)
            pause = max(until - now, 0.001)
            readable, _, _ = select.select(watched, [], [], pause)
            if woken in readable:
                os.read(woken, 512)
            if self._alive in readable:  # it is about to end
                watched = [woken]
                with contextlib.suppress(ChildProcessError, OSError):
                    _, status = os.waitpid(self._pid, 0)
                    return status

    def _code(self, code: int) -> int:
        if self._signals:
            first = self._signals[0]
            if code < 0 and first == signal.SIGINT:
                sys.stderr.write("graphfix: interrupted\n")
            return INTERRUPTED if first == signal.SIGINT else 128 + first
        if self._late or code == -signal.SIGALRM:  # of `Page.limit`
            return self._fatal(
                f"took longer than {self._page.seconds:g} s",
                "give it more with --timeout",
            )
        if code >= 0:
            return code
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        if -code == signal.SIGKILL:
            return self._fatal("was killed; the memory may have run out", "")
        from graphfix.cli.native_death import deadly_node

        node = deadly_node(self._page.subject) if self._page.subject else ""
        return self._fatal(
            f"crashed a library that reads it ({name})" + (f", at {node}" if node else ""),
            "the file is damaged, or made to do this; a limit of memory is set with --max-memory",
        )

    def _fatal(self, what: str, hint: str) -> int:
        from graphfix.cli.failures import Failure, tell

        place = self._page.place
        said = f"{what}, {place}" if place else what
        failure = Failure(UNREADABLE, said, self._page.subject, hint)
        if self._tell is not None:
            return self._tell(failure)
        return tell(failure, as_json=self._page.as_json)
