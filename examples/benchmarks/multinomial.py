"""Compare multinomial logistic regression here and in scikit-learn, on made documents.

    python examples/benchmarks/multinomial.py [--cyanure] [--quick]

A table of numbers is n chains of one node each. The documents have the shape of the 20
newsgroups: 11,314 rows of 20 classes, about 100 of 60,000 words each, drawn by Zipf's
law from the class and from all text, and scaled as tf-idf with norm 1. Every solver
minimises the same objective: of scikit-learn's intercepts there is no penalty, so that
it gets a column of ones in place of them. Its ``tol`` is not a distance from the
optimum: each of its solvers is run with tolerances from 1e-1 down until its objective
is within 1e-3 of the minimum, and only the last run is counted. With ``--cyanure`` the
solvers of that package (Mairal, "Cyanure: an open-source toolbox for empirical risk
minimization", 2019), which must be installed, are run in the same way. Seconds are of
the processor, cover ``fit`` in one thread, and depend on other work on the machine.
"""

import argparse

import numpy as np
import scipy.sparse as sp
from quiet_fits import seconds_of_fit
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import tables
from skcrf_sdca import OEGCRF, SAGNUSCRF, SDCACRF

SIZE, QUICK_SIZE = (11_314, 60_000), (300, 2_000)
N_CLASSES, WORDS = 20, 100
# Multiples of alpha = 1/n.
MULTIPLES = (1.0, 0.1)
ENOUGH = 1e-3
OURS = {
    "SDCACRF, gap": SDCACRF(),
    "SDCACRF, residual": SDCACRF(sampling="residual"),
    "SDCACRF, uniform": SDCACRF(sampling="uniform"),
    "OEGCRF": OEGCRF(),
    "SAGNUSCRF": SAGNUSCRF(),
}
OF_SCIKIT_LEARN = ("lbfgs", "newton-cg", "sag", "saga")
OF_CYANURE = ("catalyst-miso", "qning-miso")
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
HEADER = ["solver", "n alpha", "epochs", "seconds", "P / P* - 1", "certified gap / P"]


def documents(n, n_words, seed=0):
    """Return tf-idf rows and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(N_CLASSES, size=n)
    frequency = 1.0 / np.arange(1, n_words + 1)
    orders = [rng.permutation(n_words) for _ in range(N_CLASSES)]
    lengths = rng.poisson(WORDS, size=n) + 1
    rows = np.repeat(np.arange(n), lengths)
    drawn = rng.choice(n_words, size=len(rows), p=frequency / frequency.sum())
    of_class = rng.random(len(rows)) < 0.15
    words = np.where(of_class, np.array(orders)[y[rows], drawn], drawn)
    counts = sp.csr_array((np.ones(len(rows)), (rows, words)), shape=(n, n_words))
    return TfidfTransformer().fit_transform(sp.csr_matrix(counts)), y


def primal(coef, X, y, alpha):
    """Return P, with the intercepts as the last column of coef."""
    scores = X @ coef.T
    largest = scores.max(axis=1)
    log_partition = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))
    losses = log_partition - scores[np.arange(len(y)), y]
    return alpha / 2 * (coef**2).sum() + losses.mean()


def logistic_regression(solver, alpha, tol, n):
    """Return an estimator of scikit-learn."""
    options = {"fit_intercept": False, "max_iter": 3000, "random_state": 0}
    return LogisticRegression(C=1.0 / (alpha * n), solver=solver, tol=tol, **options)


def cyanure_classifier(solver, alpha, tol, n):
    """Return an estimator of cyanure."""
    from cyanure.estimators import Classifier

    options = {"fit_intercept": False, "max_iter": 3000, "random_state": 0}
    options |= {"penalty": "l2", "lambda_1": alpha, "n_threads": 1, "verbose": False}
    return Classifier("multiclass-logistic", solver=solver, tol=tol, **options)


def rows_of(X, y, multiple, others):
    """Yield the rows of the table for one alpha; others have a name and a function."""
    alpha = multiple / len(y)
    wide = sp.hstack([X, np.ones((len(y), 1))], format="csr")
    exact = SDCACRF(alpha, tol=1e-8, max_iter=3000, random_state=0).fit(X, y)
    least = exact.dual_objective_
    for name, crf in OURS.items():
        crf.set_params(alpha=alpha, tol=ENOUGH, max_iter=3000, random_state=0)
        seconds = seconds_of_fit(crf, X, y)
        coef = np.column_stack([crf.coef_, crf.intercept_])
        off = primal(coef, wide, y, alpha) / least - 1.0
        gap = crf.duality_gap_ / crf.primal_objective_
        row = [name, f"{multiple:g}", f"{crf.n_iter_}", f"{seconds:.2f}"]
        yield [*row, f"{off:.1e}", f"{gap:.1e}"]
    for name, new, solver in others:
        for tol in TOLERANCES:
            other = new(solver, alpha, tol, len(y))
            seconds = seconds_of_fit(other, wide, y)
            # Cyanure has a column for each class.
            coef = other.coef_ if len(other.coef_) == N_CLASSES else other.coef_.T
            off = primal(coef, wide, y, alpha) / least - 1.0
            if off <= ENOUGH:
                break
        row = [f"{name}, {solver}, tol={tol:.0e}", f"{multiple:g}"]
        row += [f"{np.max(other.n_iter_):.0f}", f"{seconds:.2f}", f"{off:.1e}"]
        yield [*row, tables.NONE]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a trial on few documents")
    parser.add_argument("--cyanure", action="store_true", help="its solvers too")
    options = parser.parse_args()
    X, y = documents(*(QUICK_SIZE if options.quick else SIZE))
    others = [("scikit-learn", logistic_regression, name) for name in OF_SCIKIT_LEARN]
    if options.cyanure:
        others += [("cyanure", cyanure_classifier, name) for name in OF_CYANURE]
    rows = [HEADER]
    with threadpool_limits(1):
        for multiple in MULTIPLES:
            rows += rows_of(X, y, multiple, others)
    tables.show(rows)


if __name__ == "__main__":
    main()
