"""The sites that a child certifies, as files: their models, what is known of them, the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from onnx import ModelProto

from graphfix.proving.runners.evaluators import Listed
from graphfix.proving.sites.captured import CaptureRequest
from graphfix.proving.sites.site_proof import Case
from graphfix.report import Accuracy, Certificate
from graphfix.worker.messages import packed, unpacked

# The number under which the run of the whole model is explicit.
WATCHING = -1
_CASES = "cases.json"
_MODELS = "cases.bin"
_RESULTS = "results.jsonl"


class CertificationRequest(Struct, frozen=True):
    """How the sites of a folder are certified.

    Attributes:
        evaluators: See `graphfix.proving.runners.evaluators.listed`.
        seconds: No site is begun after so many.
        patience: The seconds that one site may take; 0 for as many as there are.
        gentle: Only inputs of the kind that a model meets.
        together: Compute constants in groups.
        watched: How the whole model is run for its own values; None where it is not.
        whole: Run sites with shorter axes once at their own sizes as well.
        stored: Begin each site with its stored inputs, and store those on which its sides differ.
    """

    evaluators: Listed
    seconds: float = float("inf")
    patience: float = 0.0
    gentle: bool = False
    together: bool = False
    watched: CaptureRequest | None = None
    whole: bool = False
    stored: bool = False


class StoredCase(Struct, frozen=True):
    """A site to certify, its models as bytes.

    Attributes:
        before: What was removed.
        after: What was added.
        accuracy: Its label.
        claims: The special numbers that go through as they did.
        names: What its inputs and outputs are called in the model.
    """

    before: bytes
    after: bytes
    accuracy: Accuracy
    claims: tuple[str, ...]
    names: Mapping[str, str]


class _Entry(Struct, frozen=True):
    number: int
    sizes: tuple[int, int]
    accuracy: Accuracy
    claims: frozenset[str]
    names: dict[str, str]


class ReadCase(Struct, frozen=True):
    """A site as a child reads it: its number, and the names that it has in the model."""

    number: int
    case: Case
    names: dict[str, str]


class Result(Struct, frozen=True):
    """What became of a site: it was begun, or has a certificate, which took so many seconds."""

    number: int
    certificate: Certificate | None
    cost: float = 0.0


def write_cases(folder: Path, cases: Sequence[tuple[int, StoredCase]]) -> None:
    """Write sites, each with its number."""
    with (folder / _MODELS).open("wb") as stream:
        for _, case in cases:
            stream.write(case.before)
            stream.write(case.after)
    entries = [
        _Entry(
            number,
            (len(case.before), len(case.after)),
            case.accuracy,
            frozenset(case.claims),
            dict(case.names),
        )
        for number, case in cases
    ]
    (folder / _CASES).write_text(packed(entries), encoding="utf-8")


def read_cases(folder: Path) -> Iterator[ReadCase]:
    """Yield what `write_cases` wrote."""
    entries = unpacked((folder / _CASES).read_text(encoding="utf-8"), list[_Entry])
    with (folder / _MODELS).open("rb") as stream:
        for entry in entries:
            before, after = (ModelProto.FromString(stream.read(size)) for size in entry.sizes)
            case = Case(before, after, entry.accuracy, entry.claims)
            yield ReadCase(entry.number, case, entry.names)


class Log:
    """Takes down what is done, a line for each step, for whoever started this process."""

    def __init__(self, folder: Path) -> None:
        """Continue after what is there."""
        self._stream = (folder / _RESULTS).open("a", encoding="utf-8")

    def begin(self, number: int) -> None:
        """Note that a site is begun."""
        self._write(Result(number, None))

    def end(self, number: int, certificate: Certificate, cost: float) -> None:
        """Note the certificate of a site."""
        self._write(Result(number, certificate, cost))

    def close(self) -> None:
        """Take nothing down any more."""
        self._stream.close()

    def _write(self, result: Result) -> None:
        self._stream.write(packed(result) + "\n")
        self._stream.flush()


def read_results(folder: Path) -> Iterator[Result]:
    """Yield what a child noted, as far as it came."""
    path = folder / _RESULTS
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            yield unpacked(line, Result)
        except ValueError:
            return  # the child died while it wrote this line


def given_file(folder: Path, number: int) -> Path:
    """Return where the inputs lie that a site is to begin with."""
    return folder / f"given-{number}.json"


def failing_file(folder: Path, number: int) -> Path:
    """Return where the inputs are put on which a site differs."""
    return folder / f"failing-{number}.json"
