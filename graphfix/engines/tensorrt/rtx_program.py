"""TensorRT for RTX, in the process of `graphfix.engines.hosting.serve`: it parses, builds and runs.

Parsing and building need no GPU: an engine is built ahead of time for a compute capability: that
which ``GRAPHFIX_COMPUTE_CAPABILITY`` names, or that of the GPU here, or 8.6 where there is none
that it builds for. Running needs a GPU of just that, and NVIDIA's driver, which also keeps the
device's memory here.

Sources: tensorrt-rtx 1.7.1 (``help(tensorrt_rtx_bindings)``; on an H200, of 9.0, its runtime
refuses every engine: "The engine cannot run on this GPU, which has compute capability 9.0");
the CUDA driver API, cuda.h.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable

trt: Any = importlib.import_module("tensorrt_rtx_bindings")
DEVICE = "device"  # the stage at which there is nothing to run on
_CAPABILITY = "SM86"
_MAJOR_MINOR = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_WORDS = 3
_NO_DRIVER = "catchCudaError"  # in what it says of the machine, not of the model


def version() -> str:
    """Return the version of the library."""
    return str(trt.__version__)


class Refusal(Exception):  # noqa: N818 - what the engine does, not a fault
    """What the engine says against a model, and at which stage: parse, build or run."""

    def __init__(self, stage: str, text: str) -> None:
        """Remember the stage."""
        super().__init__(text)
        self.stage = stage


class _Log:
    """The errors that the library logs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        # The library calls `log` of a class of its own, and `__init__` by name.
        kind: Any = type("Log", (trt.ILogger,), {"log": self._log})
        self.logger = kind.__new__(kind)
        trt.ILogger.__init__(self.logger)

    def _log(self, severity: Any, text: str) -> None:
        if severity <= trt.ILogger.Severity.ERROR:
            self.lines.append(text)

    def words(self) -> str:
        """Return the last errors that are about the model."""
        errors = [line for line in self.lines if _NO_DRIVER not in line]
        return "; ".join(errors[-_WORDS:]) or "it gives no reason"


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Parse a model and build an engine for it.

    Args:
        path: The .onnx file.
        shapes: The sizes that open dimensions take; 1 for those that are not named.

    Raises:
        Refusal: The parser or the builder does not take it.
    """
    log = _Log()
    builder = trt.Builder(log.logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, log.logger)
    if not parser.parse_from_file(path) or parser.num_errors:
        raise Refusal("parse", _complaint(parser.get_error(0)))
    config = builder.create_builder_config()
    capability = _capability()
    config.num_compute_capabilities = 1
    config.set_compute_capability(getattr(trt.ComputeCapability, capability), 0)
    profile = _profile(builder, network, shapes)
    if profile is not None:
        config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    if plan is None:
        raise Refusal("build", log.words())
    return _Engine(plan, log, capability)


def _complaint(error: Any) -> str:
    name, op = error.node_name(), error.node_operator()
    where = f"In node {name} with operator {op}: " if op else ""
    lines = str(error.desc()).splitlines()
    return where + " ".join(line for line in lines if _NO_DRIVER not in line)


def _capability() -> str:
    """Return the name of the compute capability to build for."""
    wanted = os.environ.get("GRAPHFIX_COMPUTE_CAPABILITY", "").upper()
    if not wanted:
        gpu = _GPU.here()
        is_built_for = gpu is not None and hasattr(trt.ComputeCapability, gpu.capability)
        return gpu.capability if gpu is not None and is_built_for else _CAPABILITY
    if not hasattr(trt.ComputeCapability, wanted):
        raise Refusal("build", f"it builds for no compute capability {wanted}")
    return wanted


def _profile(builder: Any, network: Any, shapes: dict[str, list[int]]) -> Any:
    """Return the sizes to build for; None where no input leaves any open."""
    profile, is_needed = builder.create_optimization_profile(), False
    for i in range(network.num_inputs):
        tensor = network.get_input(i)
        known = tuple(tensor.shape)
        if tensor.is_shape_tensor:
            # Its values are sizes that are not given; the builder tries them.
            ones = [1] * max(int(numpy.prod([max(size, 1) for size in known])), 1)
            profile.set_shape_input(tensor.name, ones, ones, ones)
            is_needed = True
        elif any(size < 0 for size in known):
            given = shapes.get(tensor.name, [1] * len(known))
            sizes = tuple(b if a < 0 else a for a, b in zip(known, given))  # noqa: B905 - Python 3.8
            profile.set_shape(tensor.name, sizes, sizes, sizes)
            is_needed = True
    return profile if is_needed else None


class _Engine:
    """An engine that was built, and its memory on the device while it runs."""

    def __init__(self, plan: Any, log: _Log, capability: str) -> None:
        self._plan = plan
        self._log = log
        self._capability = capability
        self._engine: Any = None

    def __call__(self, feed: dict[str, Any]) -> dict[str, Any]:
        """Run once.

        Raises:
            Refusal: There is no GPU here that the engine is built for, or it does not run there.
        """
        device = _Device(self._gpu())
        if self._engine is None:
            runtime = trt.Runtime(self._log.logger)
            self._engine = runtime.deserialize_cuda_engine(self._plan)
        if self._engine is None:
            raise Refusal("run", self._log.words())
        context = self._engine.create_execution_context()
        names = [self._engine.get_tensor_name(i) for i in range(self._engine.num_io_tensors)]
        mode = self._engine.get_tensor_mode
        outputs = [name for name in names if mode(name) == trt.TensorIOMode.OUTPUT]
        with device:
            for name in names:
                if name not in outputs:
                    self._give(context, device, name, feed[name])
            results = {name: self._place(context, device, name) for name in outputs}
            if not context.execute_async_v3(device.stream):
                raise Refusal("run", self._log.words())
            return {name: device.read(name, array) for name, array in results.items()}

    def _gpu(self) -> _GPU:
        gpu, built = _GPU.here(), f"it builds an engine for {self._capability.lower()}"
        if gpu is None:
            raise Refusal(DEVICE, f"{built}; there is no GPU here to run that on")
        if gpu.capability != self._capability:
            other = gpu.capability.lower()
            raise Refusal(DEVICE, f"{built}; the GPU here is {other}, which does not run that")
        return gpu

    def _give(self, context: Any, device: _Device, name: str, value: Any) -> None:
        wanted = trt.nptype(self._engine.get_tensor_dtype(name))
        array = numpy.ascontiguousarray(value, dtype=wanted)
        if not context.set_input_shape(name, array.shape):
            raise Refusal("run", self._log.words())
        if self._engine.is_shape_inference_io(name):
            device.kept.append(array)
            context.set_tensor_address(name, array.ctypes.data)
        else:
            context.set_tensor_address(name, device.write(name, array))

    def _place(self, context: Any, device: _Device, name: str) -> Any:
        shape = tuple(context.get_tensor_shape(name))
        if any(size < 0 for size in shape):
            raise Refusal("run", f"the size of output {name} depends on data")
        array = numpy.empty(shape, dtype=trt.nptype(self._engine.get_tensor_dtype(name)))
        context.set_tensor_address(name, device.take(name, array.nbytes))
        return array


class _GPU:
    """The first GPU of this machine, through the driver.

    Attributes:
        driver: The library.
        device: The driver's handle of the GPU.
        capability: Its compute capability, as ``SM86``.
    """

    def __init__(self, driver: Any, device: Any) -> None:
        """Ask what it is."""
        self.driver, self.device = driver, device
        numbers = [ctypes.c_int() for _ in _MAJOR_MINOR]
        for number, attribute in zip(numbers, _MAJOR_MINOR):  # noqa: B905 - Python 3.8
            driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, device)
        self.capability = "SM" + "".join(str(number.value) for number in numbers)

    @classmethod
    def here(cls) -> _GPU | None:
        """Return it; None where there is none, or no driver."""
        try:
            driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
        except OSError:
            return None
        device = ctypes.c_int()
        if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
            return None
        return cls(driver, device)


class _Device:
    """The memory of a GPU."""

    def __init__(self, gpu: _GPU) -> None:
        self._driver, self._device, self._context = gpu.driver, gpu.device, ctypes.c_void_p()
        self._places: dict[str, Any] = {}
        self.kept: list[Any] = []
        self.stream = 0
        self._ask("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), self._device)
        self._ask("cuCtxSetCurrent", self._context)

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *_: object) -> None:
        for place in self._places.values():
            self._driver.cuMemFree_v2(place)
        self._driver.cuDevicePrimaryCtxRelease_v2(self._device)

    def take(self, name: str, size: int) -> int:
        """Return the address of memory for a tensor."""
        place = ctypes.c_uint64()
        self._ask("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(max(size, 1)))
        self._places[name] = place
        return place.value

    def write(self, name: str, array: Any) -> int:
        """Return the address of a copy of an array."""
        address = self.take(name, array.nbytes)
        source = ctypes.c_void_p(array.ctypes.data)
        self._ask("cuMemcpyHtoD_v2", self._places[name], source, ctypes.c_size_t(array.nbytes))
        return address

    def read(self, name: str, array: Any) -> Any:
        """Return an array, filled with what the device has computed."""
        self._ask("cuCtxSynchronize")
        target = ctypes.c_void_p(array.ctypes.data)
        self._ask("cuMemcpyDtoH_v2", target, self._places[name], ctypes.c_size_t(array.nbytes))
        return array

    def _ask(self, function: str, *arguments: Any) -> None:
        code = getattr(self._driver, function)(*arguments)
        if code:
            raise Refusal("run", f"the driver answers {function} with {code}")
