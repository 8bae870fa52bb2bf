"""What an evaluation takes of a model: how it sees rows, and what it decides about them. It is public, and may come from anybody."""

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
    """A model of classes as an evaluation sees it.

    Args:
        model: What kind it is.
        columns: The names of its features, in order.
        target: The column of classes.
        bins: How many bins columns have, where they have any.
        seen: What the columns are, in short (`digest_of`).
        deciding: What it decides; places of columns are those of features, then of the target.
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
            raise BadInput(
                "What is evaluated is a model of classes that has learned.", next_step="Let the curator learn it first."
            )
        names = tuple(name_of(feature) for feature in model.features)
        bins = {name_of(feature): count for feature in model.features if (count := model.bins_in(feature))}
        return cls(type(model).__name__, names, model.target, bins, digest_of(model.domain), model.deciding())

    def check(self, domain: Domain) -> None:
        """Refuse rows that the model does not see as it saw those that it was learned from, and decisions that do not fit them.

        Args:
            domain: What is public about the rows.
        """
        if self.seen != digest_of(domain):
            raise BadInput(
                "These rows have other columns, values or bins than the model has learned.",
                next_step="Evaluate on a source with the same columns, under the catalog that it was learned under.",
            )
        check_partition(domain, self.deciding.partition)
        check_scores(domain, self.deciding.scores)
        deciding, label = self.deciding, len(self.columns)
        looked_at = {place for score in deciding.scores for place in score.entries}
        looked_at |= {split.column for level in deciding.partition for split in level}
        if deciding.classes != domain.column(self.target).size or label in looked_at:
            raise BadInput(
                "A model decides among the classes that there are, and not by the class itself.",
                next_step="Evaluate it as it was learned.",
            )


def digest_of(domain: Domain) -> str:
    """What the columns of rows are, in short.

    Args:
        domain: What is public about the rows.
    """
    return hashlib.sha256(canonical(domain_to_json(domain)["columns"]).encode()).hexdigest()
