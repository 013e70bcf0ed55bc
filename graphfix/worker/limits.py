"""What a child may take: memory, seconds and threads, and limits that the system holds it to."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from collections.abc import Generator
from pathlib import Path

from msgspec import Struct

DEADLINE = "GRAPHFIX_DEADLINE"
# What the command line gives engines where a file is small and the user says nothing: seconds of
# a processor, for all children together, and bytes for those that run at once.
ENGINE_SECONDS, ENGINE_MEMORY = "GRAPHFIX_ENGINE_SECONDS", "GRAPHFIX_ENGINE_MEMORY"
_SHARE = 0.8
_INF = float("inf")
_MORE_FOR_SMALL, _MORE = 10, 1800  # seconds that are proposed
_ENDLESS = 1e8  # what no timer need be set for
_GRACE = 1.0
# What a child of a small file may have where its model needs that much by its shapes. A file that
# needs more is given no more than others: it may ask for anything.
MOST_NEEDED = 1 << 32
# And the seconds of a processor, where a first sample shows that as many are needed.
MOST_WORK = 45.0
# How much longer than a processor works on it a request may take, on a machine that has others,
# and for how long one may take by the clock that works for less.
WAITING, WAITED = 10.0, 120.0
# How many threads numerical libraries start.
_COUNTS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class Limits(Struct, frozen=True):
    """What a child may take.

    Attributes:
        timeout: Seconds by the clock.
        memory: Bytes on top of what its libraries reserve; None for a share of what is free.
        together: How many children run at once, and share what all of them may take.
        held: Whether the system holds the child to it. The driver of a device reserves more
            addresses than any machine has memory.
        spare: Seconds that are left to a later request, of those that all children of this
            process together may take.
        work: Seconds of a processor, which other processes of the machine do not shorten; None
            for as many as `timeout`.
    """

    timeout: float
    memory: int | None = None
    together: int = 1
    held: bool = True
    spare: float = 0.0
    work: float | None = None

    @property
    def seconds(self) -> float:
        """The seconds of a processor that there are."""
        return self.timeout if self.work is None else min(self.work, self.timeout)

    def allowed(self) -> int | None:
        """Return the bytes a child may take now; None where neither caller nor system say.

        What the command line allows for a small file is the most in any case.
        """
        most = _number(ENGINE_MEMORY) if self.held else _INF
        if self.memory is not None:
            return int(min(self.memory, most))
        found = [size for size in (available_memory(), most / _SHARE) if size not in (None, _INF)]
        return int(_SHARE * min(found) / self.together) if found else None


def available_memory(*, own_limit: bool = True) -> int | None:
    """Return the bytes that this process may still take, None where the system does not say.

    The least of what /proc/meminfo, the control group (v2 and v1) and the limit of the address
    space (``ulimit -v``) say.

    Args:
        own_limit: Whether that limit counts.
    """
    found: list[int] = []
    meminfo = _text("/proc/meminfo")
    for line in meminfo.splitlines():
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) * 1024)
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        top, now = _text(limit).strip(), _text(used).strip()
        if top.isdigit() and now.isdigit():
            found.append(max(0, int(top) - int(now)))
    if own_limit:
        found += _addressable()
    if not found and hasattr(os, "sysconf"):
        try:
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (ValueError, OSError):
            return None
    return min(found) if found else None


def _addressable() -> list[int]:
    """Return the bytes of address space that are left, where there is a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return []
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return [] if limit == resource.RLIM_INFINITY else [max(0, limit - _address_space())]


def _address_space() -> int:
    pages = _text("/proc/self/statm").split()
    return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 0


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@contextlib.contextmanager
def limited_memory(size: int) -> Generator[None]:
    """Let this process take `size` bytes of address space more than it has now, until it leaves.

    Relative to the present size, because shared libraries and thread stacks alone reserve
    hundreds of megabytes that hold nothing. Rolled back, because a child that stays counts its
    next request from what the system gives, not from what the last one was left. Without effect
    where the system has no such limit.
    """
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    _lift_data_limit()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space() + size
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses it; the timeout remains
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def more_memory(given: int, needed: int) -> int | None:
    """Let this process take as many bytes as its model needs, where that is not too much.

    Args:
        given: What it may take now, see `limited_memory`.
        needed: What it needs.

    Returns:
        What it may take from now on; None where that stays as it is.
    """
    most = _number(ENGINE_MEMORY)
    if most == _INF or not given < needed <= MOST_NEEDED:
        return None  # it has a share of what is free, or enough
    free = available_memory(own_limit=False)
    if free is not None and needed > _SHARE * free * given / most:
        return None  # children that run at once share it
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return None
    wanted = soft + needed - given
    if hard != resource.RLIM_INFINITY and wanted > hard:
        return None
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
        return needed
    return None


@contextlib.contextmanager
def limited_time(seconds: float) -> Generator[None]:
    """Have the system end this process a second after its time is up, until it leaves.

    Its host is to end it when the time is up. A host that is stopped does not (Ctrl-Z stops a
    command, not its children, which have groups of their own), and what never ends would take a
    processor as long as that. Without effect where the system has no such timer.
    """
    if not hasattr(signal, "setitimer") or seconds > _ENDLESS:
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def more_work(given: float, needed: float) -> float | None:
    """Let this process use a processor for as long as its model needs, where that is not too much.

    Args:
        given: The seconds that it may still use one, see `limited_work`.
        needed: The seconds that it needs.

    Returns:
        The seconds from now on; None where they stay as they are.
    """
    if engine_seconds() == _INF or not given < needed <= MOST_WORK:
        return None
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = math.ceil(time.process_time() + needed)
    if soft == resource.RLIM_INFINITY or (hard != resource.RLIM_INFINITY and wanted > hard):
        return None
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (max(soft, wanted), hard))
        return needed
    return None


@contextlib.contextmanager
def limited_work(seconds: float | None) -> Generator[None]:
    """Have the system end this process when it has used a processor for so many seconds more.

    Rounded up to whole ones. Without effect where the system has no such limit.
    """
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    if seconds is None or seconds > _ENDLESS:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = math.ceil(time.process_time() + seconds)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (wanted, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def is_late(code: int) -> bool:
    """Say whether the exit code of a process says that `limited_time` ended it."""
    return hasattr(signal, "SIGALRM") and code == -signal.SIGALRM


def is_overworked(code: int) -> bool:
    """Say whether the exit code of a process says that `limited_work` ended it."""
    return hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU


def _lift_data_limit() -> None:
    """Roll back the lower limit under which a command reads a model, whose weights it leaves."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def seconds_left() -> float:
    """Return how long the command that this process serves may still take.

    The command line says so in the environment, by the clock that all processes of a machine
    share; no one says so to those who use graphfix from Python.
    """
    return max(0.0, (_number(DEADLINE) - time.monotonic()) * _SHARE)


def more_seconds() -> int | None:
    """Return what to give --timeout where the time did not suffice; None where no one gave one."""
    given = engine_seconds()
    if given < _INF:
        return math.ceil(_MORE_FOR_SMALL * given)
    left = seconds_left() / _SHARE
    return None if left == _INF else max(_MORE, 2 * math.ceil(left))


def engine_seconds() -> float:
    """Return the seconds of a processor that all children of this process together may use.

    They are infinite for big files.
    """
    return _number(ENGINE_SECONDS)


def _number(name: str) -> float:
    try:
        return float(os.environ.get(name, _INF))
    except ValueError:
        return _INF


def gibibytes(size: int) -> str:
    """Return a size for a person: ``3.2 GiB``, ``40 MiB``."""
    return f"{size / 2**30:.1f} GiB" if size >= 2**29 else f"{size / 2**20:.0f} MiB"


@contextlib.contextmanager
def single_threaded() -> Generator[None]:
    """Let what is imported meanwhile start no threads of its own.

    OpenBLAS makes one for each processor when numpy is imported: they spin for a tenth of a
    second, and a process that has them cannot be forked safely. Numbers of the user are.
    """
    added = [name for name in _COUNTS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
