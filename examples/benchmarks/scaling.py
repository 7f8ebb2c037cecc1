"""Measure how the time of an epoch grows with the tokens and with the labels.

The script measures the seconds of an epoch of each solver, and of a bare pass of the
oracle (epoch_costs.py), on sparse random chains: by the number of tokens with few
labels, and by the number of labels K with few tokens. It prints the seconds and the
exponents between neighbouring sizes, log(ratio of the seconds) / log(ratio of the
sizes). The figure shows the seconds beside lines of slope 1 and 2. The promise is
exponent 1 for tokens and at most 2 for labels.

    python examples/benchmarks/scaling.py [--rounds 9] [--quick]

needs matplotlib. The full run takes some 2 GB.
"""

import numpy as np
from threadpoolctl import threadpool_limits

import epoch_costs
import figures
import runs
import tables
from skcrf_sdca import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.problem import Problem

SOLVERS = ("SDCA", "OEG", "SAG-NUS*")
PASS = "bare pass"
# Each sweep has a fixed value of the other size.
TOKENS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
LABELS = (5, 10, 20, 50, 100, 200)
TOKENS_OF_LABELS, LABELS_OF_TOKENS = 5_000, 10
QUICK_TOKENS = (1_000, 3_000, 10_000)
QUICK_LABELS = (5, 10, 20)
# Chains have 20 tokens on average, with 20 features each, like sentences.
LENGTH = (10, 30)
N_FEATURES, DENSITY = 2_000, 0.01


def random_problem(n_tokens, n_labels):
    """Return a problem with about this number of tokens."""
    X, y = make_chains(
        round(n_tokens / np.mean(LENGTH)),
        n_labels=n_labels,
        n_features=N_FEATURES,
        length=LENGTH,
        density=DENSITY,
        # The spread of the scores does not depend on the number of features.
        weight_scale=(N_FEATURES * DENSITY) ** -0.5,
        random_state=0,
    )
    labels = np.concatenate(y).astype(np.int32)
    return Problem(PackedSequences.from_sequences(X), labels, n_labels, "auto")


def costs(n_tokens, n_labels, n_rounds):
    """Return the seconds of each solver, and of a pass."""
    problem = random_problem(n_tokens, n_labels)
    seconds, passes = {}, []
    for label in SOLVERS:
        solver = epoch_costs.SOLVERS[label]._new_solver(problem)
        seconds[label], one_pass, _ = epoch_costs.measure(solver, n_rounds)
        passes.append(one_pass)
    return {PASS: np.median(passes), **seconds}


def sweep(sizes, of_size):
    """Return the seconds of each solver for each size, and print them."""
    rows = []
    for size in sizes:
        rows.append(of_size(size))
        cells = (f"{label} {s:.4f}" for label, s in rows[-1].items())
        print(f"{size}: {', '.join(cells)} s", flush=True)
    return {label: np.array([row[label] for row in rows]) for label in rows[0]}


def table(name, sizes, seconds):
    """Return rows of seconds, each with the exponents from the previous size."""
    rows = [[name, *(f"{label} {unit}" for label in seconds for unit in ("s", "exp."))]]
    steps = np.diff(np.log(sizes))
    exponents = {label: np.diff(np.log(s)) / steps for label, s in seconds.items()}
    for i, size in enumerate(sizes):
        row = [f"{size:,d}"]
        for label in seconds:
            exponent = f"{exponents[label][i - 1]:.2f}" if i else tables.NONE
            row += [f"{seconds[label][i]:.4f}", exponent]
        rows.append(row)
    return rows


def draw(axis, sizes, seconds, slope):
    """Draw the seconds, and below them a line of the given slope."""
    for label, s in seconds.items():
        figures.curve(axis, sizes, s, label, marker="o", markersize=4)
    line = seconds[PASS][0] / 2 * (np.array(sizes) / sizes[0]) ** slope
    axis.plot(sizes, line, color="#999999", linewidth=1.0)
    axis.annotate(f" slope {slope}", (sizes[0], line[0]), va="top")
    axis.margins(y=0.12)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(sizes, [f"{size:,d}" for size in sizes])
    axis.minorticks_off()


def main():
    """Sweep tokens and labels; print two tables and draw two panels."""
    parser = runs.parser(__doc__, "images/scaling.png", names=())
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    campaign, n_rounds = runs.Campaign(arguments), arguments.rounds
    tokens = QUICK_TOKENS if campaign.quick else TOKENS
    labels = QUICK_LABELS if campaign.quick else LABELS
    with threadpool_limits(1):
        by_tokens = sweep(tokens, lambda n: costs(n, LABELS_OF_TOKENS, n_rounds))
        by_labels = sweep(labels, lambda k: costs(TOKENS_OF_LABELS, k, n_rounds))
    tables.show(table("tokens", tokens, by_tokens))
    tables.show(table("labels", labels, by_labels))
    figure, axes = figures.panels(1, 2, sharey=True)
    draw(axes[0, 0], tokens, by_tokens, 1)
    draw(axes[0, 1], labels, by_labels, 2)
    axes[0, 0].set_xlabel(f"tokens, at {LABELS_OF_TOKENS} labels")
    axes[0, 1].set_xlabel(f"labels, at {TOKENS_OF_LABELS:,d} tokens")
    axes[0, 0].set_ylabel("seconds of an epoch")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
