"""Ask real onnxruntimes which kernels they have, and write down what is missing.

    python -m benchmarks.onnxruntime.kernels [--only 1.8 1.10]

For each form of each operator of the default domain, and each element type that the form takes, a
model of that one node is loaded in each release of `old_engines.RELEASES`. Nothing is run, and
inputs have no shape: an engine looks its kernels up before it needs one. An answer that says
nothing about kernels (an attribute, a shape) counts as present. Writes
`graphfix/engines/onnxruntime/facts/kernels.json`, from which `python -m
graphfix.engines.onnxruntime.generate` makes the profiles; `--only` prints instead, or with
`--write` puts what it measured next to the releases that are known. `--contrib` measures the
operators of ``com.microsoft`` alone and leaves the rest as it is (with `--only`, other releases
keep those that they register and the newest one runs).

Of ``com.microsoft`` the forms of `benchmarks.coverage.contrib` are loaded: a release has an
operator where one of them loads, or is refused for a reason that says nothing about kernels, and
where the newest release has a kernel for CPUs at all. A schema is no kernel: wheels for CPUs
register the schemas of graphics processors, too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper
from onnx.defs import OpSchema

from benchmarks import ROOT
from benchmarks.coverage.contrib.forms import forms
from benchmarks.onnxruntime.releases import CHILD, RELEASES, interpreter
from graphfix.engines.versions import packed, unpacked, written

FACTS = ROOT / "graphfix" / "engines" / "onnxruntime" / "facts" / "kernels.json"
_OLDEST = 7  # older forms are not converted to
_NEWEST = 28
_IR = 3
# What the oldest release reads; operators of other domains do not depend on it.
_CONTRIB_OPSET, _CONTRIB_IR = 11, 6
# Preferred where a parameter is not the one that is asked about.
_USUAL = ("float", "int64", "int32", "bool", "uint8", "int8", "string")
_INTS = {
    "kernel_shape": [2, 2], "shape": [2], "pooled_shape": [1, 1], "axes": [0], "paddings": [0, 0],
    "pads": [0, 0], "ends": [1], "starts": [0], "ngram_counts": [0], "ngram_indexes": [0],
    "consumed_inputs": [0],
}  # fmt: skip
_TEXTS = {"equation": "ij->ij", "direction": "LEFT", "mode": "TFIDF"}
_DOMAINS = (
    "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview.training", "com.microsoft",
    "com.microsoft.experimental", "com.microsoft.nchwc", "com.ms.internal.nhwc", "org.pytorch.aten",
)  # fmt: skip
_NO_KERNEL = ("NOT_IMPLEMENTED", "not placed on any Execution Provider")
_NO_TYPE = ("of input parameter", "MLDataType for:")  # the schema lacks it, or the engine does
_NO_OPERATOR = ("No Op registered", "is not a registered function/op")


@dataclass(frozen=True)
class Probe:
    """One question: a form of an operator, a type parameter, an element type."""

    op: str
    since: int
    parameter: str
    dtype: str
    model: bytes


def schemas() -> dict[tuple[str, int], OpSchema]:
    """Return the forms of the default domain that a model of opset 7 to 28 may use."""
    found: dict[str, list[OpSchema]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= _NEWEST:
            found[schema.name].append(schema)
    chosen: dict[tuple[str, int], OpSchema] = {}
    for name, several in found.items():
        several.sort(key=lambda schema: schema.since_version)
        for schema, later in zip(several, [*several[1:], None], strict=True):
            gone = later is not None and later.since_version <= _OLDEST
            if not gone and not schema.deprecated:
                chosen[name, schema.since_version] = schema
    return chosen


def probes() -> Iterator[Probe]:
    """Yield every question, those of one form and type with several typings of the rest."""
    for (name, since), schema in schemas().items():
        if name == "Constant":
            continue
        params = {p.type_param_str: p.allowed_type_strs for p in schema.type_constraints}
        plain = {param: _usual(types) for param, types in params.items()}
        asked = {
            (param, text)
            for param, types in params.items()
            for text in types
            if text.startswith("tensor(") and _asks(schema, param)
        }
        for param, text in sorted(asked or {("", "")}):
            typings = [{**plain, param: text}] if param else [plain]
            alike = (text, f"seq({text})", f"optional({text})")
            same = {
                other: next((one for one in alike if one in types), plain[other])
                for other, types in params.items()
            }
            typings += [same] if same not in typings else []
            for typing in typings:
                model = _model(schema, typing, param)
                yield Probe(name, since, param, text[7:-1], model.SerializeToString())


def _asks(schema: OpSchema, param: str) -> bool:
    used = [i.type_str for i in schema.inputs]
    return param in used or "to" in schema.attributes or "dtype" in schema.attributes


def _usual(types: Sequence[str]) -> str:
    wanted = [f"tensor({name})" for name in _USUAL]
    wanted += ["seq(tensor(float))", "optional(tensor(float))"]
    return next((text for text in wanted if text in types), sorted(types)[0])


def _model(schema: OpSchema, typing: Mapping[str, str], param: str) -> ModelProto:
    inputs, infos = _inputs(schema, typing, param)
    least = max(schema.min_output, 1) if schema.outputs else 0
    shown = [i for i, o in enumerate(schema.outputs) if o.type_str == param]
    if shown and param not in {i.type_str for i in schema.inputs}:
        least = max(least, shown[0] + 1)
    outputs = [f"y{i}" for i in range(least)]
    node = helper.make_node(schema.name, inputs, outputs, name="probe")
    node.attribute.extend(_attributes(schema, typing))
    graph = GraphProto(name="probe", node=[node], input=infos)
    for position, name in enumerate(outputs):
        formal = schema.outputs[min(position, len(schema.outputs) - 1)]
        known = typing.get(formal.type_str, formal.type_str)
        graph.output.append(helper.make_value_info(name, _type(known)))
    opset = max(schema.since_version, _OLDEST)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=_ir(opset)
    )


def _ir(opset: int) -> int:
    return max([_IR, *(int(row[1]) for row in helper.VERSION_TABLE if int(row[2]) <= opset)])


def _inputs(schema: OpSchema, typing: Mapping[str, str], param: str) -> tuple[list[str], list[Any]]:
    positions = [i for i, formal in enumerate(schema.inputs) if formal.type_str == param]
    count = max(schema.min_input, positions[0] + 1 if positions else 0)
    names: list[str] = []
    infos: list[Any] = []
    for position in range(count):
        formal = schema.inputs[min(position, len(schema.inputs) - 1)]
        if position >= schema.min_input and position not in positions[:1]:
            names.append("")
            continue
        names.append(f"x{position}")
        known = typing.get(formal.type_str, formal.type_str)
        infos.append(helper.make_value_info(names[-1], _type(known)))
    return names, infos


def _type(text: str) -> onnx.TypeProto:
    """Return the type that a schema writes as ``tensor(float)`` or ``seq(tensor(float))``."""
    kind, _, rest = text.partition("(")
    inner = rest[:-1]
    if kind == "seq":
        return helper.make_sequence_type_proto(_type(inner))
    if kind == "optional":
        return helper.make_optional_type_proto(_type(inner))
    return helper.make_tensor_type_proto(_number(inner), None)


def _number(name: str) -> int:
    return int(TensorProto.DataType.Value(name.upper()))


def _attributes(schema: OpSchema, typing: Mapping[str, str]) -> Iterator[AttributeProto]:
    for name, formal in schema.attributes.items():
        if name in ("to", "dtype"):
            output = typing.get(schema.outputs[0].type_str, "tensor(float)")
            yield helper.make_attribute(name, _number(output.rpartition("(")[2].strip(")")))
        elif formal.required:
            yield _required(schema, name, formal, typing)


def _required(
    schema: OpSchema, name: str, formal: Any, typing: Mapping[str, str]
) -> AttributeProto:
    kind = OpSchema.AttrType
    if formal.type == kind.GRAPH:
        return helper.make_attribute(name, _body(schema, typing))
    value: Any = {
        kind.INT: 1,
        kind.FLOAT: 1.0,
        kind.INTS: _INTS.get(name, [1]),
        kind.FLOATS: [1.0, 1.0],
        kind.STRING: _TEXTS.get(name, "a"),
        kind.STRINGS: ["a"],
    }.get(formal.type)
    if formal.type == kind.TENSOR:
        value = helper.make_tensor("v", TensorProto.FLOAT, [1], [0.0])
    return helper.make_attribute(name, value)


def _body(schema: OpSchema, typing: Mapping[str, str]) -> GraphProto:
    """Return a body that hands on what comes in, for the operators that need one."""
    known = typing.get("V", "tensor(float)")
    nodes: list[NodeProto] = []
    inputs: list[Any] = []
    outputs: list[Any] = []
    if schema.name == "If":
        value = helper.make_tensor("v", TensorProto.FLOAT, [1], [0.0])
        nodes.append(helper.make_node("Constant", [], ["b0"], value=value))
        outputs.append(helper.make_value_info("b0", _type("tensor(float)")))
    if schema.name == "Loop":
        inputs.append(helper.make_tensor_value_info("i", TensorProto.INT64, []))
        inputs.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
        nodes.append(helper.make_node("Identity", ["c"], ["d"]))
        outputs.append(helper.make_tensor_value_info("d", TensorProto.BOOL, []))
    if schema.name != "If":
        inputs.append(helper.make_value_info("s", _type(known)))
        nodes.append(helper.make_node("Identity", ["s"], ["b0"]))
        outputs.append(helper.make_value_info("b0", _type(known)))
    return helper.make_graph(nodes, "body", inputs, outputs)


def domain_models() -> dict[str, bytes]:
    """Return models that import a domain at a version, by ``domain=version``."""
    found: dict[str, bytes] = {}
    for domain in _DOMAINS:
        for version in range(1, _NEWEST + 1):
            model = _relu()
            model.opset_import.append(helper.make_opsetid(domain, version))
            found[f"{domain}={version}"] = model.SerializeToString()
    return found


def contrib_models() -> list[tuple[str, bytes]]:
    """Return models that use one operator of ``com.microsoft`` each, after its name."""
    found: list[tuple[str, bytes]] = []
    for form in forms():
        if form.domain:
            model = form.model()
            model.ir_version = _CONTRIB_IR
            for entry in model.opset_import:
                entry.version = entry.version if entry.domain else _CONTRIB_OPSET
            found.append((form.operator, model.SerializeToString()))
    return found


def function_models() -> list[bytes]:
    """Return models that call a local function: with all its inputs, and with one left out."""
    found: list[bytes] = []
    for inputs in (["x", "x"], ["x"]):
        model = _relu()
        model.ir_version = 8
        del model.graph.node[:]
        model.graph.node.append(helper.make_node("twice", inputs, ["y"], domain="local"))
        model.opset_import.append(helper.make_opsetid("local", 1))
        model.functions.append(
            helper.make_function(
                "local",
                "twice",
                ["a", "b"],
                ["c"],
                [helper.make_node("Relu", ["a"], ["c"])],
                [helper.make_opsetid("", 11)],
            )
        )
        found.append(model.SerializeToString())
    return found


def _relu() -> ModelProto:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "probe",
        [info("x", TensorProto.FLOAT, [2])],
        [info("y", TensorProto.FLOAT, [2])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=_IR)


def contrib_names(python: Path) -> list[str]:
    """Return the operators of ``com.microsoft`` that the newest release runs on a CPU."""
    code = (
        "from onnxruntime.capi import onnxruntime_pybind11_state as state\n"
        "found = {k.op_name for k in state.get_all_opkernel_def() if k.domain == 'com.microsoft'"
        " and k.provider == 'CPUExecutionProvider'}\n"
        "print(*sorted(found))"
    )
    ended = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout.split()


def contrib_of(python: Path, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which operators of ``com.microsoft`` a release runs on a CPU, and which it knows.

    Args:
        python: The Python that has the release.
        names: Those that the newest release runs.
    """
    models = contrib_models()
    answers = list(zip(models, ask(python, [model for _, model in models]), strict=True))
    known = {name for (name, _), said in answers if not any(t in said for t in _NO_OPERATOR)}
    run = {name for (name, _), said in answers if not any(t in said for t in _NO_KERNEL)}
    return sorted(known & run & {*names}), sorted(known)


def ask(python: Path, models: Sequence[bytes]) -> list[str]:
    """Return what the engine says of each model; an empty text where it loads."""
    with tempfile.TemporaryDirectory(prefix="kernels-") as name:
        home = Path(name)
        for number, model in enumerate(models):
            (home / f"{number:06}.onnx").write_bytes(model)
        target = home / "answers.jsonl"
        child = [str(python), str(CHILD), "load", str(home), str(target)]
        subprocess.run(child, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = target.read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line).get("error", "")) for line in lines]


@dataclass
class Known:
    """What one release said.

    Attributes:
        missing: (operator, since) -> type parameter -> element types without kernel; the form as a
            whole is missing where the parameter is empty.
        domains: The highest version of each domain that is taken.
        contrib: Operators of ``com.microsoft`` that have a kernel.
        registered: Those that have a schema, with a kernel or without.
        functions: Whether calls of local functions are read, with an input left out too.
    """

    missing: dict[str, dict[str, list[str]]]
    domains: dict[str, int]
    contrib: list[str]
    registered: list[str]
    functions: bool


def measure(minor: str, asked: Sequence[Probe], names: Sequence[str]) -> Known:
    """Ask one release everything."""
    python = interpreter(minor)
    said = ask(python, [probe.model for probe in asked])
    good: dict[tuple[str, int, str, str], bool] = {}
    for probe, answer in zip(asked, said, strict=True):
        key = (probe.op, probe.since, probe.parameter, probe.dtype)
        good[key] = good.get(key, False) or not _lacking(answer)
    missing: dict[str, dict[str, list[str]]] = {}
    for op, since in dict.fromkeys((probe.op, probe.since) for probe in asked):
        of_form = {key[2:]: fine for key, fine in good.items() if key[:2] == (op, since)}
        lacks: dict[str, list[str]] = defaultdict(list)
        for (param, dtype), fine in of_form.items():
            if not fine:
                lacks[param].append(dtype)
        if not any(of_form.values()):
            missing[f"{op} {since}"] = {"": []}
        elif lacks:
            missing[f"{op} {since}"] = dict(lacks)
    wanted = domain_models()
    domains: dict[str, int] = {}
    for name, answer in zip(wanted, ask(python, list(wanted.values())), strict=True):
        domain, _, version = name.partition("=")
        if not answer:
            domains[domain] = int(version)
    contrib, registered = contrib_of(python, names)
    functions = not any(ask(python, function_models()))
    return Known(missing, domains, contrib, registered, functions)


def _lacking(answer: str) -> bool:
    return any(text in answer for text in (*_NO_KERNEL, *_NO_TYPE, *_NO_OPERATOR))


def main() -> None:
    """Measure, and write or print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(RELEASES), choices=list(RELEASES))
    parser.add_argument("--write", action="store_true", help="with --only: keep the other releases")
    parser.add_argument("--contrib", action="store_true", help="com.microsoft alone")
    given = parser.parse_args()
    names = contrib_names(interpreter(list(RELEASES)[-1]))
    if given.contrib:
        _measure_contrib(names, given.only)
        return
    asked = list(probes())
    found: dict[str, dict[str, Any]] = {}
    for minor in given.only:
        known = measure(minor, asked, names)
        print(
            minor,
            len(known.missing),
            known.domains,
            len(known.contrib),
            known.functions,
            file=sys.stderr,
        )
        table = {
            "release": RELEASES[minor],
            "domains": dict(sorted(known.domains.items())),
            "contrib": known.contrib,
            "registered": known.registered,
            "functions": known.functions,
            "missing": dict(sorted(known.missing.items())),
        }
        found[minor] = {key: value for key, value in table.items() if value not in ([], {})}
    if given.write:
        store = json.loads(FACTS.read_text(encoding="utf-8"))
        measured = {**{minor: unpacked(store, minor) for minor in store["names"]}, **found}
        found = {minor: measured[minor] for minor in RELEASES if minor in measured}
    if given.write or given.only == list(RELEASES):
        FACTS.write_text(written(packed(found)), encoding="utf-8")
    else:
        print(written(packed(found)))


def _measure_contrib(names: Sequence[str], wanted: Sequence[str]) -> None:
    """Measure com.microsoft in some releases, and write it down next to what is known."""
    store = json.loads(FACTS.read_text(encoding="utf-8"))
    known = {minor: unpacked(store, minor) for minor in store["names"]}
    for minor, table in known.items():
        registered = table.get("registered", table["contrib"])
        run = [name for name in table["contrib"] if name in names]
        known[minor] = {**table, "contrib": run, "registered": registered}
    for minor in wanted:
        run, registered = contrib_of(interpreter(minor), names)
        known[minor] = {**known[minor], "contrib": run, "registered": registered}
        print(minor, len(run), len(registered), file=sys.stderr)
    FACTS.write_text(written(packed(known)), encoding="utf-8")


if __name__ == "__main__":
    main()
