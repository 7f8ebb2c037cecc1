"""Text that docstrings of several estimators share.

It is of fitted attributes and objectives, and of the warnings of `fit`.
"""

ATTRIBUTES = {
    "solver_": """
        solver_ : str
            The solver of the fit, one of those that the parameter ``solver`` names.
        """,
    "objective": """
        The fit minimises, over all weights w (coefficients, intercept, start, end,
        transition)::

            P(w) = alpha/2 ||w||^2 + 1/n sum_i L_i(w),
            L_i(w) = -log p(y_i | x_i; w)    with the default loss,
        """,
    "weights_": """
        classes_ : ndarray of shape (n_labels,)
            The labels, sorted.
        coef_ : ndarray or csr_array of shape (n_labels, n_features_in_)
            Weight of each feature for each label; sparse if that takes less memory, as
            with an l1 penalty.
        n_nonzero_ : int
            Number of weights that are not 0, in all arrays of weights.
        intercept_, start_, end_ : ndarrays of shape (n_labels,)
            Score of each label at every position, at the first and at the last.
        transition_ : ndarray of shape (n_labels, n_labels)
            Score of each transition, [from, to]. Like ``start_`` and ``end_`` it is
            -inf where `transitions` forbids.
        higher_transitions_ : tuple of ndarrays of shape (n_labels, n_labels, ...)
            Weights of 3, ..., order + 1 labels in a row; empty for ``order=1``. 0 where
            ``transition_`` forbids.
        edge_coef_ : csr_array of shape (n_labels^2, n_features_in_), or None
            Weights of the edge features; row j * n_labels + k is the transition from
            label j to label k. None without `edge_features`.
        parts_ : ndarray of shape (n_parts,), or None
            The parts of labels, sorted str; None without `label_features`. With parts,
            ``coef_``, ``intercept_``, ``start_`` and ``end_`` have a row for each part
            in place of each label.
        label_features_ : csr_array of shape (n_labels, n_parts), or None
            Which label has which part: the weights of labels are
            ``label_features_ @ coef_``. None without `label_features`.
        n_features_in_ : int
            Number of features of a position, after vectorizing.
        feature_names_in_ : ndarray of shape (n_features_in_,)
            Names of the features; a prediction takes data with the same names in the
            same order. Made when it is asked for. Exists only after a fit on data
            frames, or on packed sequences with names, as a step of a Pipeline makes
            them.
        vectorizer_ : SequenceVectorizer
            Converts dicts and strings. Exists only after a fit on these.
        alpha_ : float
            The value of alpha that was used.
        temperature_ : float
            The scores are divided by it before probabilities are computed; 0 after a
            fit with the hinge loss, which gives none.
        entropy_index_ : float
            1 if the probability of a labelling is in proportion to exp(score). If few
            labellings have one, 2 after a fit with ``loss="sparsemap"`` or
            ``"smooth_hinge"``, and 1.5 with ``"entmax15"``: the index of the entropy of
            Tsallis.
        """,
    "of_chains": """
        Parameters
        ----------
        {parameters}

        Attributes
        ----------
        {weights_}
        {fit_}
        """,
    "above_tol": """
        Warns
        -----
        ConvergenceWarning
            If the gap is above tol * primal after max_iter epochs.
        """,
    "n_iter_": """
        n_iter_ : int
            Number of epochs, or of iterations of L-BFGS.
        """,
    "history_": """
        history_ : dict of ndarrays of shape (n_certificates,)
            One value per certificate, of every epoch or of fewer: epoch, updates and
            oracle_calls (divided by n; each trial of a step size is a call, each search
            for one of the labellings that a visit mixes, and a forward pass alone half
            a call), seconds (without the certificates), primal, dual, gap; with
            ``X_val`` also val_score. Dual solvers also have non_uniformity, the
            quadratic mean of the gaps of the sequences, as visits found them, over
            their mean: its square bounds by which factor sampling by gap can be faster.
            Where visits were drawn inside a window, window is the
            part of the data that it had.
        """,
    "fit_": """
        {n_iter_}
        {certificate_}
        {best_epoch_}
        {history_}
        """,
    "certificate_": """
        primal_objective_, dual_objective_, duality_gap_ : float
            P(w), a lower bound of its minimum (D(mu), if the solver has dual
            variables), and their difference at the end of the fit, in nats per
            sequence.
        gap_target_ : float
            The gap at which the fit stops: tol * primal, or more where rounding lets no
            smaller gap be certified.
        """,
    "best_epoch_": """
        best_epoch_ : int
            Epoch of the best score on ``X_val`` and ``y_val``, the first of equal ones.
            Exists only after a fit with them. With `patience` the weights and the
            certificate belong to this epoch, and ``n_iter_`` and ``history_`` to all
            epochs.
        best_val_score_ : float
            The score of this epoch. Exists as ``best_epoch_`` does.
        """,
    "graph_weights_": """
        classes_ : ndarray of shape (n_labels,)
            The labels, sorted.
        coef_ : ndarray or csr_array of shape (n_labels, n_features_in_)
            Weight of each feature of a node for each label.
        intercept_ : ndarray of shape (n_labels,)
            Score of each label at every node.
        edge_coef_ : ndarray of shape (n_edge_features_in_, n_labels, n_labels)
            Score of each pair of labels [from, to] for each feature of an edge;
            symmetric where edges have no direction.
        n_features_in_, n_edge_features_in_ : int
            Number of features of a node, after vectorizing, and of an edge: 1, of value
            1, if edges have none.
        vectorizer_ : SequenceVectorizer
            Converts dicts and strings. Exists only after a fit on these.
        n_nonzero_ : int
            Number of weights that are not 0.
        alpha_, temperature_, entropy_index_ : float
            As of `SDCACRF`.
        """,
    "graphs": """
        >>> from skcrf_sdca import GraphCRF
        >>> X = [([["a"], ["b"], ["a"]], [[0, 1], [1, 2]])] * 9
        >>> crf = GraphCRF(alpha=0.01, random_state=0).fit(X, [["A", "B", "A"]] * 9)
        """,
}
