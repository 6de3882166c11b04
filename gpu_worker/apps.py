"""The lab: experiments, their queue, and what they measured."""

from django.apps import AppConfig


class GpuWorkerConfig(AppConfig):
    name = "gpu_worker"
