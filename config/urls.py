"""Addresses: health here, everything else in the rooms."""

from django.urls import include, path

from config.health import health

urlpatterns = [
    path("healthz", health, name="health"),
    path("", include("practice.urls")),
]

handler400 = "practice.views.errors.bad_request"
handler403 = "practice.views.errors.forbidden"
handler404 = "practice.views.errors.not_found"
handler500 = "practice.views.errors.server_error"
