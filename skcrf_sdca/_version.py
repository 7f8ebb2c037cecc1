"""The version of the package, which needs no import."""

__version__ = "0.2.0"
