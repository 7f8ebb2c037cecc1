"""Compare the layers of networks with torch-struct: log Z, gradients, and time.

    python examples/benchmarks/network_layers.py [--quick] [--output layers.csv]

The table is written to docs/results/network_layers.csv.

Batches of 32 items of 10, 40 and 100 words have random scores. A row has the time in ms
of log Z and its gradient with respect to all scores, the median of alternating runs, of
the package and of torch-struct in double and in single precision. The time is that of
the processor, on one thread. A row also has the largest difference of log Z and of the
gradient in double precision. torch-struct adds 1e-5 to the weight of each arc of trees
that are not projective; the last rows have its function with 0 in place of 1e-5.
Without torch-struct the table has the times of the package alone.
"""

import statistics
import warnings
from time import process_time

import numpy as np

import runs
import tables
from skcrf_sdca.structures.layers import chain_layer, dependency_layer, segment_layer

try:
    import torch
    import torch_struct
    from torch_struct.deptree import deptree_part
except ImportError:
    torch = None

OUTPUT = "results/network_layers.csv"
BATCH, WORDS, REPEATS = 32, (10, 40, 100), 5
QUICK = {"batch": 2, "words": (3, 5), "repeats": 1}
# Numbers of labels of chains and of types of segments; tokens of the longest segment.
N_LABELS, N_TYPES, LONGEST = 10, 4, 4
# The spread of scores: arcs of trained parsers differ as much, or more.
SCALE = 3.0
# In place of -inf, as torch-struct has it.
FORBIDDEN = -1e9
HEADER = [
    "Structure",
    "Words",
    "Here (ms)",
    "torch-struct (ms)",
    "Single (ms)",
    "log Z",
    "Gradient",
]


def chains(batch, words):
    """Return the layer of chains with all scores."""
    return chain_layer([words] * batch, N_LABELS)


def segments(batch, words):
    """Return the layer of segments with all scores."""
    types = [str(k) for k in range(N_TYPES)]
    return segment_layer([words] * batch, types, max_length=LONGEST)


def projective(batch, words):
    """Return the layer of projective trees."""
    return dependency_layer([words] * batch, projective=True)


def spanning(batch, words):
    """Return the layer of trees whose arcs may cross."""
    return dependency_layer([words] * batch)


def chains_of_torch(batch, nodes, transition):
    """Return log Z of chains by torch-struct."""
    nodes = nodes.reshape(batch, -1, N_LABELS)
    # [n, label of n + 1, label of n]
    pairs = transition.T + nodes[:, 1:, :, None]
    first = nodes[:, :1, None, :].expand(-1, 1, N_LABELS, -1)
    pairs = torch.cat([pairs[:, :1] + first, pairs[:, 1:]], dim=1)
    return torch_struct.LinearChainCRF(pairs).partition


def segments_of_torch(batch, tokens, transition, length, single):
    """Return log Z of segments by torch-struct."""
    tokens = tokens.reshape(batch, -1, N_TYPES)
    single = single.reshape(batch, -1, LONGEST, N_TYPES)
    n = tokens.shape[1]
    # [begin, tokens, type, type before]: a segment begins where the one before ends.
    eye = torch.eye(N_TYPES, dtype=bool)
    after = transition.T.masked_fill(eye, FORBIDDEN)
    first = torch.full_like(after, FORBIDDEN)
    first[:, 0] = 0.0
    before = torch.cat([first[None], after.expand(n - 1, -1, -1)])
    sums = torch.nn.functional.pad(tokens.cumsum(1), (0, 0, 1, LONGEST))
    parts = [torch.full((batch, n, N_TYPES, N_TYPES), FORBIDDEN, dtype=tokens.dtype)]
    for m in range(1, LONGEST + 1):
        own = sums[:, m : n + m] - sums[:, :n] + length[:, m - 1] + single[:, :, m - 1]
        parts.append(own[..., None] + before)
    return torch_struct.SemiMarkovCRF(torch.stack(parts, dim=2)).partition


def projective_of_torch(batch, arcs):
    """Return log Z of projective trees by torch-struct."""
    return torch_struct.DependencyCRF(_square(batch, arcs), multiroot=False).partition


def spanning_of_torch(batch, arcs):
    """Return log Z of trees whose arcs may cross by torch-struct."""
    return torch_struct.NonProjectiveDependencyCRF(_square(batch, arcs)).partition


def exact_spanning_of_torch(batch, arcs):
    """Return the same, with 0 in place of 1e-5."""
    return deptree_part(_square(batch, arcs), multi_root=False, eps=0.0)


def _square(batch, arcs):
    """Return arcs [head, word], with those from the root on the diagonal."""
    n = int((arcs.shape[0] // batch) ** 0.5)
    table = arcs.reshape(batch, n + 1, n)
    eye = torch.eye(n, dtype=bool)
    return torch.where(eye, table[:, :1], table[:, 1:])


STRUCTURES = {
    "chains": (chains, chains_of_torch),
    "segments": (segments, segments_of_torch),
    "projective trees": (projective, projective_of_torch),
    "any trees": (spanning, spanning_of_torch),
    "any trees, 0 for 1e-5": (spanning, exact_spanning_of_torch),
}


def by_torch(function, batch, scores, dtype):
    """Return log Z and its gradient by torch, as arrays of NumPy."""
    tensors = [
        torch.tensor(own, dtype=getattr(torch, dtype), requires_grad=True)
        for own in scores
    ]
    log_z = function(batch, *tensors)
    gradient = torch.autograd.grad(log_z.sum(), tensors)
    return log_z.detach().numpy(), [own.numpy() for own in gradient]


def medians(calls, repeats):
    """Return the median ms of calls that alternate, as texts."""
    times = [[] for _ in calls]
    for _ in range(repeats):
        for own, call in zip(times, calls, strict=True):
            begin = process_time()
            call()
            own.append(1e3 * (process_time() - begin))
    return [f"{statistics.median(own):.2f}" for own in times]


def row_of(name, batch, words, repeats):
    """Return the cells of one structure and length."""
    make, function = STRUCTURES[name]
    layer, rng = make(batch, words), np.random.default_rng(0)
    scores = [SCALE * rng.normal(size=shape) for shape in layer.shapes.values()]
    calls = [lambda: layer.log_partition(*scores)]
    if torch is None:
        none = [tables.NONE] * (len(HEADER) - 3)
        return [name, str(words), *medians(calls, repeats), *none]
    for dtype in ("float64", "float32"):
        calls.append(lambda dtype=dtype: by_torch(function, batch, scores, dtype))
    (log_z, gradient), (other, others), _ = [call() for call in calls]
    pairs = zip([log_z, *gradient], [other, *others], strict=True)
    of_log_z, *of_gradient = (np.abs(a - b).max() for a, b in pairs)
    differences = f"{of_log_z:.0e}", f"{max(of_gradient):.0e}"
    return [name, str(words), *medians(calls, repeats), *differences]


def main():
    """Print the table, and write it."""
    options = runs.parser(__doc__, OUTPUT, names=()).parse_args()
    if torch is not None:
        torch.set_num_threads(1)
        # torch-struct 0.5 is older than the rule of torch that it warns of.
        warnings.filterwarnings("ignore", message=".*arg_constraints")
    sizes = {"batch": BATCH, "words": WORDS, "repeats": REPEATS}
    sizes |= QUICK if options.quick else {}
    rows = [HEADER]
    tables.stream(rows)
    for name in STRUCTURES:
        for words in sizes["words"]:
            rows.append(row_of(name, sizes["batch"], words, sizes["repeats"]))
            tables.stream(rows[-1:])
    tables.write(rows, options.output or runs.DOCS / OUTPUT)


if __name__ == "__main__":
    main()
