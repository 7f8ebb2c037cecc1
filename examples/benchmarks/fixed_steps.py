"""Compare the draws and steps of the theorems of [LePriol18] with exact searches.

With R_i the largest squared distance of features of row i, c_i = 1 + R_i / (n alpha),
mu_i the distribution of the row and p_i that of the model, a visit moves mu_i by a part
s_i of p_i - mu_i. Theorems 1 to 5 of appendix F have

1  uniform draws, s = 1 / max c;
2  draws by c_i, s_i = 1 / c_i;
3  AdaSDCA: draws by q_i = d_i sqrt(c_i), d_i = ||p_i - mu_i||_1, s_i = theta / q_i,
   for quadratic losses; here with log loss, where s_i is at most 1;
4  draws by the gap g_i, s = 1 / max c;
5  draws by g_i c_i, s_i = 1 / c_i.

All d_i and g_i are up to date at every draw, which costs a pass over the data each.
The data are a mixture of Gaussians in the plane, standardised, and alpha is 1 / n. The
table has the epochs until the gap is at most 1e-3 P and 1e-6 P, as medians over seeds.

    python examples/benchmarks/fixed_steps.py [--seeds 1] [--quick]
"""

import argparse

import numpy as np
from residual_sampling import epochs_to, mixture
from scipy.special import log_softmax, xlogy

import tables

N, MAX_EPOCHS, LEVELS = 200, 400, (1e-3, 1e-6)
QUICK_N, QUICK_EPOCHS = 20, 5
SMOOTHING, BISECTIONS, TINY = 0.01, 30, 1e-300
HEADER = ["draws", "steps", *(f"epochs to {level:g} P" for level in LEVELS)]


def adaptive(rows):
    """Return the steps of theorem 3."""
    scores = rows.residuals * np.sqrt(rows.c)
    theta = (rows.residuals**2).sum() / scores.sum()
    return np.minimum(theta / np.maximum(scores, TINY), 1.0)


DRAWS = {
    "uniform": lambda rows: np.ones(rows.n),
    "c_i": lambda rows: rows.c,
    "d_i sqrt(c_i)": lambda rows: rows.residuals * np.sqrt(rows.c),
    "g_i": lambda rows: rows.gaps,
    "g_i c_i": lambda rows: rows.gaps * rows.c,
}
STEPS = {
    "1 / max c": lambda rows, i: 1.0 / rows.c.max(),
    "1 / c_i": lambda rows, i: 1.0 / rows.c[i],
    "theta / q_i": lambda rows, i: adaptive(rows)[i],
    "search": lambda rows, i: rows.search(i),
}
VARIANTS = [
    ("uniform", "1 / max c"),
    ("c_i", "1 / c_i"),
    ("d_i sqrt(c_i)", "theta / q_i"),
    ("g_i", "1 / max c"),
    ("g_i c_i", "1 / c_i"),
    ("uniform", "search"),
    ("d_i sqrt(c_i)", "search"),
    ("g_i", "search"),
]


class Rows:
    """Multinomial logistic regression by SDCA, on the rows of a table."""

    def __init__(self, X, y):
        self.X = np.column_stack([X, np.ones(len(X))])
        self.n, n_classes = len(X), y.max() + 1
        self.alpha, self.targets = 1.0 / self.n, np.eye(n_classes)[y]
        self.c = 1.0 + 2.0 * (self.X**2).sum(axis=1) / (self.n * self.alpha)
        self.mu = (1.0 - SMOOTHING) * self.targets + SMOOTHING / n_classes
        self.w = (self.targets - self.mu).T @ self.X / (self.n * self.alpha)
        self.update()

    def update(self):
        """Find the distributions of the model, the residuals and the gaps."""
        self.log_p = log_softmax(self.X @ self.w.T, axis=1)
        self.change = np.exp(self.log_p) - self.mu
        self.residuals = np.abs(self.change).sum(axis=1)
        gaps = xlogy(self.mu, self.mu) - self.mu * self.log_p
        self.gaps = np.maximum(gaps.sum(axis=1), 0.0)

    def search(self, i):
        """Return the step of the largest dual."""
        mu, change = self.mu[i], self.change[i]
        score = change @ (self.w @ self.X[i])
        bend = (change @ change) * (self.X[i] @ self.X[i]) / (self.n * self.alpha)
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            step = 0.5 * (low + high)
            entropy = -change @ np.log(np.maximum(mu + step * change, TINY))
            low, high = (step, high) if entropy + score > step * bend else (low, step)
        return low

    def visit(self, i, step):
        """Move the distribution of a row, and the weights."""
        change = step * self.change[i]
        self.mu[i] += change
        self.w -= np.outer(change, self.X[i]) / (self.n * self.alpha)
        self.update()

    def primal(self):
        """Return P."""
        losses = -(self.targets * self.log_p).sum(axis=1)
        return losses.mean() + 0.5 * self.alpha * (self.w**2).sum()


def history_of(X, y, draws, steps, max_epochs, seed):
    """Return P and the gap by epoch, until the last level is reached."""
    rows, rng = Rows(X, y), np.random.default_rng(seed)
    history = {"epoch": [], "primal": [], "gap": []}
    for epoch in range(1, max_epochs + 1):
        for _ in range(rows.n):
            scores = DRAWS[draws](rows)
            i = rng.choice(rows.n, p=scores / scores.sum())
            rows.visit(i, STEPS[steps](rows, i))
        values = epoch, rows.primal(), rows.gaps.mean()
        for name, value in zip(history, values, strict=True):
            history[name].append(value)
        if values[2] <= LEVELS[-1] * values[1]:
            break
    return {name: np.array(values) for name, values in history.items()}


def row_of(X, y, draws, steps, max_epochs, n_seeds):
    """Return a row of the table."""
    runs = [history_of(X, y, draws, steps, max_epochs, seed) for seed in range(n_seeds)]
    medians = np.median([[epochs_to(run, lv) for lv in LEVELS] for run in runs], axis=0)
    cells = [f"{m:g}" if np.isfinite(m) else f"> {max_epochs}" for m in medians]
    return [draws, steps, *cells]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a trial on few rows")
    options = parser.parse_args()
    n, most = (QUICK_N, QUICK_EPOCHS) if options.quick else (N, MAX_EPOCHS)
    X, y = mixture(n)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    tables.stream([HEADER])
    tables.stream(row_of(X, y, *variant, most, options.seeds) for variant in VARIANTS)


if __name__ == "__main__":
    main()
