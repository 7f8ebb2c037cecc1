"""Reading graphs for a fit: their nodes as sequences, and the edges beside them."""

from collections.abc import Iterator
from dataclasses import dataclass

from skcrf_sdca._utils.words import words
from skcrf_sdca.data.graphs import Edges, named_as_graphs
from skcrf_sdca.data.sequences import Data, read_sequences


@dataclass(frozen=True)
class GraphData(Data):
    """The Data of the nodes of graphs, and their edges."""

    edges: Edges


@named_as_graphs
def read_graphs(X, y, known, split):
    """Return the GraphData of a fit; the errors are as in `GraphCRF.fit`.

    ``split`` is `split_graphs`, or `split_trees`.
    """
    X = list(X) if isinstance(X, Iterator) else X
    nodes, ends, features = split(X)
    own = read_sequences(nodes, y, known._replace(check=_check_nodes))
    edges = Edges.of_lists(ends, features, own.data.lengths)
    width = {"n_edge_features_in_": edges.features.shape[1]}
    parts = vars(own) | {"X": X, "attributes": own.attributes | width}
    return GraphData(**parts, edges=edges)


def _check_nodes(input_format):
    """Raise ValueError if the nodes of all graphs are read as one table."""
    if not input_format.boundaries:
        raise ValueError(
            f"{words().X}: the nodes of graph 0 are a row of numbers; they must be an "
            "array of shape (n_nodes, n_features), or a list of dicts or of lists of "
            "str"
        )
