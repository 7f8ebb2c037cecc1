"""The report of scores for each span type, as text or as a dict."""

from collections.abc import Collection
from typing import Any

from numpy.typing import ArrayLike

from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import Labels, SpanScheme, ZeroDivision
from skcrf_sdca.metrics._docs import METRIC_DOCS
from skcrf_sdca.metrics._spans import AVERAGES, averaged, span_counts

COLUMNS = ("precision", "recall", "f1-score", "support")


@shared_docs(METRIC_DOCS)
def span_classification_report(  # noqa: PLR0913 - the options are the interface
    y_true: Labels,
    y_pred: Labels,
    *,
    scheme: SpanScheme = "BIO",
    strict: bool = False,
    types: Collection[str] | None = None,
    digits: int = 2,
    output_dict: bool = False,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Return precision, recall, F1 and support of each span type, and their averages.

    Parameters
    ----------
    {spans}
    digits : int, default=2
        Number of decimals in the text.
    output_dict : bool, default=False
        Whether to return a dict of numbers, which are not rounded, instead of text.
    {span_weight}

    Returns
    -------
    report : str or dict
        The rows are the span types and "micro avg", "macro avg", "weighted avg". The
        dict is {row: {"precision": float, "recall": float, "f1-score": float,
        "support": int}}, as from :func:`sklearn.metrics.classification_report`.

    {span_errors}

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_classification_report
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"], ["B-LOC"]]
    >>> print(span_classification_report(y_true, y_pred))
                  precision    recall  f1-score   support
    <BLANKLINE>
             LOC       1.00      1.00      1.00         2
             PER       0.00      0.00      0.00         1
    <BLANKLINE>
       micro avg       0.67      0.67      0.67         3
       macro avg       0.50      0.50      0.50         3
    weighted avg       0.67      0.67      0.67         3
    <BLANKLINE>
    """
    counts = span_counts(y_true, y_pred, scheme, strict, types, sample_weight)
    precision = averaged("Precision", counts, None, zero_division, stacklevel=3)
    recall = averaged("Recall", counts, None, zero_division, stacklevel=3)
    f1 = averaged("F1", counts, None, zero_division, stacklevel=3)
    columns = [values.tolist() for values in (precision, recall, f1, counts.true)]
    rows = dict(zip(counts.types, zip(*columns, strict=True), strict=True))
    # Warnings were given above. Without types, averages are the value of zero_division.
    quiet = 0.0 if zero_division == "warn" else zero_division
    averages = {
        f"{average} avg": (
            *(averaged(name, counts, average, quiet) for name in counts.fractions()),
            counts.true.sum().item(),
        )
        for average in AVERAGES
    }
    if output_dict:
        both = rows | averages
        return {row: dict(zip(COLUMNS, both[row], strict=True)) for row in both}
    return _text(rows, averages, digits)


def _text(rows, averages, digits):
    """Return the rows as text in the layout of scikit-learn."""
    width = max(len(name) for name in [*rows, *averages, "." * digits])
    header = f"{'':>{width}} " + "".join(f" {column:>9}" for column in COLUMNS)

    def line(name, scores):
        *ratios, support = scores
        cells = [f" {value:>9.{digits}f}" for value in ratios] + [f" {support:>9}"]
        return f"{name:>{width}} " + "".join(cells)

    parts = [[line(name, block[name]) for name in block] for block in (rows, averages)]
    return "\n".join([header, "", *parts[0], "", *parts[1], ""])
