"""Serving a model: what a program needs that only tags, with NumPy alone.

`Predictor` reads the file of `skcrf_sdca.save_model`, and labels one sequence at a
time. It imports neither scikit-learn nor SciPy.
"""

from skcrf_sdca.serving._predictor import Predictor

__all__ = ["Predictor"]
