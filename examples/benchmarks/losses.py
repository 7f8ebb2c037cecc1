"""Compare the losses of the family of Martins et al. (CMU-ML-10-109) by span F1.

    python examples/benchmarks/losses.py [--task ned] [--first 2000] [--epochs 50]

First the losses by the inverse temperature beta times the margin gamma: 0 is the CRF,
and inf the structural SVM. With w = tau u,

    P(w; alpha, beta, gamma) = tau P(u; alpha tau, 1, beta gamma),    tau = 1 / beta,

so that losses of the same product make the same predictions, each at an alpha of its
own. alpha is chosen by the span F1 on the last fifth of the training sentences, from a
path of warm fits; then all of them are used, and alpha is lowered as n grows.

Then softmax-margin with class_weight: precision, recall and F1 of spans where it costs
more to miss a label other than "O".

The corpora are read from the folder SKCRF_SDCA_DATA or downloaded; tasks.py
makes the features.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import SDCACRF
from skcrf_sdca.metrics import span_f1_score, span_precision_score, span_recall_score
from skcrf_sdca.selection import alpha_path
from tasks import WITH_SPANS, load_split

PRODUCTS = (0.0, 1.0, 3.0, 5.0, 9.0, 15.0, 25.0, np.inf)
# n alpha max(beta gamma, 1): the larger the margin, the larger w, the smaller alpha.
STRENGTHS = 4.0 ** -np.arange(6)
CLASS_WEIGHTS = (1.0, 2.0, 5.0, 10.0, "balanced")
HELD_OUT = 5


def loss_of(product):
    """Return the parameters of the loss with beta gamma, and the scale of its alpha."""
    if product == 0.0:
        return {"loss": "log_loss"}, 1.0
    if np.isinf(product):
        return {"loss": "hinge"}, 1.0
    return {"loss": "softmax_margin", "margin": product}, 1.0 / product


def compare_losses(X, y, test, epochs):
    """Print the span F1 on both parts, and the gap, by beta gamma."""
    first = len(y) - len(y) // HELD_OUT
    trained, held_out = slice(first), slice(first, None)
    print(f"{'beta gamma':>10}{'n alpha':>9}{'held out':>10}{'test':>8}{'gap / P':>10}")
    for product in PRODUCTS:
        loss, scale = loss_of(product)
        crf = SDCACRF(max_iter=epochs, random_state=0, **loss)
        alphas = scale * STRENGTHS / first
        path = alpha_path(crf, X[trained], y[trained], alphas)
        scores = [span_f1_score(y[held_out], c.predict(X[held_out])) for c in path]
        best = scale * STRENGTHS[np.argmax(scores)]
        crf.set_params(alpha=best / len(y)).fit(X, y)
        f1 = span_f1_score(test.y, crf.predict(test.X))
        gap = crf.duality_gap_ / crf.primal_objective_
        print(
            f"{product:10g}{best:9.3g}{max(scores):10.4f}{f1:8.4f}{gap:10.1e}",
            flush=True,
        )


def compare_class_weights(X, y, test, epochs):
    """Print precision, recall and F1 by class_weight."""
    names = np.unique(np.concatenate(y))
    print(f"{'weight':>10}{'precision':>11}{'recall':>8}{'F1':>8}")
    for factor in CLASS_WEIGHTS:
        weight = factor
        if factor != "balanced":
            weight = {name: factor for name in names if name != "O"}
        crf = SDCACRF(
            loss="softmax_margin", class_weight=weight, max_iter=epochs, random_state=0
        )
        predicted = crf.fit(X, y).predict(test.X)
        print(
            f"{factor!s:>10}{span_precision_score(test.y, predicted):11.4f}"
            f"{span_recall_score(test.y, predicted):8.4f}"
            f"{span_f1_score(test.y, predicted):8.4f}",
            flush=True,
        )


def main():
    """Compare losses and class weights on the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=WITH_SPANS, action="append")
    parser.add_argument("--first", type=int, help="training and test sentences (all)")
    parser.add_argument("--epochs", type=int, default=50)
    options = parser.parse_args()
    # The gap of each fit of the table is printed.
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in options.task or WITH_SPANS:
        task, test = load_split(name, options.first)
        print(name)
        compare_losses(task.X, task.y, test, options.epochs)
        compare_class_weights(task.X, task.y, test, options.epochs)


if __name__ == "__main__":
    main()
