"""JetPack and NGC releases: which TensorRT they hold, and so which profile is meant.

``releases.json`` lists only what a source says, TensorRT containers (nvcr.io/nvidia/tensorrt) under
their number. `graphfix run --target jetpack4.6` reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from graphfix.engines.interface import Release
from graphfix.engines.versions import parse_name
from graphfix.errors import UsageError

_PRODUCTS = {"jetpack": "JetPack", "ngc": "NGC container"}
_SHORT = {"jp": "jetpack"}
_NAME = re.compile(r"(jetpack|jp|ngc)[\s_-]*(\d+(?:\.\d+)*)")


@cache
def releases() -> tuple[Release, ...]:
    """Return every release that is known, in the order of ``releases.json``."""
    path = Path(__file__).parent / "releases.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    sources: Mapping[str, str] = table["sources"]
    return tuple(
        Release(
            "tensorrt",
            product,
            title,
            version,
            row["tensorrt"],
            row["profile"],
            sources[row["source"]],
        )
        for product, title in _PRODUCTS.items()
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
    product, asked = _SHORT.get(match[1], match[1]), match[2]
    label = _PRODUCTS[product]
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
    note = f"{label} {asked} is taken as {found.profile} (it holds TensorRT {found.holds})"
    if found.version != asked:
        note = (
            f"{label} {asked} is not listed and taken as {found.version}:"
            f" {found.profile} (TensorRT {found.holds})"
        )
    return replace(found, notes=(note,))


def older_jetsons(alias: str, target: str) -> str:
    """Return what an alias's note adds for a Jetson whose TensorRT is another one."""
    by_profile: dict[str, list[str]] = {}
    for release in releases():
        parsed = parse_name(release.profile)
        major = f"{parsed.family}{parsed.version[0]}" if parsed is not None else ""
        if release.product == "jetpack" and major == alias and release.profile != target:
            by_profile.setdefault(release.profile, []).append(release.version)
    if not by_profile:
        return ""
    parts = [f"{name} for JetPack {', '.join(found)}" for name, found in by_profile.items()]
    return f"; on a Jetson type what it holds: {'; '.join(parts)}"


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
