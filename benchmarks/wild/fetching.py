"""Bringing the networks of the list to a folder of this machine."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from benchmarks.wild.listing import Network

_RAW = "https://raw.githubusercontent.com"
_SECONDS = 60


def fetch(networks: Sequence[Network], folder: Path, snapshots: Path | None) -> int:
    """Bring what is missing; return how many networks could not be had.

    Args:
        networks: The list.
        folder: Where to; each file is named by its SHA-256, and only that content is written.
        snapshots: Folder of bare git repositories, `OWNER+NAME/repo`, that is looked at first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = 0
    for network in networks:
        if network.at(folder).is_file():
            continue
        data = _from_snapshot(network, snapshots) if snapshots else b""
        if not _is(network, data):
            data = _from_github(network)
        if _is(network, data):
            network.at(folder).write_bytes(data)
        else:
            missing += 1
            print(f"not found: {network.repository}: {network.path}", file=sys.stderr)
    return missing


def _is(network: Network, data: bytes) -> bool:
    return sha256(data).hexdigest() == network.sha256


def _from_snapshot(network: Network, snapshots: Path) -> bytes:
    place = snapshots / network.repository.replace("/", "+") / "repo"
    git = place / ".git" if (place / ".git").is_dir() else place
    command = ["git", "--git-dir", str(git), "show", f"{network.commit}:{network.path}"]
    return subprocess.run(command, capture_output=True, check=False).stdout


def _from_github(network: Network) -> bytes:
    path = urllib.parse.quote(f"{network.repository}/{network.commit}/{network.path}")
    try:
        with urllib.request.urlopen(f"{_RAW}/{path}", timeout=_SECONDS) as answer:
            data: bytes = answer.read()
            return data
    except (urllib.error.URLError, TimeoutError):
        return b""
