"""Registers the estimators with eli5, which explains weights, if it is installed."""


def register_eli5() -> None:
    """Let eli5 explain the weights of the estimators of this package.

    Its functions, such as ``explain_weights``, ``show_weights`` and
    ``explain_weights_dfs``, then take estimators of chains, `skcrf_sdca.compat.CRF` and
    taggers, with ``top``, ``targets``, ``target_names``, ``feature_re`` and
    ``feature_filter``. Intercepts, and the weights of first and last labels, are the
    features ``<intercept>``, ``<start>`` and ``<end>``.

    Raises
    ------
    ImportError
        If eli5 is not installed.

    Examples
    --------
    >>> from skcrf_sdca.compat import register_eli5
    >>> register_eli5()                                # doctest: +SKIP
    >>> eli5.show_weights(crf, top=20)                 # doctest: +SKIP
    """
    from eli5 import explain_weights  # type: ignore

    from skcrf_sdca.compat._eli5 import EXPLAINED

    for cls, explained in EXPLAINED.items():
        explain_weights.register(cls)(explained)
