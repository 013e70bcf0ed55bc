"""Certificates in a folder, so that equal sites of different models are proved once.

A file for each, by what the proof depends on: the content of both sides, the operators that run as
numpy models of graphfix, and the versions of all that computes. Only `equal` is kept. Files appear
whole, by renaming, so that any number of processes may share a folder; one that is damaged in any
way counts as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module, metadata
from pathlib import Path

import onnx
from msgspec import Struct

from graphfix.ir.version import __version__
from graphfix.proving.runners.evaluators import OpKey, operators_of
from graphfix.proving.sites.cases import StoredCase
from graphfix.report import Certificate, Verdict
from graphfix.worker.messages import packed, unpacked

_SCHEMA = 1
_COMPUTING = ("numpy", "onnx", "onnxruntime")
_FULL = 400  # certificates in each of 256 folders; the older half goes then


class _Kept(Struct, frozen=True):
    """What a file holds; the sum is of key and certificate."""

    key: str
    certificate: Certificate
    sum: str


class CertificateCache:
    """Certificates in a folder."""

    def __init__(self, folder: Path, evaluators: Mapping[OpKey, str]) -> None:
        """Use `folder`, which is made when something is first kept.

        Args:
            folder: Where they lie.
            evaluators: Where the numpy models of operators without schema are.
        """
        self._folder = folder
        self._evaluators = evaluators
        self._keys: dict[bytes, str] = {}

    def get(self, digest: bytes, case: StoredCase) -> Certificate | None:
        """Return the certificate of a case, where an earlier run has kept one.

        None of its samples are values of the model at hand.

        Args:
            digest: Of both sides, the label and what is claimed.
            case: The case.
        """
        key = self._key_of(digest, case)
        if not key:
            return None
        try:
            kept = unpacked(self._place(key).read_text(encoding="utf-8"), _Kept)
        except (OSError, ValueError, RecursionError):  # none is there, or it is damaged
            return None
        if kept.key != key or kept.sum != _sum(key, kept.certificate):
            return None
        return replace(kept.certificate, own=0) if _is_proof(kept.certificate) else None

    def put(self, digest: bytes, case: StoredCase, certificate: Certificate) -> None:
        """Keep a certificate, if it is a proof; where that cannot be written, nothing is kept."""
        key = self._key_of(digest, case) if _is_proof(certificate) else ""
        if not key:
            return
        place = self._place(key)
        text = packed(_Kept(key, certificate, _sum(key, certificate)))
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(prefix=".", dir=place.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                os.replace(part, place)
            except OSError:
                os.unlink(part)
            _make_room(place.parent)

    def _place(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json"

    def _key_of(self, digest: bytes, case: StoredCase) -> str:
        if digest not in self._keys:
            self._keys[digest] = self._key(digest, case)
        return self._keys[digest]

    def _key(self, digest: bytes, case: StoredCase) -> str:
        """Return the name of a case; empty where a numpy model of the user computes in it."""
        hashed = hashlib.sha256(digest)
        hashed.update(_versions())
        if self._evaluators:
            models = (onnx.ModelProto.FromString(raw) for raw in (case.before, case.after))
            used = {key for model in models for key in operators_of(model)}
            for key in sorted(used & self._evaluators.keys()):
                module, _, name = self._evaluators[key].rpartition(":")
                if not module.startswith("graphfix."):
                    return ""
                hashed.update(repr((key, name)).encode())
                hashed.update(_sources(os.path.dirname(str(import_module(module).__file__))))
        return hashed.hexdigest()


def _is_proof(certificate: Certificate) -> bool:
    return certificate.status is Verdict.EQUAL and certificate.samples > 0


def _sum(key: str, certificate: Certificate) -> str:
    return hashlib.sha256(f"{key} {packed(certificate)}".encode()).hexdigest()


@cache
def _versions() -> bytes:
    """Return a digest of all that computes and compares."""
    versions = [metadata.version(name) for name in _COMPUTING]
    hashed = hashlib.sha256(repr((_SCHEMA, __version__, versions)).encode())
    hashed.update(_sources(str(Path(__file__).parents[1])))
    hashed.update(_sources(str(Path(__file__).parents[2] / "operators")))
    return hashed.digest()


@cache
def _sources(folder: str) -> bytes:
    """Return a digest of the Python files of a package, which may differ within a version."""
    hashed = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*.py")):
        hashed.update(path.relative_to(folder).as_posix().encode())
        hashed.update(path.read_bytes())
    return hashed.digest()


def _make_room(folder: Path) -> None:
    """Remove the older half of a folder that is full."""
    with os.scandir(folder) as entries:
        ages = [(entry.stat().st_mtime_ns, entry.path) for entry in entries]
    if len(ages) > _FULL:
        for _, path in sorted(ages)[: len(ages) // 2]:
            with contextlib.suppress(OSError):
                os.unlink(path)
