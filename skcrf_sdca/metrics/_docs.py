"""Text of docstrings that several metrics share, written once."""

METRIC_DOCS = {
    "pair": """
        y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
            True and predicted labels; sequences may be empty.
        """,
    "token_weight": """
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence: each of its tokens has this weight.
        """,
    "no_tokens": """
        zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
            Value if there is no token of positive weight. "warn" is 0.0 with a warning.
        """,
    "normalize": """
        normalize : {"true", "pred", "all"}, default=None
            Divide each row ("true") or each column ("pred") by its sum, or all by the
            sum of all; where a sum is 0, the shares are 0. By default counts.
        """,
    "warns": """
        Warns
        -----
        UndefinedMetricWarning
            See `zero_division`.
        """,
    "errors_and_warnings": """
        Raises
        ------
        ValueError
            If the numbers of sequences or the lengths of a sequence differ, or a label
            is missing.
        TypeError
            If an argument is not a list of label lists, or not all labels are of one
            type.

        {warns}
        """,
    "share_of_tokens": """
        Parameters
        ----------
        {pair}
        {token_weight}
        {no_tokens}

        Returns
        -------
        share : float
            In [0, 1].

        {errors_and_warnings}
        """,
    "score_errors": """
        Raises
        ------
        ValueError
            If the numbers of sequences or the lengths of a sequence differ, if a label
            is missing or ends in NUL, or if scikit-learn raises it.
        TypeError
            If an argument is not a list of label lists, or not all labels are of one
            type.
        """,
    "options_of_score": """
        ignore : collection of labels, default=()
            Labels to leave out of `labels`, or of all labels that occur:
            ``ignore=["O"]`` averages over the labels other than "O". Tokens with
            ignored labels still count as errors of the other labels.
        {token_weight}
        **kwargs
            For the function of scikit-learn: `average` (required if there are more than
            two labels, or labels are not 0 and 1), `labels`, `zero_division` and so on.
            Without any token or label, the value is `zero_division`.

        Returns
        -------
        score : float or ndarray of shape (n_labels,)

        {score_errors}
        """,
    "score": """
        Parameters
        ----------
        {pair}
        {options_of_score}
        """,
    "spans": """
        y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
            True and predicted labels, see `extract_spans`. Or n lists of spans, or the
            spans of one sequence: tuples (type, begin, end) or (begin, end, type) of
            tokens or characters, which may be nested and overlap. Each matches one
            equal span of its sequence. What follows these three is ignored, as are
            `scheme` and `strict`.
        {span_options}
        """,
    "labels_of_spans": """
        y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
            True and predicted labels, see `extract_spans`.
        {span_options}
        """,
    "span_options": """
        scheme : str, default="BIO"
            "BIO", "IOB1", "IO", "BIOES" or "BILOU": the meaning of the prefixes, see
            `extract_spans`.
        strict : bool, default=False
            Whether to ignore spans that are invalid in the scheme, see `extract_spans`.
            By default they are repaired, as conlleval does.
        types : sequence of str, default=None
            Span types to count, in this order; by default all that occur, sorted.
        """,
    "weight_of_spans": """
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence, the same for all its spans.
        """,
    "span_weight": """
        {weight_of_spans}
        zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
            Value of a ratio whose denominator is 0: precision without predicted spans,
            recall without true spans, F1 without both. "warn" is 0.0 with a warning.
            The averages over types ignore nan.
        """,
    "options_of_spans": """
        {spans}
        average : {"micro", "macro", "weighted", None}, default="micro"
            "micro" counts the spans of all types together, as "overall" in conlleval.
            "macro" is the mean over types, and "weighted" the mean weighted by the
            number of true spans. None returns one value for each type.
        {span_weight}
        """,
    "errors_of_spans": """
        Raises
        ------
        ValueError
            If the numbers of sequences or the lengths of a sequence differ, if an
            option is unknown, or if a label does not belong to the scheme; the message
            names the sequence and the item.
        TypeError
            If an argument is not a list of label lists, or one has labels and the other
            spans.
        """,
    "span_errors": """
        {errors_of_spans}

        {warns}
        """,
    "span_score": """
        Parameters
        ----------
        {options_of_spans}

        Returns
        -------
        score : float, or ndarray of shape (n_types,)

        {span_errors}
        """,
}
