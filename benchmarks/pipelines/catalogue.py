"""What makes files: exporters with their architectures, tools used afterwards, environments."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

HERE = Path(__file__).parent
EXPORTED = "exported"
# Of the unseen half by the hash, and looked into since, because a result of theirs ended with 0 and
# was not equal: they count as seen.
LOOKED_INTO = frozenset(
    {
        "bigbird_pegasus",
        "chinese_clip",
        "convnext",
        "deberta",
        "encoder-free",
        "faster-rcnn",
        "gpt_oss",
        "graph-convolution",
        "megatron-bert",
        "naive-bayes",
        "patchtsmixer",
        "poolformerv2_s12",
        "segformer",
        "random-forest-labels",
        "sew-d",
        "speech_to_text",
        "ssdlite320_mobilenet_v3_large",
        "test_nfnet",
        "vad",
        "yolo11n-obb-dynamic-nms",
        "yolo11n-obb-half-nms",
        "yolo11n-obb-nms",
        "yolov8n-world",
    }
)


class Environment(Struct, frozen=True):
    """A Python of its own.

    Attributes:
        packages: Pinned, as pip reads them.
        base: The environment whose packages it also sees; pip then installs no dependencies.
    """

    packages: tuple[str, ...]
    base: str = ""


class Exporter(Struct, frozen=True):
    """What writes networks.

    Attributes:
        environment: Where it runs.
        script: Below `exporters/`; called with a name, its row as JSON, and a folder for files.
        architectures: What each is made from.
        options: Added to the row of each.
        listed: The exporter whose architectures these are; empty for its own.
        seconds: The most for one architecture.
        gib: The most memory.
    """

    environment: str
    script: str
    architectures: Mapping[str, Mapping[str, Any]] = {}
    options: Mapping[str, Any] = {}
    listed: str = ""
    seconds: float = 240.0
    gib: float = 12.0


class Tool(Struct, frozen=True):
    """What makes another file of a file.

    Attributes:
        environment: Where it runs.
        script: Below `tools/`; called with the options as JSON, the source, and the file to write.
        options: What the script is asked for.
        of: Which exporters' files; empty for all.
        seconds: The most for one file.
        gib: The most memory.
    """

    environment: str
    script: str
    options: Mapping[str, Any] = {}
    of: tuple[str, ...] = ()
    seconds: float = 120.0
    gib: float = 8.0


class Catalogue(Struct, frozen=True):
    """Both tables."""

    environments: Mapping[str, Environment]
    exporters: Mapping[str, Exporter]
    tools: Mapping[str, Tool]


def catalogue(folder: Path = HERE) -> Catalogue:
    """Read `exporters.toml`, `architectures/*.toml` (a file per exporter) and `tools.toml`."""
    table = tomllib.loads((folder / "exporters.toml").read_text(encoding="utf-8"))
    for name, row in table["exporters"].items():
        listed = folder / "architectures" / f"{row.get('listed', name)}.toml"
        if listed.is_file():
            row["architectures"] = tomllib.loads(listed.read_text(encoding="utf-8"))
    table["tools"] = tomllib.loads((folder / "tools.toml").read_text(encoding="utf-8"))["tools"]
    return msgspec.convert(table, Catalogue)


def half(architecture: str) -> str:
    """Return `seen`, or `unseen` for the half that is only measured and never looked into."""
    if architecture in LOOKED_INTO:
        return "seen"
    return "unseen" if hashlib.sha256(architecture.encode()).digest()[0] % 2 else "seen"


def drawn(name: str) -> float:
    """Return a number from 0 to 1 for a name, the same in each run."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[1:5]) / 2**32


def parted(name: str) -> tuple[str, str, str]:
    """Return kind, exporter and architecture of KIND/EXPORTER/ARCHITECTURE[+PART].onnx."""
    kind, exporter, file = Path(name).parts[-3:]
    return kind, exporter, file.removesuffix(".onnx").partition("+")[0]
