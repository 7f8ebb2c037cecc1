"""All structures, by their names."""

from typing import Any

from skcrf_sdca.structures.chain.observed_chain import ObservedChain
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.chain.tuple_structure import TupleChain
from skcrf_sdca.structures.dependency.structure import DependencyTrees, SiblingTrees
from skcrf_sdca.structures.graph.reweighted import ReweightedGraph
from skcrf_sdca.structures.graph.structure import Graph
from skcrf_sdca.structures.segment.structure import SegmentChain

STRUCTURES: dict[str, type[Any]] = {
    Chain.name: Chain,
    ObservedChain.name: ObservedChain,
    TupleChain.name: TupleChain,
    SegmentChain.name: SegmentChain,
    Graph.name: Graph,
    ReweightedGraph.name: ReweightedGraph,
    DependencyTrees.name: DependencyTrees,
    SiblingTrees.name: SiblingTrees,
}
