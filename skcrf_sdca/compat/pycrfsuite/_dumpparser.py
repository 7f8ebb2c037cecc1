"""The names of ``pycrfsuite._dumpparser``, which reads the text of a model."""

from skcrf_sdca.compat._dump import CRFsuiteDumpParser, ParsedDump

__all__ = ["CRFsuiteDumpParser", "ParsedDump"]
