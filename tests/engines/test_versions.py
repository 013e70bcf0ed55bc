"""Ranges of versions: what lies inside, what does not, and what is no range."""

from __future__ import annotations

import pytest

from graphfix.engines.versions import VersionedName, dotted, in_range, parse_name, sort_key


def version(name: str) -> VersionedName:
    parsed = parse_name(name)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("name", "family", "numbers", "variant"),
    [
        ("trt8.6", "trt", (8, 6), ""),
        ("trt6-fulldims", "trt", (6,), "fulldims"),
        ("ort-1.10", "ort", (1, 10), ""),
        ("ort-1.10-cuda", "ort", (1, 10), "cuda"),
        ("onnx2tf-1.20", "onnx2tf", (1, 20), ""),
        ("qnn-htp-2.20", "qnn-htp", (2, 20), ""),
        ("openvino2024.1", "openvino", (2024, 1), ""),
    ],
)
def test_names_are_taken_apart(
    name: str, family: str, numbers: tuple[int, ...], variant: str
) -> None:
    assert parse_name(name) == VersionedName(family, numbers, variant)


@pytest.mark.parametrize("name", ["", "trt", "8.6", "onnx2tf", "trt8.", "trt8.6-", "TRT8.6"])
def test_other_text_is_no_versioned_name(name: str) -> None:
    assert parse_name(name) is None


def test_versions_sort_as_numbers_and_variants_after_the_plain_version() -> None:
    names = ["trt10.0", "trt7.0", "trt6-fulldims", "trt9.3", "trt6", "trt10.10", "trt10.2"]
    keys = {name: sort_key(version(name).version, version(name).variant) for name in names}
    assert sorted(names, key=lambda name: keys[name]) == [
        "trt6",
        "trt6-fulldims",
        "trt7.0",
        "trt9.3",
        "trt10.0",
        "trt10.2",
        "trt10.10",
    ]
    assert dotted((10, 2)) == "10.2"


@pytest.mark.parametrize(
    ("spec", "inside", "outside"),
    [
        ("trt8.0..trt8.4", "trt8.0 trt8.2 trt8.4 trt8.4.3", "trt7.2 trt8.5 ort-8.2"),
        ("trt8.2..", "trt8.2 trt8.6 trt10.10", "trt8.0 trt8.1.9 ort-9.0"),
        ("..trt7.2", "trt5.1 trt6-fulldims trt7.2 trt7.2.3", "trt8.0 ort-1.10"),
        ("..trt8", "trt7.2 trt8.6", "trt9.3"),
        ("..trt6", "trt5.1 trt6", "trt6-fulldims trt7.0"),
        ("trt6", "trt6 trt6.0", "trt6-fulldims trt7.0"),
        ("trt6-fulldims", "trt6-fulldims", "trt6 trt7.0"),
        ("trt6-fulldims..", "trt6-fulldims trt7.0", "trt6"),
        ("trt8.6", "trt8.6 trt8.6.1", "trt8.5 trt8.60"),
        ("trt8", "trt8.0 trt8.6", "trt7.2 trt9.3"),
        ("trt10.1", "trt10.1", "trt10.10 trt10.15"),
        ("trt", "trt5.1 trt6-fulldims trt11.1", "ort-1.10"),
        ("*", "trt5.1 ort-1.10", ""),
        ("trt8.0..trt8.4, ort-1.10", "trt8.2 ort-1.10", "trt8.5 ort-1.9"),
        ("ort-1.8..ort-1.15", "ort-1.10 ort-1.10-cuda", "ort-1.20 trt8.0"),
    ],
)
def test_ranges_hold_what_they_say(spec: str, inside: str, outside: str) -> None:
    assert [name for name in inside.split() if not in_range(version(name), spec)] == []
    assert [name for name in outside.split() if in_range(version(name), spec)] == []


@pytest.mark.parametrize(
    "spec",
    ["", "..", "trt8.0...trt8.4", "trt8.6..trt8.0", "trt8.0..ort-1.10", "trt..", "8.6", "trt8.0,"],
)
def test_other_text_is_no_range(spec: str) -> None:
    with pytest.raises(ValueError, match="is no range"):
        in_range(version("trt8.6"), spec)


def test_what_is_like_another_version_lies_in_its_ranges_and_in_its_own() -> None:
    target = VersionedName("trt-rtx", (1, 7), like=version("trt11.1"))
    inside = ("trt-rtx", "trt-rtx1.7", "trt-rtx1.6..", "trt10.0..", "trt", "..trt11.1", "*")
    assert [spec for spec in inside if not in_range(target, spec)] == []
    outside = ("trt-rtx1.6", "..trt-rtx1.6", "trt8", "trt12..", "..trt10.10", "ort")
    assert [spec for spec in outside if in_range(target, spec)] == []
    assert not in_range(version("trt11.1"), "trt-rtx")
