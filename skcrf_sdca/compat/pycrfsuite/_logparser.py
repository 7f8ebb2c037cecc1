"""The names of ``pycrfsuite._logparser``, which reads the log of a training."""

from skcrf_sdca.compat._log_parser import TrainLogParser
from skcrf_sdca.compat._training_log import LabelScore

__all__ = ["LabelScore", "TrainLogParser"]
