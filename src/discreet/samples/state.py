"""A state: adults with zip code, birth date and sex, as on a voter list; some of them were in hospital."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

LAST_BIRTHDAY = date(2006, 12, 31)
"""The youngest adult was born on this day at the latest."""
PEOPLE_PER_ZIP = 2_500
LEAST_ZIPS = 32
CONDITIONS = ("asthma", "broken bone", "cancer", "diabetes", "heart disease", "HIV", "infection", "pregnancy")

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class State:
    """A voter list; row i is person i. Birth dates are days since 1970."""

    zips: Ints
    born: Ints
    is_male: npt.NDArray[np.bool_]
    zip_count: int

    def quasi_identifiers(self) -> Ints:
        """Return one number per person for zip code, birth date and sex: equal if all three are equal."""
        return ((self.zips * 100_000) + self.born + 50_000) * 2 + self.is_male

    def describe(self, person: int) -> str:
        """Describe a person as on the voter list."""
        zip_code, born = zip_name(int(self.zips[person])), birth_date(int(self.born[person]))
        return f"zip {zip_code}, born {born}, {'M' if self.is_male[person] else 'F'}"


def state(*, people: int = 1_500_000, seed: int = 0) -> State:
    """Generate a voter list; the same seed gives the same list.

    Zip codes typically have about 2,500 adults, with a large variation; there are fewer people above 60. About nine in
    ten people are unique by zip code, birth date and sex, as Sweeney (2000) found for the 1990 census (87 %). Larger
    zip codes give fewer: Golle (2006) found 63 % for the 2000 census.
    """
    rng = np.random.default_rng(seed)
    count = max(LEAST_ZIPS, people // PEOPLE_PER_ZIP)
    sizes = rng.lognormal(0, 0.8, count)
    zips = np.minimum(np.searchsorted(np.cumsum(sizes / sizes.sum()), rng.random(people)), count - 1)
    ages = np.arange(82)  # beyond 18
    weights = np.where(ages < 45, 1.0, np.maximum(0.02, 1 - (ages - 45) / 36))
    years = np.searchsorted(np.cumsum(weights / weights.sum()), rng.random(people))
    last = (LAST_BIRTHDAY - date(1970, 1, 1)).days
    born = last - np.minimum(years, 81) * 365 - rng.integers(0, 365, people)
    return State(zips.astype(np.int64), born.astype(np.int64), rng.random(people) < 0.49, count)


def zip_name(number: int) -> str:
    """Return the zip code with five digits."""
    return f"{10_000 + number:05d}"


def birth_date(day: int) -> str:
    """Return the date in ISO format."""
    return date.fromordinal(date(1970, 1, 1).toordinal() + day).isoformat()
