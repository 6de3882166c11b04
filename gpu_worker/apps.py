"""The lab as a Django app: runs, evidence and the worker that serves them."""

from django.apps import AppConfig


class GpuWorkerConfig(AppConfig):
    name = "gpu_worker"
    verbose_name = "Lab"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Imported for what it does: a Celery worker of ours keeps a watch of its own over the queue.
        import gpu_worker.serving.watch  # noqa: F401
