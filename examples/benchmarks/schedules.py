"""Compare schedules of the step of stochastic gradient, and means, on some sequences.

[Schmidt15, sec. 6] found a constant step better than eta / sqrt(t) and eta / (d + t),
for the last weights and for their mean, and the last weights of Pegasos, with steps
eta / (alpha t), better than their mean. [Martins10, sec. 6] has eta / (1 + (t - 1) / n)
for SG. eta is the best of powers of 10 after the epochs of each column; of Pegasos it
is a factor of 1 / alpha. Footnote 10 of [Schmidt15] has SG with non-uniform draws: here
with repetitions, half of them by the squared radius of the features, which bounds the
Lipschitz constant of a gradient. AdaGrad has steps eta / sqrt(G), G the sum of squared
gradients of a weight; [Schmidt15] has eta / (1 + sqrt(G)), which are in dense NumPy
here, for "ocr" alone. G that begins with 1 makes eta / sqrt(1 + G), between 1 and
sqrt(2) times as long. The table has P / P* - 1 in per cent, for random sequences with
--first.

    python examples/benchmarks/schedules.py [--task ocr] [--first 300] [--epochs 5 20]
        [--variant "last weights, constant"]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import numpy as np
from single_losses import SingleLosses
from starts import problems

import tables
import tasks
from skcrf_sdca.solvers.sgd import SGD
from skcrf_sdca.solvers.sgd_methods import METHODS, AdaGrad

EPOCHS = (5, 10, 20)
POWERS = range(-4, 3)
RATES = ("constant", "inverse_sqrt", "inverse_epochs", "optimal")


class Drawn(SGD):
    """SG with uniform draws: the same sequence may come twice."""

    by_radius = 0.0

    def __init__(self, problem, rng, **options):
        super().__init__(problem, rng, **options)
        radii = problem.structure.squared_radii()
        uniform = np.full(len(radii), 1.0 / len(radii))
        self.probability = (1.0 - self.by_radius) * uniform
        self.probability += self.by_radius * radii / radii.sum()

    @property
    def feature_scale(self):
        """The factors that make the gradients of the draws unbiased."""
        return super().feature_scale / (self.probability * len(self.probability))

    def visit(self, order):
        """Visit as many drawn sequences."""
        n = len(order)
        super().visit(self.rng.choice(n, n, p=self.probability).astype(np.intp))


class DrawnByRadius(Drawn):
    """SG with half of its draws by the squared radius."""

    by_radius = 0.5


class ShorterAdaGrad(AdaGrad):
    """AdaGrad whose sums of squared gradients begin with 1."""

    def _set_state(self, state):
        super()._set_state(state)
        self.squares[:] = 1.0


class ShiftedAdaGrad:
    """AdaGrad with steps eta / (1 + sqrt(G)) and proximal steps for the penalty."""

    def __init__(self, problem, rng, *, eta0, **_):
        self.chains, self.rng, self.eta0 = SingleLosses(problem), rng, eta0
        self.w = problem.new_parameters().w
        self.squares = np.zeros_like(self.w)

    def epoch(self):
        """Visit all sequences in random order."""
        problem = self.chains.problem
        for i in self.rng.permutation(problem.n_sequences):
            _, gradient = self.chains.loss_and_gradient(self.w, i)
            self.squares += gradient**2
            steps = self.eta0 / (1.0 + np.sqrt(self.squares))
            self.w = (self.w - steps * gradient) / (1.0 + steps * problem.alpha)

    def certify(self):
        """Return the certificate of the weights."""
        return self.chains.problem.certify_primal(self.w)[1]


SOLVERS = METHODS | {
    "drawn": Drawn,
    "drawn by radius": DrawnByRadius,
    "from 1": ShorterAdaGrad,
    "shifted": ShiftedAdaGrad,
}
# The method, its schedule, and whether the model is the mean of the weights.
VARIANTS = {
    **{f"last weights, {rate}": ("sgd", rate, False) for rate in RATES},
    **{f"mean, {rate}": ("asgd", rate, True) for rate in RATES},
    "last weights, constant, drawn": ("drawn", "constant", False),
    "last weights, constant, by radius": ("drawn by radius", "constant", False),
    "Pegasos, last weights": ("pegasos", "inverse", False),
    "Pegasos, mean of late weights": ("pegasos", "inverse", True),
    "AdaGrad, last weights": ("adagrad", "constant", False),
    "AdaGrad, mean of late weights": ("adagrad", "constant", True),
    "AdaGrad, last weights, G from 1": ("from 1", "constant", False),
    "AdaGrad, mean of late weights, G from 1": ("from 1", "constant", True),
    "AdaGrad, last weights, 1 + sqrt(G)": ("shifted", "constant", False),
}


def primals(problem, epochs, method, rate, average, eta0):
    """Return P after some epochs; infinity where the weights are no numbers."""
    rng = np.random.default_rng(0)
    options = {"learning_rate": rate, "average": average, "eta0": eta0}
    solver = SOLVERS[method](problem, rng, method=method, **options)
    found = dict.fromkeys(epochs, np.inf)
    try:
        for epoch in range(1, epochs[-1] + 1):
            solver.epoch()
            if epoch in epochs:
                found[epoch] = solver.certify().primal
    except ValueError:
        pass
    return list(found.values())


def row_of(problem, epochs, title, name, bound):
    """Return a row of the table."""
    method, *options = VARIANTS[name]
    unit = 1.0 / problem.strength if method == "pegasos" else 1.0
    etas = 10.0 ** np.array(POWERS)
    runs = [primals(problem, epochs, method, *options, unit * eta) for eta in etas]
    found = np.array(runs)
    cells = [f"{100.0 * (best / bound - 1.0):.2f}" for best in found.min(axis=0)]
    return [title, name, *cells, f"{etas[found[:, -1].argmin()]:.0e}"]


def rows(options):
    """Yield the rows of the table."""
    epochs = options.epochs
    header = ["task", "weights, schedule", *(f"after {epoch}" for epoch in epochs)]
    yield [*header, f"eta after {epochs[-1]}"]
    for title, problem, bound in problems(options):
        for name in options.variant:
            if VARIANTS[name][0] != "shifted" or title == tasks.TITLES["ocr"]:
                yield row_of(problem, epochs, title, name, bound)


def main():
    """Print the table."""
    parser = tasks.parser(__doc__)
    parser.add_argument("--epochs", type=int, nargs="+", default=EPOCHS)
    parser.add_argument("--variant", nargs="+", default=list(VARIANTS))
    tables.stream(rows(parser.parse_args()))


if __name__ == "__main__":
    main()
