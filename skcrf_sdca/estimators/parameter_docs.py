"""Text of docstrings that several estimators share, written once."""

from skcrf_sdca._utils.shared_docs import shared_docs

SHARED_DOCS = {
    "objective": """
        Minimises, over all weights w (coefficients, intercept, start, end,
        transition)::

            P(w) = alpha/2 ||w||^2 + 1/n sum_i L_i(w),
            L_i(w) = -log p(y_i | x_i; w)    with the default loss,
        """,
    "alpha": """
        alpha : float or "auto", default="auto"
            Strength of the L2 penalty; "auto" is 1/n, or 1 over the sum of the sample
            weights. In the terms of CRFsuite, ``c2 = n * alpha / 2``.
        """,
    "loss": """
        loss : {"log_loss", "softmax_margin", "hinge"}, default="log_loss"
            "log_loss" is the negative log-likelihood. "softmax_margin" adds to the
            score of every label path the cost of its wrong labels (Gimpel and Smith,
            NAACL 2010)::

                L_i(w) = T log sum_y exp((score(x_i, y) + cost_i(y)) / T)
                         - score(x_i, y_i)

            with the temperature T: a path that costs more must have a lower score.
            "hinge" is the loss of the structural SVM, the limit at T = 0::

                L_i(w) = max_y (score(x_i, y) + cost_i(y)) - score(x_i, y_i)

            It is for `SDCACRF` and `SGDCRF`. The model has scores, and no
            probabilities: methods such as ``predict_proba`` are then not there.
        temperature : float, default=1.0
            T > 0. The probabilities of the model are those of score / T. A small T
            comes near to the hinge loss, which ignores it.
        margin : float, default=1.0
            Factor of the cost; "log_loss" ignores it.
        cost : array-like of shape (n_labels, n_labels) or dict, default=None
            The cost[y, k] of label k where y is right, in the order of ``classes_``, or
            a dict {(y, k): cost} in which pairs that are left out cost 1. By default
            every wrong label costs 1 (the Hamming cost).
        class_weight : "balanced", dict {label: weight} or None, default=None
            Factor of the cost where the label is right, so that it costs more to miss a
            rare label. "balanced" is n_positions / (n_labels * positions of the label).
        """,
    "l1_ratio": """
        l1_ratio : float in [0, 1], default=0.0
            Part of the l1 norm in the penalty, of the elastic net
            alpha ((1 - l1_ratio) / 2 ||w||^2 + l1_ratio ||w||_1). Above 0, most weights
            are exactly 0; 1 is the l1 norm alone. In the terms of CRFsuite, c1 = n *
            alpha * l1_ratio and c2 = n * alpha * (1 - l1_ratio) / 2.
        """,
    "max_iter": """
        max_iter : int, default=100
            Maximum number of epochs; an epoch visits n sequences.
        """,
    "tol": """
        tol : float, default=1e-3
            The fit stops when the duality gap is at most tol * primal: by default, when
            the objective is proven to be within 0.1 % of its minimum. It also stops
            where rounding lets no smaller gap be certified, and warns of it.
        """,
    "patience": """
        patience : int, default=None
            With ``X_val`` and ``y_val`` in `fit`: end the fit after so many epochs
            without a better score on them, and return the model of the epoch with the
            best score, also if the fit ends otherwise. With None the score is only
            recorded, and the model is that of the last epoch.
        scoring : str or callable, default=None
            The score on ``X_val`` and ``y_val``, the larger the better: a name that
            :func:`skcrf_sdca.metrics.get_scorer` takes, or a function of (estimator,
            X, y) that returns a number. By default the micro-averaged F1 of spans if
            `transitions` is the name of a tagging scheme, else the accuracy, which
            ``score`` returns. For a table without ``lengths`` it is the accuracy. The
            F1 of spans needs every label; the accuracy leaves out unknown ones.
        """,
    "features": """
        features : {"all", "observed"}, default="all"
            Which pairs of a feature and a label have a weight. "observed" are those
            that occur in the training data, as CRFsuite chooses by default: the model
            is much smaller, and ``coef_`` a sparse array. Positions whose label is not
            known observe nothing.
        min_count : float > 0, default=None
            With ``features="observed"``: a pair has a weight only if the values of the
            feature at positions with the label sum to at least this, as with
            ``feature.minfreq`` of CRFsuite. A value of 1 counts once. A position that
            has one of several labels counts for each of them, one with soft labels by
            their probabilities. None keeps every pair that occurs.
        """,
    "order": """
        order : int, default=1
            How many labels before it a label depends on, 1 to 62. A chain of order 2
            has a weight for every three labels in a row, ``higher_transitions_[0]``,
            beside those of two in ``transition_``; and so on. A visit takes
            n_labels^(order+1) operations for each position, of the tuples whose
            transitions are allowed: with `transitions` there are fewer. `SDCACRF`,
            `OEGCRF` and `SAGNUSCRF` store numbers for as many tuples; `LBFGSCRF`,
            `SGDCRF` and `PassiveAggressiveCRF` store none.
        """,
    "edge_features": """
        edge_features : {"all"}, list of str or array of int, default=None
            The features that have a weight for every transition to the position too, in
            ``edge_coef_``: names, in which "*" stands for any characters, such as
            ``["word=*"]``, or numbers of features. With ``features="observed"`` they
            have weights of the transitions alone that they are observed with, where
            both labels are known or are one of several, and count as `min_count` says,
            by the product of both. A visit then takes n_labels^3 operations for each
            position, as for ``order=2``. Of a stream a name may match features that
            come later.
        """,
    "transitions": """
        transitions : str, ndarray or list of pairs, default=None
            Which label may follow which; by default every label may follow every label.
            Forbidden transitions have probability 0, in training and in prediction.

            * "BIO" (or "IOB2"), "IOB1", "IO", "BIOES" ("IOBES") or "BILOU" ("BILUO"),
              in capitals or small letters: those that the tagging scheme allows, for
              labels such as "B-PER" and "O". The scheme also determines which labels
              may begin and end a sequence.
            * "observed": only transitions, first labels and last labels that occur in
              y.
            * "open": these, and the transitions from and to the open labels, which may
              also begin and end a sequence. Open are the most frequent labels, that
              make up half of y. Every length of a sequence is possible, and so is every
              label at every position but the first and the last.
            * a bool array of shape (n_labels, n_labels), [from, to], in the order of
              ``classes_``: True means allowed.
            * a list of allowed pairs (from, to) of labels. If it has pairs
              (None, label), only their labels may begin a sequence; if it has pairs
              (label, None), only their labels may end one. Pairs with labels that do
              not occur in y are ignored.

            It is an error if y itself has a forbidden transition.
        """,
    "label_names": """
        label_names : list of str or dict {label: str}, default=None
            Names such as "B-PER" of labels that are ids: ``label_names[i]`` is that of
            label i. A tagging scheme, in `transitions` and of spans, reads the names;
            ``classes_`` and predictions are the ids.
        """,
    "unknown_label": """
        unknown_label : label, default=None
            The label in y that stands for labels that are not known, beside None, as
            -100 in data of Hugging Face. The known labels alone, and sets of labels of
            which one is right, train the model with the loss

                L_i(w) = -log sum_{y that agree with y_i} p(y | x_i; w),

            which is not convex: a sequence of convex problems is solved. The objective
            never rises, and the certificate bounds how far the next convex problem
            could lower it. A sequence of which no label is known has the weight 0, and
            does not count in n. For the default loss only.
        """,
    "acceleration": """
        acceleration : {"auto", "proximal_point"} or None, default="auto"
            "proximal_point" solves a sequence of problems with the squared distance
            from the last weights added, one epoch each. It saves epochs where the L2
            part of the penalty, alpha * (1 - l1_ratio), is small. "auto" does so where
            that is smaller than 0.15 / n; None never does, and refuses ``l1_ratio=1``.
        """,
    "dual_sampling": """
        sampling : {"gap", "gap_importance", "importance", "uniform", "max", \
"residual"}, default="gap"
            Distribution from which the next sequence is sampled: proportional to the
            duality gap of the sequence at its last visit ("gap"), to its importance,
            which grows with the squared norm of its features ("importance"), to the
            product of both ("gap_importance"), or uniform. "max" always takes the
            sequence with the largest gap. "residual", of `SDCACRF` on tables only, is
            proportional to the squared l1 distance of the row's dual variables from
            its probabilities.
        sampling_mix : float in [0, 1], default=0.8
            Probability of sampling from this distribution; otherwise the next sequence
            is sampled uniformly.
        """,
    "dual_warm_start": """
        warm_start : bool, default=False
            Keep the dual variables, and start the next fit from them. The next fit
            needs the same sequences and `transitions`; alpha, for example, may differ.
        """,
    "dual_n_jobs": """
        n_jobs : int, default=None
            Number of threads; None means one. Each thread visits the sequences of its
            own shard, of at least 64 sequences. The last bits of the result depend on
            the number of threads, but not on their timing. With `l1_ratio` above 0, one
            thread makes the visits, and all of them the certificates.
        """,
    "random_state": """
        random_state : int, RandomState instance or None, default=None
            Determines the order of the visits. Pass an int to get the same bits at
            every fit.
        """,
    "verbose": """
        verbose : int, default=0
            1 prints a line every epoch.
        """,
    "weights_": """
        classes_ : ndarray of shape (n_labels,)
            The labels, sorted.
        coef_ : ndarray or csr_array of shape (n_labels, n_features_in_)
            Weight of each feature for each label; sparse if that takes less memory, as
            with an l1 penalty.
        n_nonzero_ : int
            Number of weights, of all kinds, that are not 0.
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
        """,
    "n_iter_": """
        n_iter_ : int
            Number of epochs.
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
            certificate are those of this epoch, and ``n_iter_`` and ``history_`` those
            of all epochs.
        best_val_score_ : float
            The score of this epoch. Exists as ``best_epoch_`` does.
        """,
}

# Those of graphs.
GRAPH_DOCS = {
    **SHARED_DOCS,
    "graph_parameters": """
        alpha : float or "auto", default="auto"
            Strength of the penalty; "auto" is 1/n, or 1 over the sum of the sample
            weights.
        loss : {"log_loss", "softmax_margin", "hinge"}, default="log_loss"
            As of `SDCACRF`, the cost summed over the nodes. "hinge" is the structural
            SVM, for ``solver="oeg"`` and "sdca" only, both of which are then
            block-coordinate Frank-Wolfe; the model has scores, and no probabilities.
        temperature, margin : float, default=1.0
            As of `SDCACRF`.
        cost, class_weight : default=None
            As of `SDCACRF`.
        """,
    "graph_solver": """
        solver : {"oeg", "sdca", "sag", "lbfgs"}, default="oeg"
            "oeg" is online exponentiated gradient with gap sampling, see `OEGCRF`.
            "sdca" has an exact line search, see `SDCACRF`, and keeps the tables of all
            graphs. "sag" is SAG-NUS*, see `SAGNUSCRF`, and "lbfgs" is L-BFGS, or OWL-QN
            with `l1_ratio` above 0, see `LBFGSCRF`.
        max_iter : int, default=100
            Maximum number of epochs, or of iterations of L-BFGS.
        """,
    "graph_patience": """
        patience : int, default=None
            With ``X_val`` and ``y_val`` in `fit`: end the fit after so many epochs
            without a better score on them, and return the model of the best epoch.
        scoring : str or callable, default=None
            The score on ``X_val`` and ``y_val``, as of `SDCACRF`; by default the
            accuracy of the nodes.
        """,
    "graph_warm_start": """
        warm_start : bool, default=False
            Keep the state of the solver, and start the next fit from it. The next fit
            needs the same graphs; alpha, for example, may differ.
        """,
    "graph_n_jobs": """
        n_jobs : int, default=None
            Number of threads; None means one. Each thread of "oeg" and "sdca" visits
            the graphs of its own shard, of at least 64 graphs.
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
        alpha_, temperature_ : float
            As of `SDCACRF`.
        """,
    "graph_history_": """
        history_ : dict of ndarrays of shape (n_iter_,)
            One value per epoch: epoch, updates and oracle_calls (divided by n), seconds
            (without the certificates), primal, dual, gap; and with held-out data
            val_score, of which ``best_epoch_`` and ``best_val_score_`` are the best.
        """,
    "graphs": """
        >>> from skcrf_sdca import GraphCRF
        >>> X = [([["a"], ["b"], ["a"]], [[0, 1], [1, 2]])] * 9
        >>> crf = GraphCRF(alpha=0.01, random_state=0).fit(X, [["A", "B", "A"]] * 9)
        """,
}

with_shared_docs = shared_docs(SHARED_DOCS)
with_graph_docs = shared_docs(GRAPH_DOCS)
