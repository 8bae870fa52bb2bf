"""Why people would take part: prices, votes, surveys and routes chosen privately, and what a lie is worth there."""

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
