"""Plots of fits and of fitted models, with the interface of scikit-learn's displays.

matplotlib is imported only when something is drawn.
"""

from ._convergence import ConvergenceDisplay
from ._transitions import TransitionDisplay

__all__ = ["ConvergenceDisplay", "TransitionDisplay"]
