"""Every error of Discreet, in one tree.

    DiscreetError
    ├── BadInput (also a ValueError)      bad-input: an argument cannot be used
    │   ├── BadEpsilon                    bad-epsilon
    │   ├── BadDelta                      bad-delta
    │   ├── BadSensitivity                bad-sensitivity
    │   ├── BadBounds                     bad-bounds
    │   ├── BadGranularity                bad-granularity
    │   ├── BadProbability                bad-probability
    │   ├── BadData                       bad-data
    │   ├── BadCatalog                    bad-catalog
    │   ├── BadTask                       bad-task
    │   ├── BadRelease                    bad-release
    │   ├── NoLedger                      no-ledger
    │   ├── NoSecret                      no-secret
    │   ├── SourceChanged                 source-changed
    │   │   └── SourceUnsteady            source-unsteady
    │   ├── ScaleOutOfRange               scale-out-of-range
    │   └── UnboundedSensitivity          unbounded-sensitivity
    ├── QueryRefused                      query-refused: the query cannot be answered as it stands
    │   ├── UnparsableQuery               unparsable
    │   ├── NotAllowed                    not-allowed
    │   ├── UnknownName                   unknown-name
    │   ├── JoinsPeople                   joins-people
    │   ├── NeedsBounds                   needs-bounds
    │   ├── NeedsDelta                    needs-delta
    │   ├── NeedsValues                   needs-values
    │   └── TooLarge                      too-large
    ├── ReportRefused                     report-refused: a message from a device cannot be counted
    │   ├── WrongVersion                  wrong-version
    │   ├── WrongTask                     wrong-task
    │   ├── TruncatedReport               truncated
    │   ├── CorruptReport                 corrupt
    │   ├── ReplayedReport                replayed
    │   ├── OutOfDomain                   out-of-domain
    │   ├── TooManyReports                too-many-reports
    │   ├── ReportTooLong                 too-long
    │   ├── OverQuota                     over-quota
    │   └── TaskClosed                    task-closed
    ├── TooFewReports                     too-few-reports
    ├── UnknownTask                       unknown-task
    ├── NoAccess                          no-access
    │   └── Forbidden                     forbidden
    ├── UnknownDataset                    unknown-dataset
    ├── TooMany                           too-many
    ├── Unreachable                       unreachable: a server does not answer
    ├── MissingPackage (also an ImportError)  missing-package: an optional package is not installed
    ├── EngineFailure                     engine-failure
    │   └── Cancelled                     cancelled
    ├── BudgetExceeded                    budget-exceeded
    ├── NotAnswered                       not-answered
    ├── UnknownSaved                      unknown-saved
    ├── RequestConflict                   request-conflict
    ├── NameTaken                         name-taken
    ├── RunChanged                        run-changed
    ├── OutOfTime                         out-of-time
    ├── UnknownSession                    unknown-session
    ├── SessionEnded                      session-ended
    ├── UnknownAccount                    unknown-account
    ├── AccountFrozen                     account-frozen
    ├── StoreUnavailable                  store-unavailable
    │   └── WrongFormat                   wrong-format
    ├── WrongNeighbours                   wrong-neighbours
    ├── WrongUnit                         wrong-unit
    └── LedgerDamaged                     ledger-damaged
        ├── NoAnchor                      no-anchor
        └── LedgerEdited                  ledger-edited

Each error says what is wrong, then what to do next. The text never carries data, an id or a time: an error message
is a release like any other. Each code has a section in `docs/reference/errors.md`; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple


class TextSpan(NamedTuple):
    """Part of a text: characters from `start` up to `end`; lines and columns begin at 1."""

    start: int
    end: int
    line: int
    column: int


class DiscreetError(Exception):
    """The root: catch this to catch everything that Discreet raises on purpose."""

    code: ClassVar[str] = "discreet-error"

    def __init__(self, problem: str, *, next_step: str) -> None:
        super().__init__(f"{problem} {next_step}")
        self.problem = problem
        self.next_step = next_step


class BadInput(DiscreetError, ValueError):
    """An argument cannot be used; nothing was drawn and nothing was spent."""

    code = "bad-input"


class BadEpsilon(BadInput):
    """A privacy parameter (epsilon, rho) is not a positive, finite, normal number."""

    code = "bad-epsilon"


class BadDelta(BadInput):
    """A delta is not a number between 0 and 1."""

    code = "bad-delta"


class BadSensitivity(BadInput):
    """A sensitivity is not a positive, finite number."""

    code = "bad-sensitivity"


class BadBounds(BadInput):
    """Lower and upper bounds are reversed, equal or not finite."""

    code = "bad-bounds"


class BadGranularity(BadInput):
    """A granularity is not a power of two."""

    code = "bad-granularity"


class BadProbability(BadInput):
    """A probability, quantile or confidence level is outside its range."""

    code = "bad-probability"


class BadData(BadInput):
    """The values to protect are NaN, infinite, of an unusable type or of an unusable shape."""

    code = "bad-data"


class BadCatalog(BadInput):
    """The catalog is missing a fact, or says something that cannot be; the text names the line."""

    code = "bad-catalog"


class BadTask(BadInput):
    """A collection task cannot be carried out as it was described."""

    code = "bad-task"


class BadRelease(BadInput):
    """A file is no saved release of synthetic data, or a damaged or newer one."""

    code = "bad-release"


class NoLedger(BadInput):
    """There is no ledger where one should be; none is begun unless somebody says so."""

    code = "no-ledger"


class NoSecret(BadInput):
    """The secret that the books are sealed with is not there, so they can be looked at and not written."""

    code = "no-secret"


class SourceChanged(BadInput):
    """The source is not the one that the data version was made of."""

    code = "source-changed"


class SourceUnsteady(SourceChanged):
    """The source changed while it was copied, or somebody else began a data version meanwhile."""

    code = "source-unsteady"


class ScaleOutOfRange(BadInput):
    """The noise asked for is wider or narrower than exact sampling covers."""

    code = "scale-out-of-range"


class UnboundedSensitivity(BadInput):
    """One person can change the answer without limit, so no amount of noise is enough."""

    code = "unbounded-sensitivity"


class QueryRefused(DiscreetError):
    """The query cannot be answered as it stands; nothing was charged and nothing was read.

    `place` is where in its text, `asked`, if that is known; `instead` are names of the catalog that a misspelt one may have meant.
    """

    code = "query-refused"

    def __init__(self, problem: str, *, next_step: str, instead: Sequence[str] = ()) -> None:
        super().__init__(problem, next_step=next_step)
        self.place: TextSpan | None = None
        self.asked = ""
        self.span: tuple[int, int] | None = None
        self.instead = tuple(instead)


class UnparsableQuery(QueryRefused):
    """The text is no single SELECT statement."""

    code = "unparsable"


class NotAllowed(QueryRefused):
    """The query uses something that is not on the list of what is known to be safe."""

    code = "not-allowed"


class UnknownName(QueryRefused):
    """A table, column or parameter that the catalog does not have, or has twice."""

    code = "unknown-name"


class JoinsPeople(QueryRefused):
    """A join would pair rows of different people."""

    code = "joins-people"


class NeedsBounds(QueryRefused):
    """A sum or an average of something whose bounds do not follow from the catalog."""

    code = "needs-bounds"


class NeedsDelta(QueryRefused):
    """Group keys that are not declared need private selection, which costs delta."""

    code = "needs-delta"


class NeedsValues(QueryRefused):
    """A column that is counted by has no finite domain that is public."""

    code = "needs-values"


class TooLarge(QueryRefused):
    """More groups, a longer text or a wider sum than is allowed."""

    code = "too-large"


class ReportRefused(DiscreetError):
    """A message from a device was not counted; nothing changed but the count of refusals."""

    code = "report-refused"


class WrongVersion(ReportRefused):
    """The message is of another version of the format."""

    code = "wrong-version"


class WrongTask(ReportRefused):
    """The message, or the collection to merge with, belongs to another task."""

    code = "wrong-task"


class TruncatedReport(ReportRefused):
    """The message is shorter or longer than what it says it carries."""

    code = "truncated"


class CorruptReport(ReportRefused):
    """The checksum does not fit the message."""

    code = "corrupt"


class ReplayedReport(ReportRefused):
    """The message was counted before."""

    code = "replayed"


class OutOfDomain(ReportRefused):
    """The message carries something that no device could have sent for this task."""

    code = "out-of-domain"


class TooManyReports(ReportRefused):
    """The sender has sent all that the task takes from one device."""

    code = "too-many-reports"


class ReportTooLong(ReportRefused):
    """The message is longer than any that a collector reads."""

    code = "too-long"


class OverQuota(ReportRefused):
    """The task, or the place that the message comes from, has sent all that the collector keeps."""

    code = "over-quota"


class TaskClosed(ReportRefused):
    """The collection takes no more reports."""

    code = "task-closed"


class TooFewReports(DiscreetError):
    """Fewer reports have come in than the task promised to wait for."""

    code = "too-few-reports"


class UnknownTask(DiscreetError):
    """No collection task has this name."""

    code = "unknown-task"


class NoAccess(DiscreetError):
    """No key, or one that opens nothing; the text is the same for every reason."""

    code = "no-access"


class Forbidden(NoAccess):
    """The key is good, but not for this."""

    code = "forbidden"


class UnknownDataset(DiscreetError):
    """No such dataset, or not for the holder of this key: both look the same."""

    code = "unknown-dataset"


class TooMany(DiscreetError):
    """More requests than the server allows."""

    code = "too-many"


class Unreachable(DiscreetError):
    """There is no server at that address, or it did not answer in time."""

    code = "unreachable"


class MissingPackage(DiscreetError, ImportError):
    """Something optional was asked for, and the package that does it is not installed."""

    code = "missing-package"


class EngineFailure(DiscreetError):
    """The engine failed after the charge. The text is always the same."""

    code = "engine-failure"


class Cancelled(EngineFailure):
    """Whoever asked took the query back while it was read. Its price was paid."""

    code = "cancelled"


class BudgetExceeded(DiscreetError):
    """The query would bring an account above its cap; nothing was charged and nothing was read."""

    code = "budget-exceeded"


class NotAnswered(DiscreetError):
    """A query was looked up, not asked, and there is no answer of it that this analyst has paid for."""

    code = "not-answered"


class UnknownSaved(DiscreetError):
    """There is no saved query of that number for whoever looks for it."""

    code = "unknown-saved"


class RequestConflict(DiscreetError):
    """A request id was used before, for another query."""

    code = "request-conflict"


class NameTaken(DiscreetError):
    """A release was to be called as another one is."""

    code = "name-taken"


class RunChanged(DiscreetError):
    """A run that was begun cannot go on: what it asks next is not what it asked before."""

    code = "run-changed"


class OutOfTime(DiscreetError):
    """A run has taken far longer than it was expected to. It goes on where it stopped when it is asked for again."""

    code = "out-of-time"


class UnknownSession(DiscreetError):
    """There is no session of that id open for whoever asks it."""

    code = "unknown-session"


class SessionEnded(DiscreetError):
    """A session has not as many queries left; what it has answered stays answered."""

    code = "session-ended"


class UnknownAccount(DiscreetError):
    """Nobody opened an account under that name, or the catalog does not list it any more."""

    code = "unknown-account"


class AccountFrozen(DiscreetError):
    """The owner, or a failure, has frozen the account."""

    code = "account-frozen"


class StoreUnavailable(DiscreetError):
    """The database that keeps the books cannot be read or written, so nothing is granted."""

    code = "store-unavailable"


class WrongFormat(StoreUnavailable):
    """What is stored has a format that this version does not read. Nothing is changed."""

    code = "wrong-format"


class WrongNeighbours(DiscreetError):
    """The catalog declares another neighbour relation than the books were kept for."""

    code = "wrong-neighbours"


class WrongUnit(DiscreetError):
    """The catalog protects somebody else than the books were kept for."""

    code = "wrong-unit"


class LedgerDamaged(DiscreetError):
    """The books do not add up, or are older than what was seen of them before."""

    code = "ledger-damaged"


class NoAnchor(LedgerDamaged):
    """The note of the head of the books is gone, so that nobody can say whether they are the newest."""

    code = "no-anchor"


class LedgerEdited(LedgerDamaged):
    """An entry does not bear the seal of the books, or one that they had is hidden: somebody wrote to the database without the secret."""

    code = "ledger-edited"
