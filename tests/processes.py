"""Looking at the processes of the machine."""

from __future__ import annotations

from pathlib import Path


def runs(pid: int) -> bool:
    """Say whether a process runs; one that no one has waited for does not. Linux only."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"
