"""NVIDIA devices: read through NVML where there are some, refused with a reason where there are none."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench import gpu_check
from gpu_worker.ranks.devices import read_devices


class StandIn:
    """NVML's functions with one warm device behind them."""

    NVML_TEMPERATURE_GPU, NVML_CLOCK_SM = 0, 1

    def __init__(self):
        self.open = False

    def nvmlInit(self):
        self.open = True

    def nvmlShutdown(self):
        self.open = False

    def nvmlDeviceGetCount(self):
        return 1

    def __getattr__(self, name):
        answers = {
            "nvmlDeviceGetHandleByIndex": 0,
            "nvmlDeviceGetName": "a device",
            "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=10, total=100),
            "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=25),
            "nvmlDeviceGetPowerUsage": 250_000,
            "nvmlDeviceGetTemperature": 71,
            "nvmlDeviceGetClockInfo": 900,
            "nvmlDeviceGetMaxClockInfo": 1980,
            "nvmlDeviceGetCurrentClocksThrottleReasons": 0x4 | 0x40 | 0x1,
        }
        return lambda *arguments: answers[name]


def test_a_device_is_read_with_units_and_the_reasons_of_its_slowness():
    library = StandIn()
    (device,) = read_devices(library)
    assert (device.busy_share, device.power_w, device.sm_clock_mhz) == (0.25, 250.0, 900)
    assert device.throttled_by == ("power cap set by software", "hardware thermal slowdown")
    assert not library.open


def test_where_there_is_no_device_the_check_refuses_with_one_line(monkeypatch, capsys):
    def nothing():
        raise gpu_check.NoDevice("torch sees no CUDA device; see nvidia-smi")

    monkeypatch.setattr(gpu_check, "devices", nothing)
    assert gpu_check.main([]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.splitlines() == ["no GPU check here: torch sees no CUDA device; see nvidia-smi"]


@pytest.mark.parametrize(("count", "backend"), [(1, "gloo"), (2, "nccl"), (8, "nccl")])
def test_nccl_carries_collectives_only_where_each_rank_has_a_device(count, backend):
    assert gpu_check.backend_for(count) == backend
