"""JetPack and NGC releases: which TensorRT they hold, and so which profile is meant."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graphfix.errors import UsageError

_PRODUCTS = {"jetpack": "JetPack", "jp": "JetPack", "ngc": "NGC container"}
_TABLES = {"jetpack": "jetpack", "jp": "jetpack", "ngc": "ngc"}
_NAME = re.compile(r"(jetpack|jp|ngc)[\s_-]*(\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a product that holds a TensorRT.

    Attributes:
        product: ``jetpack`` or ``ngc``.
        version: The release, ``5.1``.
        tensorrt: The TensorRT in it, ``8.5.2``.
        profile: The profile for it, ``trt8.5``.
        source: Where this was read.
        notes: What to tell the user.
    """

    product: str
    version: str
    tensorrt: str
    profile: str
    source: str
    notes: tuple[str, ...] = ()


@cache
def releases() -> tuple[Release, ...]:
    """Return every release that is known, in the order of ``releases.toml``."""
    path = Path(__file__).parent / "releases.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    sources: Mapping[str, str] = table["sources"]
    return tuple(
        Release(product, version, row["tensorrt"], row["profile"], sources[row["source"]])
        for product in ("jetpack", "ngc")
        for version, row in table[product].items()
    )


def release_named(name: str) -> Release | None:
    """Return the release that a target name such as ``jetpack5.1`` means; None for other names.

    A JetPack patch release that is not listed is taken as the next lower one of its minor.

    Raises:
        UsageError: The name is that of a release, but nothing is known of it.
    """
    match = _NAME.fullmatch(name.strip().lower())
    if match is None:
        return None
    label, product, asked = _PRODUCTS[match[1]], _TABLES[match[1]], match[2]
    known = [release for release in releases() if release.product == product]
    found = next((release for release in known if release.version == asked), None)
    if found is None and product == "jetpack":
        found = _next_lower(asked, known)
    if found is None:
        listed = ", ".join(release.version for release in known)
        raise UsageError(
            f"it is not known which TensorRT {label} {asked} holds",
            hint=f"type its version, such as trt8.5; known are {listed}",
        )
    note = f"{label} {asked} is taken as {found.profile} (it holds TensorRT {found.tensorrt})"
    if found.version != asked:
        note = (
            f"{label} {asked} is not listed and taken as {found.version}:"
            f" {found.profile} (TensorRT {found.tensorrt})"
        )
    return Release(
        found.product, found.version, found.tensorrt, found.profile, found.source, (note,)
    )


def _next_lower(asked: str, known: list[Release]) -> Release | None:
    wanted = _numbers(asked)
    lower = [
        release
        for release in known
        if _numbers(release.version)[:2] == wanted[:2] and _numbers(release.version) <= wanted
    ]
    return max(lower, key=lambda release: _numbers(release.version), default=None)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
