"""Transformers that turn dicts, strings and other items into packed features.

Reading order: transformer.py, vocabulary.py, vectorizer.py, per_token.py, union.py,
window.py, image_window.py, classifier.py. The package itself has the others.
"""

from typing import TYPE_CHECKING

from skcrf_sdca._utils.lazy import lazy

if TYPE_CHECKING:
    from skcrf_sdca.features.classifier import ClassifierFeatures
    from skcrf_sdca.features.image_window import ImageWindow
    from skcrf_sdca.features.window import SequenceWindow

__all__ = ["ClassifierFeatures", "ImageWindow", "SequenceWindow"]

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__,
        {
            "ClassifierFeatures": "classifier",
            "ImageWindow": "image_window",
            "SequenceWindow": "window",
        },
    )
