"""The list of the networks: where each one lies, and what it is."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

LIST = Path(__file__).parents[1] / "wild.toml"
_HEAD = """\
# Networks of public repositories; `python -m benchmarks.wild fetch FOLDER` brings them. Made by
# `python -m benchmarks.wild gather`. The models themselves are not ours to pass on.
"""


@dataclass(frozen=True)
class Network:
    """One network of the list.

    Attributes:
        repository: `owner/name` on GitHub.
        path: Its path there.
        commit: The commit that it was taken from.
        licence: What its licence file says; `other`, or `none` where it has no such file.
        sha256: Of its bytes.
        opset: The version of the standard operators that it imports; 0 for none.
        producer: Name and version as the file says them.
        bytes: Its size.
    """

    repository: str
    path: str
    commit: str
    licence: str
    sha256: str
    opset: int
    producer: str
    bytes: int

    @property
    def seen(self) -> bool:
        """Whether it is of the half that may be looked into; the other one is only measured."""
        return int(self.sha256[-1], 16) % 2 == 0

    def at(self, folder: Path) -> Path:
        """Return where it lies in a folder of models."""
        return folder / f"{self.sha256}.onnx"


def networks(path: Path = LIST) -> list[Network]:
    """Return the networks of a list."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))["networks"]
    return [Network(**entry) for entry in found]


def save(found: Iterable[Network], path: Path = LIST) -> None:
    """Write a list, a line for each network."""
    ordered = sorted(found, key=lambda n: (n.repository.lower(), n.path))
    lines = [f"  {{ {_inline(network)} }}," for network in ordered]
    path.write_text("\n".join([f"{_HEAD}networks = [", *lines, "]\n"]), encoding="utf-8")


def _inline(network: Network) -> str:
    # What JSON writes of a string or a number is TOML as well.
    said = asdict(network).items()
    return ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in said)
