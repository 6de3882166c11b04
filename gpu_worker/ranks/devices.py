"""What NVML tells of the machine's NVIDIA devices: clocks, power, memory, and why a device runs below its clock.

Written after NVML's documentation and tested with a stand-in for the library. It was not run on a device: there was
none at hand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

# nvmlClocksEventReasons: only those that explain a slow rank.
THROTTLES = {
    0x4: "power cap set by software",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


@dataclass(frozen=True)
class Device:
    """One reading of one device."""

    index: int
    name: str
    busy_share: float
    memory_used_bytes: int
    memory_total_bytes: int
    power_w: float
    temperature_c: int
    sm_clock_mhz: int
    sm_clock_limit_mhz: int
    throttled_by: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_devices(nvml: ModuleType | Any | None = None) -> list[Device]:
    """Every device that NVML shows. Raises OSError that says what is missing, or NVML's own error."""
    library = nvml or _library()
    with _opened(library):
        return [_read(library, index) for index in range(library.nvmlDeviceGetCount())]


def throttles(mask: int) -> tuple[str, ...]:
    return tuple(said for bit, said in THROTTLES.items() if mask & bit)


def _library() -> Any:
    try:
        import pynvml
    except ImportError:
        raise OSError("nvidia-ml-py is not installed; pip install nvidia-ml-py") from None
    return pynvml


@contextlib.contextmanager
def _opened(nvml: Any) -> Iterator[None]:
    nvml.nvmlInit()
    try:
        yield
    finally:
        nvml.nvmlShutdown()


def _read(nvml: Any, index: int) -> Device:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    return Device(
        index=index,
        name=str(nvml.nvmlDeviceGetName(handle)),
        busy_share=nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100,
        memory_used_bytes=int(memory.used),
        memory_total_bytes=int(memory.total),
        power_w=nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
        temperature_c=nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        sm_clock_mhz=nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        sm_clock_limit_mhz=nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM),
        throttled_by=throttles(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
    )
