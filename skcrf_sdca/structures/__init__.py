"""Structures: how the labels of a sequence depend on each other: chains, and graphs.

A new structure is a folder, or a file, with a subclass of `Structure`, and one entry of
`STRUCTURES`.
"""

from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.graph.structure import Graph

STRUCTURES = {Chain.name: Chain, Graph.name: Graph}
