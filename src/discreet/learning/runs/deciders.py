"""The decisions of a classifier, as an evaluation uses them. They are public and are not trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import BadInput
from discreet.learning.data.features import name_of
from discreet.learning.models.classifier import Classifier
from discreet.ledger.chain.entries import canonical
from discreet.measurement.domain import Domain, domain_to_json
from discreet.measurement.domain_checks import check_partition, check_scores
from discreet.measurement.feature_vectors import Deciding


@dataclass(frozen=True, slots=True)
class Decider:
    """A classifier as an evaluation uses it.

    Args:
        model: Name of its class.
        columns: Names of its features, in order.
        target: Column of the classes.
        bins: Number of bins of each column that has bins.
        seen: Digest of the columns that it was learned from (`digest_of`).
        deciding: Its decisions; column indices are those of features, then of the target.
    """

    model: str
    columns: tuple[str, ...]
    target: str
    bins: Mapping[str, int]
    seen: str
    deciding: Deciding

    @classmethod
    def of(cls, model: Classifier | Decider) -> Decider:
        """Return what a learned classifier decides. A `Decider` is returned as it is."""
        if isinstance(model, Decider):
            return model
        if not isinstance(model, Classifier) or not model.has_learned:
            raise BadInput("Only a learned classifier can be evaluated.", next_step="Let the curator learn it first.")
        names = tuple(name_of(feature) for feature in model.features)
        bins = {name_of(feature): count for feature in model.features if (count := model.bins_in(feature))}
        return cls(type(model).__name__, names, model.target, bins, digest_of(model.domain), model.deciding())

    def check(self, domain: Domain) -> None:
        """Refuse rows with other columns than those that the model was learned from, and decisions that do not fit the
        columns.

        Args:
            domain: Public description of the rows.
        """
        if self.seen != digest_of(domain):
            raise BadInput(
                "These rows have other columns, values or bins than those that the model was learned from.",
                next_step="Evaluate on a source with the same columns, under the catalog that it was learned under.",
            )
        check_partition(domain, self.deciding.partition)
        check_scores(domain, self.deciding.scores)
        deciding, label = self.deciding, len(self.columns)
        columns_read = {at for score in deciding.scores for at in score.entries}
        columns_read |= {split.column for level in deciding.partition for split in level}
        if deciding.classes != domain.column(self.target).size or label in columns_read:
            raise BadInput(
                "The decisions are about other classes, or depend on the class itself.",
                next_step="Evaluate it as it was learned.",
            )


def digest_of(domain: Domain) -> str:
    """Return a digest of the columns of rows.

    Args:
        domain: Public description of the rows.
    """
    return hashlib.sha256(canonical(domain_to_json(domain)["columns"]).encode()).hexdigest()
