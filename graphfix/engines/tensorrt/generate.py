"""The TensorRT profiles, made from the facts on its ONNX parser.

    python -m graphfix.engines.tensorrt.generate [SUPPORT.json ...]

Facts: ``facts/operators.json`` (docs/operators.md of onnx-tensorrt and the importers that its code
registers, by version), ``facts/releases.toml`` (what release notes say of the versions between),
``facts/plugins.toml``, ``facts/notes.toml`` and, for TensorRT for RTX, ``facts/rtx.json``, which
says what its own parser imports (``benchmarks/tensorrt/rtx_operators.py``). A file that is named
adds versions to the first, or takes the place of what it says of them: version -> ``parser_ref``,
``max_opset``, ``min_opset``, ``registered_importers`` and, by operator, ``ops``, as the table and
the code have them.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphfix.engines.tensorrt.wording import reworded
from graphfix.engines.versions import (
    Store,
    VersionedName,
    in_range,
    packed,
    parse_name,
    unpacked,
    write_profiles,
    written,
)

Row = dict[str, Any]
FACTS = Path(__file__).parent / "facts"

# Profile, and the entry of the facts that it is made of.
_ENTRIES = {
    "trt5.1": "5.1",
    "trt6": "6.0",
    "trt6-fulldims": "6.0-full-dims",
    "trt7.0": "7.0",
    "trt7.1": "7.1",
    "trt7.2": "7.2.1",
    **{f"trt{minor}": minor for minor in ("8.0", "8.2", "8.4", "8.5", "8.6", "9.3")},
    **{f"trt10.{minor}": f"10.{minor}" for minor in range(17)},
    **{f"trt11.{minor}": f"11.{minor}" for minor in range(5)},
}
_DTYPES = {
    "FP32": "float32",
    "FP16": "float16",
    "BF16": "bfloat16",
    "FP8": "float8e4m3fn",
    "FP4": "float4e2m1",
    "INT64": "int64",
    "INT32": "int32",
    "INT8": "int8",
    "INT4": "int4",
    "UINT8": "uint8",
    "BOOL": "bool",
}
# TensorRT for RTX, and the entry of the TensorRT whose parser it shares: what it refuses of 2,699
# models differs between 1.5 and 1.6 (NonZero, 5-D GridSample), as its parser's own number does.
# From 1.6 on it also reads the modes linear and cubic of GridSample, and 11.2 is the first that is
# told to have five dimensions there.
_RTX = {"1.4": "10.15", "1.5": "10.15", "1.6": "11.2", "1.7": "11.2"}
_TITLES = {"trt": "TensorRT", "trt-rtx": "TensorRT for RTX"}
# Importers that are no operators: how the parser finds plugins and local functions.
_PSEUDO = {"FallbackPluginImporter", "LocalFunctionImporter"}
_EXPERIMENTAL = "experimental "

# Element types of graph inputs and outputs: what the parser's convertDtype takes (constraints.md,
# "input/output dtype" and "input dtype UINT8"; constraints_5_7.md, "dtypes of inputs/casts",
# "DOUBLE"), and from 9.3 on the types that the operator table states.
_IO: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("trt", ("float32", "float16", "int8", "int32", "int64")),
    ("trt7.0..", ("bool",)),
    ("trt8.0..", ("float64",)),
    ("trt8.5..", ("uint8",)),
    ("trt9.3..", ("bfloat16", "float8e4m3fn")),
    ("trt10.0..", ("int4",)),
    ("trt10.8..", ("float4e2m1",)),
)
_CONVERTED: tuple[tuple[str, str, str], ...] = (
    ("..trt8", "int64", "int32"),
    ("trt8.0..", "float64", "float32"),
)


def profiles() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names and the tables of the profiles, oldest first."""
    store = json.loads((FACTS / "operators.json").read_text(encoding="utf-8"))
    releases = tomllib.loads((FACTS / "releases.toml").read_text(encoding="utf-8"))
    entries = {name: _entry(store, releases, entry) for name, entry in _ENTRIES.items()}
    entries |= dict(_rtx(store, releases))
    rows = {name: _rows(entry) for name, entry in entries.items()}
    since: dict[tuple[str, str], str] = {}
    for name, table in rows.items():
        for op, row in table.items():
            if row["supported"]:
                since.setdefault((_named(name).family, op), name)
    for name, entry in entries.items():
        for op, row in rows[name].items():
            if (first := since.get((_named(name).family, op))) is not None:
                row["since"] = first
        yield name, _profile(name, entry, rows[name])


def _notes() -> list[tuple[str, str]]:
    """Return what the profiles of a range of versions say."""
    known = tomllib.loads((FACTS / "notes.toml").read_text(encoding="utf-8"))
    return [(versions, text) for versions, text in known["notes"]]


def _entry(store: Store, releases: Mapping[str, Row], version: str) -> dict[str, Any]:
    """Return the facts of a version: those read, or those of another one as corrected."""
    if version not in releases:
        return unpacked(store, version)
    known = _entry(store, releases, releases[version]["table"])
    news: Mapping[str, Row] = releases[version].get("ops", {})
    registered: list[str] | None = known.get("registered_importers")
    if registered is not None:
        known["registered_importers"] = sorted({*registered, *news})
    sources = "; ".join(filter(None, (known.get("reported", ""), releases[version]["source"])))
    return {**known, "ops": {**known["ops"], **news}, "reported": sources}


def _rtx(store: Store, releases: Mapping[str, Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of TensorRT for RTX: the table of what it is like, its own importers."""
    measured = json.loads((FACTS / "rtx.json").read_text(encoding="utf-8"))
    known: set[str] = set()
    for version, own in measured.items():
        known = known.union(own["new"]).difference(own["gone"])
        entry = _entry(store, releases, _RTX[version])
        entry["parser_ref"] = f"{entry['parser_ref']}, and tensorrt-rtx {own['build']}"
        entry["registered_importers"] = sorted(known)
        entry["like"] = f"trt{_RTX[version]}"
        yield f"trt-rtx{version}", entry


def _named(name: str) -> VersionedName:
    parsed = parse_name(name)
    if parsed is None:
        raise ValueError(f"{name!r} is no name of a profile")
    return parsed


def _profile(name: str, facts: Mapping[str, Any], rows: Mapping[str, Row]) -> Mapping[str, Any]:
    parsed = _named(name)
    version = parsed.version if len(parsed.version) > 1 else (*parsed.version, 0)
    like: str = facts.get("like", "")
    shared = _named(like) if like else None
    target = VersionedName(parsed.family, version, parsed.variant, shared)
    opset: Row = {"max": facts["max_opset"], "rejects_above": False}
    lowest = facts.get("min_opset") or (7 if in_range(target, "trt8.0..") else None)
    if lowest is not None:
        opset = {"min": lowest, **opset}
    number = ".".join(str(part) for part in version)
    full = " with the full-dimensions parser" if parsed.variant else ""
    plugins, tag = _plugins(name, target)
    table: Row = {
        "name": name,
        "family": parsed.family,
        "version": number,
        "variant": parsed.variant,
        "like": like,
        "title": f"{_TITLES[parsed.family]} {number}{full}",
        "source": f"onnx-tensorrt {facts['parser_ref']}: operator table"
        + (", registered importers" if "registered_importers" in facts else "")
        + (f"; {facts['reported']}" if facts.get("reported") else ""),
        "domains": ["", "ai.onnx"],
        "functions": in_range(target, "trt9.0.."),
        "plugins": plugins,
        "plugins_source": tag and f"NVIDIA/TensorRT {tag}: plugin/",
        "io_dtypes": [t for spec, more in _IO if in_range(target, spec) for t in more],
        "notes": [note for spec, note in _notes() if in_range(target, spec)]
        + _disagreements(facts, rows),
        # Explicit quantization came with 8.0 (NVIDIA, "Working with quantized types").
        "integers": "symmetric" if in_range(target, "trt8.0..") else "",
        "opset": opset,
        "dtype_aliases": {a: b for spec, a, b in _CONVERTED if in_range(target, spec)},
        "ops": dict(sorted(rows.items())),
    }
    return {key: value for key, value in table.items() if value not in ("", [], {})}


def _rows(facts: Mapping[str, Any]) -> dict[str, Row]:
    """Return the operators; where table and code disagree on support, the code is followed."""
    registered = facts.get("registered_importers")
    rows: dict[str, Row] = {}
    for op, stated in facts["ops"].items():
        plain = op.removeprefix(_EXPERIMENTAL)
        row: Row = {"supported": stated["supported"] if registered is None else plain in registered}
        if row["supported"] and stated.get("dtypes"):
            row["dtypes"] = [_DTYPES[dtype] for dtype in stated["dtypes"]]
        words = reworded(stated.get("restrictions", ""))
        if stated.get("support_note"):
            words = "; ".join(filter(None, ("experimental", words)))
        if words:
            row["restrictions"] = words
        rows[plain] = row
    for op in registered or ():
        if op not in rows and op not in _PSEUDO:
            rows[op] = {"supported": True}
    return rows


def _disagreements(facts: Mapping[str, Any], rows: Mapping[str, Row]) -> list[str]:
    stated = {op.removeprefix(_EXPERIMENTAL): row for op, row in facts["ops"].items()}
    registered = facts.get("registered_importers")
    if registered is None:
        return []
    lists = (
        (
            "The table lists as supported, but the code has no importer for",
            [op for op, row in stated.items() if row["supported"] and op not in registered],
        ),
        (
            "The table lists as unsupported, but the code has an importer for",
            [op for op, row in stated.items() if not row["supported"] and op in registered],
        ),
        (
            "Not in the table, but the code has an importer for",
            [op for op in rows if op not in stated],
        ),
    )
    return [f"{words}: {', '.join(sorted(ops))}." for words, ops in lists if ops]


def _plugins(name: str, target: VersionedName) -> tuple[list[str], str]:
    path = FACTS / "plugins.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    if name not in table["tags"]:
        return [], ""
    groups = [group for group in table["plugins"] if in_range(target, group["versions"])]
    return sorted(op for group in groups for op in group["names"]), table["tags"][name]


def add(support: Mapping[str, Any], facts: Path = FACTS / "operators.json") -> None:
    """Put what is known of versions into the facts, in the order of the profiles.

    Args:
        support: Version -> what was read of it.
        facts: The file.
    """
    known: dict[str, Mapping[str, Any]] = {}
    if facts.is_file():
        store = json.loads(facts.read_text(encoding="utf-8"))
        known |= {version: unpacked(store, version) for version in store["names"]}
    order = {version: place for place, version in enumerate(_ENTRIES.values())}
    for version, entry in support.items():
        place = order.get(version, len(order))
        later = {n: known.pop(n) for n in list(known) if n != version and order.get(n, -1) > place}
        known = {**known, version: _condensed(entry), **later}
    facts.write_text(written(packed(known)), encoding="utf-8")


def _condensed(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what profiles are made of, in the order of names."""
    kept = {key: entry.get(key) for key in ("parser_ref", "max_opset", "min_opset")}
    kept["registered_importers"] = sorted(entry.get("registered_importers", ()))
    columns = ("supported", "dtypes", "restrictions", "support_note")
    kept["ops"] = {
        op: {key: row[key] for key in columns if row.get(key) not in (None, "", [])}
        for op, row in sorted(entry["ops"].items())
    }
    return {key: value for key, value in kept.items() if value not in (None, [])}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        add(json.loads(Path(name).read_text(encoding="utf-8")))
    write_profiles(Path(__file__).parent, dict(profiles()))
