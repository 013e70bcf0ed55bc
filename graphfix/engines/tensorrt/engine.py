"""TensorRT and TensorRT for RTX as engine families, which share one parser and its rules.

JetPack and NGC releases say which TensorRT they hold, and so which profile is meant:
``releases.json`` lists only what a source says, TensorRT containers (nvcr.io/nvidia/tensorrt) under
their number. `graphfix run --target jetpack4.6` reads it. Once a file is written, the `trtexec`
line says how to build an engine from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from graphfix.engines.engine import Engine
from graphfix.engines.interface import Input, Meant, NextStep, Release, Written
from graphfix.engines.versions import parse_name
from graphfix.errors import UsageError
from graphfix.ir.printing import shell_line

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto

    from graphfix.engines.profile import Target
    from graphfix.engines.tensorrt.consequences import AsRead
    from graphfix.engines.tensorrt.runner import TensorRT as TensorRTRunner
    from graphfix.ir.graph import Graph
    from graphfix.ir.model import Model
    from graphfix.ir.views import NodeView, Value
    from graphfix.report import Finding


_ALIASES = {
    "trt5": "trt5.1",
    "trt7": "trt7.2",
    "trt8": "trt8.6",
    "trt9": "trt9.3",
    "trt10": "trt10.10",
    "trt11": "trt11.1",
}
_RTX_BUILDS = ("1.4.0.76", "1.5.0.114", "1.6.1.120", "1.7.1.116")


class ParsedByTensorRT(Engine):
    """What NVIDIA's ONNX parser reads, which is one for all its engines; a family by no name."""

    order = 1
    known = "sources"
    on_device = True
    own_words = MappingProxyType(
        {
            "stated-opset-unknown": "trt",
            "stated-oldest-opset": "trt",
            "stated-io-types": "trt",
            "stated-function": "..trt8",
            "stated-operator": "trt",
            "stated-types": "trt",
        }
    )
    tolerates = frozenset(
        {"type-of-newer-opset", "type-declared", "branch-inputs", "repeated-node-name"}
    )

    def element_type(self, value: Value, target: Target) -> str:
        """Return the element type that the parser gives a tensor."""
        from graphfix.engines.tensorrt.rules.parsed import engine_type

        return engine_type(value, target)

    def type_text(self, element_type: str) -> str:
        """Return the name that the parser prints: ``UINT8``, ``HALF``."""
        from graphfix.engines.tensorrt.rules.parsed import engine_name

        return engine_name(element_type)

    def is_constant(self, value: Value) -> bool:
        """Say whether the parser holds the values as weights."""
        from graphfix.engines.tensorrt.rules.parsed import is_weights

        return is_weights(value)

    def opset_of(self, node: NodeView) -> int:
        """Return the opset that the parser takes a node to be of."""
        from graphfix.engines.tensorrt.rules.parsed import opset_of

        return opset_of(node)

    def reads(self, graph: Graph) -> bool:
        """Say whether the parser imports a body: not a branch that a known condition excludes."""
        from graphfix.engines.tensorrt.rules.parsed import is_imported

        return is_imported(graph)

    def as_read(self, model: Model, target: Target, known: Sequence[Finding]) -> AsRead | None:
        """Return the model as the parser reads it, where that changes a shape."""
        from graphfix.engines.tensorrt.consequences import as_the_engine_reads

        return as_the_engine_reads(model, known)

    def reported_elsewhere(
        self, model: Model, target: Target, known: Sequence[Finding]
    ) -> Iterable[Finding]:
        """Return a finding at each node that the parser names in the place of the one at fault."""
        from graphfix.engines.tensorrt.consequences import reported_elsewhere

        return reported_elsewhere(model, known)

    def next_step(self, written: Written, target: Target) -> NextStep:
        """Return the `trtexec` line that builds an engine from the file."""
        return next_step(written, target)


class TensorRT(ParsedByTensorRT):
    """NVIDIA's TensorRT."""

    family = "trt"
    title = "TensorRT"
    spellings = ("tensorrt",)
    install = "put trtexec on PATH, or pip install tensorrt polygraphy"
    sources = MappingProxyType(
        {
            "type-of-newer-opset": "TensorRT looks at the type alone, whatever the opset: "
            "verdicts of its parser",
            "type-declared": "TensorRT never reads value_info (ModelImporter.cpp, 8.6.1)",
            "shape-declared": "TensorRT never reads it",
            "branch-inputs": "TensorRT takes what a branch captures by name: verdicts of its "
            "parser",
            "unsorted": "TensorRT sorts them, too",
            "formality": "TensorRT takes them, too",
            "repeated-constant": "TensorRT has a rule of its own",
            "repeated-node-name": "TensorRT's parser makes names of its own",
        }
    )

    def aliases(self) -> Mapping[str, str]:
        """Return the majors, and the family alone as the newest version."""
        return {**super().aliases(), **_ALIASES}

    def hint(self, alias: str) -> str:
        """Return what to type where the TensorRT that is meant is an older one."""
        if alias == self.family:
            return "; say yours where it is another: trt8.6, trt10.3, jetpack6.1, ngc22.12"

        return older_jetsons(alias, _ALIASES[alias])

    def releases(self) -> tuple[Release, ...]:
        """Return the releases of JetPack and of the containers that hold a TensorRT."""
        return releases()

    def release_named(self, name: str) -> Release | None:
        """Return the release that a name such as ``jetpack5.1`` means."""
        return release_named(name)

    def is_here(self) -> bool:
        """Say whether this machine has TensorRT with polygraphy, or `trtexec`."""
        from graphfix.engines.tensorrt.runner import found

        return found() is not None

    def is_run_here(self, target: Target) -> bool:
        """Say whether TensorRT's own package is here in the very version; trtexec says none."""
        try:
            numbers = version("tensorrt").split(".")
        except PackageNotFoundError:
            return False
        same = numbers[: len(target.version)] == [str(each) for each in target.version]
        return same and self.is_here()

    def open(self, model: ModelProto, path: Path, meant: Meant) -> TensorRTRunner:
        """Return a model file in TensorRT."""
        from graphfix.engines.tensorrt.runner import open_tensorrt

        return open_tensorrt(model, path, meant)


class TensorRTForRTX(ParsedByTensorRT):
    """NVIDIA's TensorRT for RTX, a library of its own, which builds engines without a GPU."""

    family = "trt-rtx"
    title = "TensorRT for RTX"
    spellings = ("tensorrt-rtx", "tensorrt-for-rtx")
    capabilities = ("sm75", "sm80", "sm86", "sm89", "sm120", "sm121")
    known = "measured"
    requirements = MappingProxyType(
        {
            f"trt-rtx{build.rpartition('.')[0].rpartition('.')[0]}": (
                f"tensorrt-rtx-cu12-bindings=={build}",
                f"tensorrt-rtx-cu12-libs=={build}",
                "numpy",
            )
            for build in _RTX_BUILDS
        }
    )

    @property
    def program(self) -> Path | None:
        """The file that parses, builds and runs models in a process of its own."""
        return None if self.folder is None else self.folder / "rtx_program.py"


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


_EXPLICIT_BATCH_MAJOR = 7
_PROGRAMS = {"trt": "trtexec", "trt-rtx": "tensorrt_rtx"}


def next_step(written: Written, target: Target) -> NextStep:
    """Return how to build an engine from a file; see `trtexec_line`."""
    inputs, used = written.contents()
    libraries = ("<your-plugins.so>",) if written.assumes_operators else ()
    imported = {op for op, known in target.ops.items() if known.supported}
    shipped = sorted(used & target.plugins - imported)
    line = trtexec_line(written.path, inputs, target, libraries, shipped)
    sizes = "Put the smallest, the usual and the largest size for each <name>."
    return NextStep(line, "Build the engine", sizes if open_shapes(inputs) else "")


def trtexec_line(
    path: str,
    inputs: Sequence[Input],
    target: Target,
    plugins: Sequence[str] = (),
    shipped: Sequence[str] = (),
) -> str:
    """Return a shell line for `trtexec`, which is called `tensorrt_rtx` in TensorRT for RTX.

    Sizes that the model leaves open are as ``<name>`` in the three shape options: the smallest,
    the usual and the largest size that the engine shall take are the user's to choose.

    Sources: samples/common/sampleOptions.cpp of NVIDIA/TensorRT. `--explicitBatch` is needed where
    the default was an implicit batch though the parser takes only an explicit one (6.0 with full
    dimensions, 7.x) and deprecated from 8.0; `--plugins` is deprecated for `--staticPlugins` in
    8.6.

    Args:
        path: The .onnx file.
        inputs: Names and shapes; an open dimension is its name, or None.
        target: The version of TensorRT.
        plugins: Libraries with the user's own operators.
        shipped: Operators that NVIDIA's own plugin library has; a comment names them, for whoever
            builds the engine without `trtexec`, which loads that library.
    """
    words = [_PROGRAMS[target.family], f"--onnx={path}"]
    if target.level[0] == _EXPLICIT_BATCH_MAJOR or target.variant:
        words.append("--explicitBatch")
    if shapes := open_shapes(inputs):
        words += [f"--{which}Shapes={shapes}" for which in ("min", "opt", "max")]
    option = "--staticPlugins" if target.level >= (8, 6) else "--plugins"
    words += [f"{option}={library}" for library in plugins]
    line = shell_line(words)
    if shipped:
        line += f"  # with {', '.join(shipped)} of libnvinfer_plugin, which trtexec loads"
    return line


def open_shapes(inputs: Sequence[Input]) -> str:
    """Return ``x:<batch>x3x224x224,y:...`` for the inputs with open dimensions; empty if none."""
    return ",".join(
        f"{name}:{'x'.join(_dim(dim, i) for i, dim in enumerate(shape))}"
        for name, shape in inputs
        if any(not isinstance(dim, int) for dim in shape)
    )


def _dim(dim: int | str | None, position: int) -> str:
    """Return a size, or the name of the gap to fill."""
    return str(dim) if isinstance(dim, int) else f"<{dim or f'dim{position}'}>"
