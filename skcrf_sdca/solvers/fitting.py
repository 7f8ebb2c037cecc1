"""The advice in a MemoryError of a solver: which other solvers fit into memory.

Each solver says in `Solver.n_bytes` how many bytes it keeps.
"""

from skcrf_sdca._utils.memory import may_fit, size_text
from skcrf_sdca.solvers.base import missing_needs
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.owlqn import OWLQN
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.solvers.sgd import SGD
from skcrf_sdca.solvers.svrg import SVRG

SUBGRADIENTS = 'SGDCRF with method="sgd"'
# The solvers of estimators of chains; the first that a problem suits is taken.
OF_CHAINS = {
    "SDCACRF": (SDCA, BCFW),
    "OEGCRF": (OEG,),
    "SAGNUSCRF": (SAG,),
    "LBFGSCRF": (LBFGS, OWLQN),
    "SGDCRF": (SVRG,),
    # For a loss that the default method does not take.
    SUBGRADIENTS: (SGD,),
}


def advice(problem, choices, refused, provided=frozenset()):
    """Return the solvers that fit into memory, as the end of a message.

    ``choices`` has the solvers, a tuple of types by name, that a user can take instead
    of the one called ``refused``; ``provided`` is as for `check_needs`. The text is
    empty if there is no other solver.
    """
    parts = problem.structure, problem.loss, problem.penalty, provided
    n_weights = problem.new_parameters().w.size
    sizes = {}
    for name, solvers in choices.items():
        suited = [solver for solver in solvers if not missing_needs(solver, *parts)]
        if name != refused and suited:
            sizes[name] = suited[0].n_bytes(problem, n_weights)
    if "SGDCRF" in sizes:
        del sizes[SUBGRADIENTS]
    if not sizes:
        return ""
    fitting = [name for name in sizes if may_fit(sizes[name])]
    if not fitting:
        least = min(sizes, key=sizes.get)
        return f"no other solver fits, the least is {_with_size(least, sizes)}"
    return "these fit: " + ", ".join(_with_size(name, sizes) for name in fitting)


def _with_size(name, sizes):
    return f"{name} ({size_text(sizes[name])})"
