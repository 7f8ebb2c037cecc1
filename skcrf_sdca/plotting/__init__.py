"""Plots of fits, models and predictions, with the interface of scikit-learn's displays.

matplotlib is imported only when something is drawn.
"""

from ._confusion import ConfusionDisplay
from ._convergence import ConvergenceDisplay
from ._dependency_tree import DependencyTree
from ._drift import DriftDisplay
from ._tagged_text import TaggedText
from ._transitions import TransitionDisplay

__all__ = [
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "DependencyTree",
    "DriftDisplay",
    "TaggedText",
    "TransitionDisplay",
]
