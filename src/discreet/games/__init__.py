"""Mechanism design with differential privacy: prices, votes, surveys and routes, and how little a lie gains."""

from discreet.games.auction import DigitalGoods
from discreet.games.facilities import FacilityLocation
from discreet.games.private_choice import Choice, Mixture
from discreet.games.survey import FairQuery
from discreet.games.traffic import Route, Traffic
from discreet.games.truth_checks import Truthfulness, truthfulness
from discreet.games.voting import borda, plurality

__all__ = [
    "Choice",
    "DigitalGoods",
    "FacilityLocation",
    "FairQuery",
    "Mixture",
    "Route",
    "Traffic",
    "Truthfulness",
    "borda",
    "plurality",
    "truthfulness",
]
