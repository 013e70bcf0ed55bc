"""Edits by hand: names in bodies, outputs and inputs moved, and a batch of 1 that becomes free."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto

from benchmarks.attack.building import Case, Job, Net, feeds_in
from benchmarks.attack.families import control
from graphfix.edits.dynamic import Dynamic
from graphfix.edits.ends import (
    AddOutput,
    DropInput,
    KeepOutputs,
    ReorderInputs,
    ReorderOutputs,
)
from graphfix.edits.names import Prefix, Rename, RenameNode
from graphfix.edits.preprocessing import InputType, Layout, OutputType
from graphfix.edits.sizes import Dim

ITEMS = (1, 2, 3, 5, 6, 7, 8, 77, 129, 256, 257, 300)


def renamed() -> Iterator[Case]:
    """Yield edits of models with bodies and functions that use names again."""
    for place, case in enumerate(control.cases()):
        draw = random.Random(f"edit {place}")
        if draw.random() > 0.5:
            continue
        jobs = [job for job in (_edit(draw, case.model) for _ in range(2)) if job is not None]
        named = {job.name: job for job in jobs}
        if named:
            yield Case(case.name, "edits", case.model, case.feeds, list(named.values()))


def _edit(draw: random.Random, model: ModelProto) -> Job | None:
    graph = model.graph
    ins, outs = [i.name for i in graph.input], [o.name for o in graph.output]
    inner = sorted({o for n in graph.node for o in n.output if o and o not in outs})
    deep = sorted({o for n in _deep(graph) for o in n.output if o} - set(outs) - set(inner))
    same = {name: name for name in ins}
    equal = tuple((name, name) for name in outs)
    how = draw.choice(("input", "output", "inner", "deep", "prefix", "node", "ins", "outs", "keep", "add", "drop", "type", "dim"))
    # A name that a body, a function or another tensor has already is the hard one.
    taken = draw.choice(["fresh", *deep[:3], *inner[:2]] or ["fresh"])
    if how == "input" and ins:
        old = draw.choice(ins)
        return Job(f"edit --rename {old}={taken}", "edit", {"edits": [Rename(old, taken)]}, {**same, old: taken}, equal)
    if how == "output":
        old = draw.choice(outs)
        pairs = tuple((o, taken if o == old else o) for o in outs)
        return Job(f"edit --rename {old}={taken}", "edit", {"edits": [Rename(old, taken)]}, same, pairs)
    if how in ("inner", "deep") and (inner if how == "inner" else deep):
        old = draw.choice(inner if how == "inner" else deep)
        return Job(f"edit --rename {old}={taken}", "edit", {"edits": [Rename(old, taken)]}, same, equal)
    if how == "prefix":
        return Job("edit --prefix p_", "edit", {"edits": [Prefix("p_")]}, same, equal)
    if how == "node":
        named = [n.name for n in graph.node if n.name]
        if named:
            return Job("edit --rename-node", "edit", {"edits": [RenameNode(named[0], "other")]}, same, equal)
    if how == "ins" and len(ins) > 1:
        return Job("edit --reorder-inputs", "edit", {"edits": [ReorderInputs((ins[-1],))]}, same, equal)
    if how == "outs" and len(outs) > 1:
        return Job("edit --reorder-outputs", "edit", {"edits": [ReorderOutputs((outs[-1],))]}, same, equal)
    if how == "keep" and len(outs) > 1:
        kept = draw.choice(outs)
        return Job(f"edit --keep-outputs {kept}", "edit", {"edits": [KeepOutputs((kept,))]}, same, ((kept, kept),))
    if how == "add" and inner:
        return Job("edit --add-output", "edit", {"edits": [AddOutput(draw.choice(inner))]}, same, equal)
    if how == "drop" and "cond" in ins:
        left = {name: name for name in ins if name != "cond"}
        return Job("edit --drop-input cond=1", "edit", {"edits": [DropInput("cond", "1")]}, left, equal)
    if how == "dim":
        return Job("edit --dim N=3", "edit", {"edits": [Dim("N", 3)]}, same, equal)
    return None


def _deep(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from attribute.g.node
                yield from _deep(attribute.g)


# One step of a program on [1, 4]; {x} is read, {y} is made. Those that mix the items, or have the
# size written into them, are the ones that must be found.
ROWS = (
    "{y} = Relu({x})", "{y} = Softmax<axis=1>({x})", "{y} = Softmax<axis=0>({x})", "k = Constant<value=float[1,4]{{1,2,3,4}}>() {y} = Add({x},k)",
    "k = Constant<value=float[4]{{1,2,3,4}}>() {y} = Mul({x},k)", "k = Constant<value=float[4,4]{{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}}>() {y} = MatMul({x},k)",
    "s = Constant<value_ints=[1,2,2]>() t = Reshape({x},s) u = Transpose<perm=[0,2,1]>(t) v = Constant<value_ints=[1,4]>() {y} = Reshape(u,v)",
    "s = Constant<value_ints=[-1,2,2]>() t = Reshape({x},s) v = Constant<value_ints=[-1,4]>() {y} = Reshape(t,v)",
    "s = Constant<value_ints=[2,-1]>() t = Reshape({x},s) u = Transpose(t) v = Constant<value_ints=[1,4]>() {y} = Reshape(u,v)",
    "m = ReduceMean<axes=[0]>({x}) {y} = Sub({x},m)", "m = ReduceMean<axes=[1]>({x}) {y} = Sub({x},m)", "m = ReduceMax<axes=[0,1]>({x}) {y} = Sub({x},m)",
    "z = Constant<value_int=0>() {y} = CumSum({x},z)", "z = Constant<value_int=1>() {y} = CumSum({x},z)",
    "t = Transpose({x}) u = MatMul({x},t) {y} = MatMul(u,{x})", "s = Shape({x}) z = Constant<value_ints=[0]>() n = Gather(s,z) f = Cast<to=1>(n) {y} = Mul({x},f)",
    "s = Shape({x}) z = Constant<value_ints=[0]>() n = Gather(s,z) k = Constant<value_ints=[77]>() c = Less(n,k) g = Neg({x}) {y} = Where(c,{x},g)",
    "s = Size({x}) k = Constant<value_int=1024>() c = Greater(s,k) f = Cast<to=1>(c) {y} = Add({x},f)",
    "a = Constant<value_ints=[0]>() b = Constant<value_ints=[1]>() {y} = Slice({x},a,b,a)", "a = Constant<value_ints=[-1]>() e = Constant<value_ints=[9]>() z = Constant<value_ints=[0]>() {y} = Slice({x},a,e,z)",
    "a = Constant<value_ints=[0]>() {y} = Gather<axis=0>({x},a)", "a = Constant<value_ints=[0]>() t = Gather<axis=0>({x},a) {y} = Add({x},t)",
    "f = Flatten<axis=0>({x}) v = Constant<value_ints=[1,4]>() {y} = Reshape(f,v)", "z = Constant<value_ints=[0]>() t = Squeeze({x},z) {y} = Unsqueeze(t,z)",
    "p = Constant<value=float[6,4]{{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,1,1,1,1,2,2,2,2}}>() s = Shape({x}) z = Constant<value_ints=[0]>() n = Gather(s,z) t = Slice(p,z,n,z) {y} = Add({x},t)",
    "i = ArgMax<axis=0,keepdims=1>({x}) f = Cast<to=1>(i) {y} = Add({x},f)", "i = ArgMax<axis=1,keepdims=1>({x}) f = Cast<to=1>(i) {y} = Add({x},f)",
    "k = Constant<value_ints=[1]>() t, i = TopK<axis=0>({x},k) {y} = Add({x},t)", "k = Constant<value_ints=[4]>() {y}, i = TopK<axis=1>({x},k)",
    "s = Constant<value_ints=[1,4]>() o = ConstantOfShape(s) {y} = Add({x},o)", "s = Shape({x}) o = ConstantOfShape(s) {y} = Add({x},o)",
    "s = Constant<value_ints=[1,4]>() t = Constant<value_float=2.0>() e = Expand(t,s) {y} = Mul({x},e)", "r = Constant<value_ints=[1,1]>() {y} = Tile({x},r)",
    "z = Constant<value_int=0>() l = Constant<value_int=1>() d = Constant<value_int=1>() r = Range(z,l,d) f = Cast<to=1>(r) {y} = Add({x},f)",
    "s = Shape({x}) z = Constant<value_ints=[0]>() n = Gather(s,z) c = Cast<to=2>(n) d = Cast<to=1>(c) {y} = Add({x},d)",
    "s = Shape({x}) z = Constant<value_ints=[0]>() n = Gather(s,z) c = Cast<to=10>(n) d = Cast<to=1>(c) {y} = Add({x},d)",
    "e = Einsum<equation=\"ij,kj->ik\">({x},{x}) {y} = MatMul(e,{x})", "{y} = Einsum<equation=\"ij->ij\">({x})",
    "z = Constant<value=int64[1,2]{{0,1}}>() u = Constant<value_floats=[5.0]>() {y} = ScatterND({x},z,u)", "z = Constant<value=int64[1,1]{{0}}>() t = GatherND({x},z) {y} = Add({x},t)",
    "p = Constant<value_ints=[0,0,1,0]>() t = Pad({x},p) a = Constant<value_ints=[0]>() b = Constant<value_ints=[-1]>() {y} = Slice(t,a,b,a)",
    "z = Constant<value_int=0>() f = Cast<to=1>(z) n = ReduceSum<keepdims=0>({x}) {y} = Add({x},n)", "t = Transpose({x}) u = Softmax<axis=0>(t) {y} = Transpose(u)",
    "n = NonZero({x}) g = Cast<to=1>(n) h = ReduceMax<keepdims=0>(g) {y} = Add({x},h)", "t = ReduceL2<axes=[1]>({x}) {y} = Div({x},t)",
    "w = Constant<value=float[4]{{1,1,1,1}}>() {y} = LayerNormalization<axis=1>({x},w)", "u = Constant<value=bool[1]{{1}}>() {y} = Compress<axis=0>({x},u)",
    "c = Concat<axis=0>({x},{x}) a = Constant<value_ints=[0]>() b = Constant<value_ints=[1]>() {y} = Slice(c,a,b,a)", "c = Concat<axis=1>({x},{x}) a = Constant<value_ints=[0]>() b = Constant<value_ints=[4]>() d = Constant<value_ints=[1]>() {y} = Slice(c,a,b,d)",
    "k = Constant<value=bool[1,4]{{1,0,1,0}}>() z = Constant<value_float=0.0>() {y} = Where(k,{x},z)", "{y} = Identity({x})",
    "s = Split<axis=0>({x}) {y} = Neg(s)", "t = Constant<value=float[1,1]{{3}}>() {y} = Div({x},t)",
    "o = Trilu<upper=1>({x}) {y} = Identity(o)", "l = EyeLike({x}) {y} = Add({x},l)",
)  # fmt: skip


def dynamic() -> Iterator[Case]:
    """Yield programs on a batch of 1 that is to become free."""
    for first in range(len(ROWS)):
        for round_ in range(7):
            draw = random.Random(f"dynamic {first} {round_}")
            chosen = [ROWS[first]] if round_ == 0 else [draw.choice(ROWS), ROWS[first]] if round_ % 2 else [ROWS[first], draw.choice(ROWS), draw.choice(ROWS)]
            made = _program(chosen)
            feeds = [{"x": np.round(np.random.default_rng(n).normal(size=(n, 4)) * 2, 1).astype(np.float32)} for n in ITEMS]
            job = Job("edit --dynamic x=Nx4", "items", {"edits": [Dynamic((("x", ("N", 4)),))]})
            yield Case(f"{first}-{round_}", "dynamic", made, feeds, [job])


def _program(steps: list[str]) -> ModelProto:
    """Put steps one behind the other; what a step calls inside gets its number."""
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    read, made = "x", ModelProto()
    for at, step in enumerate(steps):
        text = f"{head} g (float[1,4] X) => (float[] Y) {{ {step.format(x='X', y='Y')} }}"
        part = onnx.parser.parse_model(text)
        last = "y" if at == len(steps) - 1 else f"h{at}"
        names = {"X": read, "Y": last}
        for node in part.graph.node:
            for field in (node.input, node.output):
                field[:] = [names.setdefault(name, f"{name}{at}") if name else "" for name in field]
        read = last
        if not at:
            made.CopyFrom(part)
            made.graph.input[0].name, made.graph.output[0].name = "x", "y"
        else:
            made.graph.node.extend(part.graph.node)
    return onnx.shape_inference.infer_shapes(made)
