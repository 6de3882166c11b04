"""Incidents, their causes, calibration and bank."""

from django.apps import AppConfig


class ScenariosConfig(AppConfig):
    name = "scenarios"
