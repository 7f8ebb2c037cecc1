"""Pictures of fits and of fitted models, in the manner of scikit-learn's displays.

matplotlib is imported when something is drawn, and not before.
"""

from ._convergence import ConvergenceDisplay
from ._transitions import TransitionDisplay

__all__ = ["ConvergenceDisplay", "TransitionDisplay"]
