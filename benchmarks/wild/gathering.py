"""Choosing networks from snapshots of repositories."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from benchmarks.wild.listing import Network

_EACH = 3
_FEWEST_NODES = 3
_LARGEST = 30 << 20
_FILES = ("licen", "copying", "unlicen")
_LICENCES = (  # by words that the texts of these alone have
    ("Apache-2.0", "apache license version 2.0"),
    ("MIT", "permission is hereby granted, free of charge, to any person"),
    ("AGPL-3.0", "gnu affero general public license version 3"),
    ("LGPL-3.0", "gnu lesser general public license version 3"),
    ("GPL-3.0", "gnu general public license version 3"),
    ("GPL-2.0", "gnu general public license version 2"),
    ("MPL-2.0", "mozilla public license version 2.0"),
    ("BSL-1.0", "boost software license"),
    ("BSD", "redistribution and use in source and binary forms"),
    ("CC", "creative commons"),
    ("Unlicense", "this is free and unencumbered software"),
)


@dataclass(frozen=True)
class _Candidate:
    network: Network
    data: bytes
    operators: int
    form: str


def gathered(
    snapshots: Path, known: Iterable[str], omit: Iterable[str], folder: Path
) -> list[Network]:
    """Return networks of all snapshots, at most three of each, and write the files themselves.

    Of one repository those are taken that have the most kinds of operators. A network is no
    single operator, and no two have the same operators in the same order in the same opset: one
    file of a tutorial is in many repositories, each time with other weights.

    Args:
        snapshots: Folder of bare git repositories, `OWNER+NAME/repo` or `OWNER+NAME/repo/.git`.
        known: SHA-256 of content that is left out.
        omit: Repositories that are left out.
        folder: Where the files are written to.
    """
    taken, forms, left_out = set(known), set[str](), {name.lower() for name in omit}
    found: list[Network] = []
    for repository, git in sorted(_repositories(snapshots)):
        if repository.lower() in left_out:
            continue
        candidates = sorted(
            _candidates(repository, git), key=lambda c: (-c.operators, c.network.sha256)
        )
        chosen = 0
        for candidate in candidates:
            network = candidate.network
            if network.sha256 in taken or candidate.form in forms or chosen == _EACH:
                continue
            taken.add(network.sha256)
            forms.add(candidate.form)
            chosen += 1
            found.append(network)
            network.at(folder).write_bytes(candidate.data)
        print(f"{repository}: {chosen} of {len(candidates)}", file=sys.stderr)
    return found


def _repositories(snapshots: Path) -> Iterator[tuple[str, Path]]:
    for place in snapshots.glob("*+*/repo"):
        inner = place / ".git"
        yield place.parent.name.replace("+", "/", 1), inner if inner.is_dir() else place


def _git(git: Path, *words: str) -> bytes:
    command = ["git", "--git-dir", str(git), *words]
    return subprocess.run(command, capture_output=True, check=False).stdout


def _candidates(repository: str, git: Path) -> Iterator[_Candidate]:
    commit = _git(git, "rev-parse", "HEAD").decode().strip()
    files = [entry.split("\t", 1) for entry in _tree(git)]
    licence = _licence(git, [path for _, path in files])
    blobs = {about.split()[2]: path for about, path in reversed(files) if _is_model(about, path)}
    for blob, path in blobs.items():
        data = _git(git, "cat-file", "blob", blob)
        model = _model(data)
        if model is None or sum(1 for _ in _nodes(model.graph)) < _FEWEST_NODES:
            continue
        opset = max(
            (o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0
        )
        kinds = [f"{node.domain}:{node.op_type}" for node in _nodes(model.graph)]
        network = Network(
            repository=repository,
            path=path,
            commit=commit,
            licence=licence,
            sha256=sha256(data).hexdigest(),
            opset=opset,
            producer=f"{model.producer_name} {model.producer_version}".strip(),
            bytes=len(data),
        )
        form = sha256(f"{opset} {' '.join(kinds)}".encode()).hexdigest()
        yield _Candidate(network, data, len(set(kinds)), form)


def _tree(git: Path) -> list[str]:
    listed = _git(git, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace")
    return [entry for entry in listed.split("\0") if entry]


def _is_model(about: str, path: str) -> bool:
    size = about.split()[3]  # `BAD` where the snapshot lacks the content
    return path.lower().endswith(".onnx") and size.isdigit() and int(size) <= _LARGEST


def _model(data: bytes) -> onnx.ModelProto | None:
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError:
        return None
    held = all(t.data_location != onnx.TensorProto.EXTERNAL for t in model.graph.initializer)
    return model if held else None


def _nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _nodes(inner)


def _licence(git: Path, paths: list[str]) -> str:
    for path in paths:
        if "/" not in path and path.lower().startswith(_FILES):
            text = _git(git, "show", f"HEAD:{path}").decode("utf-8", "replace")
            words = " ".join(text.split()).lower()
            return next((name for name, said in _LICENCES if said in words), "other")
    return "none"
