"""The local model: each device randomizes its own answers, so the collector need not be trusted with true values."""

from discreet.local.collector.collector import Collector
from discreet.local.collector.local_estimates import Estimate, MeanEstimate
from discreet.local.device.client import Client, ClientRefused
from discreet.local.tasks.protocol_choice import Choice, auto
from discreet.local.tasks.simulate import collect, simulate
from discreet.local.tasks.task import Task

__all__ = [
    "Choice",
    "Client",
    "ClientRefused",
    "Collector",
    "Estimate",
    "MeanEstimate",
    "Task",
    "auto",
    "collect",
    "simulate",
]
