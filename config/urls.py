"""Addresses: health here, everything else in the rooms."""

from django.urls import include, path

from config.health import health

urlpatterns = [
    path("healthz", health, name="health"),
    path("", include("practice.urls")),
]
