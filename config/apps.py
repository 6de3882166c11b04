"""The front door as a Django app: it holds the system checks and the `prepare` command."""

from django.apps import AppConfig


class FrontDoorConfig(AppConfig):
    name = "config"
    verbose_name = "Rank 37"

    def ready(self) -> None:
        # Imported for what they do: tasks bind to this Celery app, and checks register themselves.
        import config.celery
        import config.checks  # noqa: F401
