"""Whether the engine that a name means is the onnxruntime installed here, which can be asked."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.engines.targets import resolve, spelled
from graphfix.engines.versions import parse_name

_FAMILY = "ort"
_DISTRIBUTIONS = ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino")


def means_installed(name: str | Target | Path) -> bool:
    """Say whether a target is the onnxruntime that is installed here, up to its patch release.

    ``ort`` alone is, where what is installed is as new as the newest profile or newer: the newest
    profile stands for it then. A profile of the user's own never is.

    Args:
        name: What the user asked for, or a profile.

    Raises:
        UsageError: No target has this name.
    """
    here = installed_minor()
    target = resolve(name)[0]
    if target.family != _FAMILY or not here or isinstance(name, Path):
        return False
    if isinstance(name, Target):
        return name.version[:2] == here and name.name in engine_of(_FAMILY).names()
    if name.lower().endswith(".toml"):
        return False
    asked = spelled(name, engine_of(_FAMILY))
    if asked is not None:
        return asked.version[:2] == here
    return resolve(f"{_FAMILY}-{here[0]}.{here[1]}")[0] == target


@cache
def installed_minor() -> tuple[int, ...]:
    """Return major and minor version of the onnxruntime installed here; empty for none."""
    for distribution in _DISTRIBUTIONS:
        try:
            found = version(distribution)
        except PackageNotFoundError:
            continue
        parsed = parse_name(f"{_FAMILY}-{'.'.join(found.split('.')[:2])}")
        return parsed.version if parsed is not None else ()
    return ()
