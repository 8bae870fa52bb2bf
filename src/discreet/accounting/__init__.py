"""How losses add up: the lectures' theorems, filters for adaptive analysts, distributions for fixed batches."""

from typing import TYPE_CHECKING

from discreet.core.optional_imports import import_on_first_use

if TYPE_CHECKING:
    from discreet.accounting.calibration import calibrate, epsilon_for
    from discreet.accounting.charge_units import Charge
    from discreet.accounting.composition import Composed, compose
    from discreet.accounting.conversions import (
        delta_of_rho,
        epsilon_of_renyi,
        epsilon_of_rho,
        renyi_of_epsilon,
        rho_of_epsilon,
    )
    from discreet.accounting.filters import Filter, open_filter
    from discreet.accounting.in_memory_account import Account
    from discreet.accounting.loss_plots import plot_profile, plot_tradeoff
    from discreet.accounting.lower_bounds import Limit, limits
    from discreet.accounting.pld import LossDistribution
    from discreet.accounting.subsampling import Subsampled, subsampled
    from discreet.accounting.theorems import advanced, basic, binary_ish, group, optimal
    from discreet.accounting.tradeoff import true_positive_rates
else:
    __getattr__ = import_on_first_use(
        __name__,
        {
            "calibration": {"calibrate", "epsilon_for"},
            "charge_units": {"Charge"},
            "composition": {"Composed", "compose"},
            "conversions": {"delta_of_rho", "epsilon_of_renyi", "epsilon_of_rho", "renyi_of_epsilon", "rho_of_epsilon"},
            "filters": {"Filter", "open_filter"},
            "in_memory_account": {"Account"},
            "loss_plots": {"plot_profile", "plot_tradeoff"},
            "lower_bounds": {"Limit", "limits"},
            "pld": {"LossDistribution"},
            "subsampling": {"Subsampled", "subsampled"},
            "theorems": {"advanced", "basic", "binary_ish", "group", "optimal"},
            "tradeoff": {"true_positive_rates"},
        },
    )

__all__ = [
    "Account",
    "Charge",
    "Composed",
    "Filter",
    "Limit",
    "LossDistribution",
    "Subsampled",
    "advanced",
    "basic",
    "binary_ish",
    "calibrate",
    "compose",
    "delta_of_rho",
    "epsilon_for",
    "epsilon_of_renyi",
    "epsilon_of_rho",
    "group",
    "limits",
    "open_filter",
    "optimal",
    "plot_profile",
    "plot_tradeoff",
    "renyi_of_epsilon",
    "rho_of_epsilon",
    "subsampled",
    "true_positive_rates",
]
