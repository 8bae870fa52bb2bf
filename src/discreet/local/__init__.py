"""The untrusted curator: people randomize their own answers, so nobody has to be trusted with the truth."""

from discreet.local.choose import Choice, auto
from discreet.local.client import Client, ClientRefused
from discreet.local.collector import Collector
from discreet.local.estimate import Estimate, MeanEstimate
from discreet.local.simulate import collect, simulate
from discreet.local.task import Task

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
