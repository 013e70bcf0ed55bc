"""TensorRT as an engine family."""

from __future__ import annotations

from collections.abc import Mapping

from graphfix.engines.engine import Engine, Release

_ALIASES = {
    "trt5": "trt5.1",
    "trt7": "trt7.2",
    "trt8": "trt8.6",
    "trt9": "trt9.3",
    "trt10": "trt10.10",
    "trt11": "trt11.1",
}


class TensorRT(Engine):
    """NVIDIA's TensorRT, through its ONNX parser."""

    family = "trt"
    title = "TensorRT"
    spellings = ("tensorrt",)
    order = 1
    example = "trt8"

    def aliases(self) -> Mapping[str, str]:
        """Return the majors; the family alone means none of them."""
        return _ALIASES

    def hint(self, alias: str) -> str:
        """Return what to type on a Jetson whose TensorRT is an older one."""
        from graphfix.engines.tensorrt.releases import older_jetsons

        return older_jetsons(alias, _ALIASES[alias])

    def releases(self) -> tuple[Release, ...]:
        """Return the releases of JetPack and of the containers that hold a TensorRT."""
        from graphfix.engines.tensorrt.releases import releases

        return releases()

    def release_named(self, name: str) -> Release | None:
        """Return the release that a name such as ``jetpack5.1`` means."""
        from graphfix.engines.tensorrt.releases import release_named

        return release_named(name)
