"""Nested input, valid and invalid, drawn from the bytes of the fuzzer."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from atheris import FuzzedDataProvider
from scipy.sparse import csr_array

NAMES = ("", "a", "b", "a:b", "b:", "a[0]", "nan", "\ud800", "\0", "é" * 70, "x" * 500)
ODD = (
    *(None, 1j, b"b", object(), ..., np.nan, -np.inf, 10**400, -(10**400), range(2)),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999")),
    *(np.datetime64("2020"), np.complex64(1), np.longdouble("1e4000"), np.bytes_(b"b")),
    *(np.array(1.0), np.ones((1, 2)), np.array(["b"]), np.array([None, 1.0])),
    *(np.array([1j]), np.array([np.inf]), np.ma.masked, csr_array(np.eye(2))),
    *([["a"]], [1], {1}, ("a", None), {1: "a"}, {"a": {None: 1}}, {"a": [b"b"]}),
)
NUMBERS = (
    *(0, 1, -1, 0.0, -0.0, 0.5, 2**53 + 1, 2**64, 1e-320, 1e-40, 1e300, 1.7e308),
    *(np.float16(0.1), np.float32(0.1), np.longdouble(0.1), np.int8(-1), np.uint64(3)),
    *(np.bool_(True), np.bool_(False), Decimal("0.1"), Fraction(1, 3), True, False),
)


class Inputs(FuzzedDataProvider):
    """Draws valid input, and sometimes invalid input."""

    def pick(self, values):
        """Return one of some values."""
        return values[self.ConsumeIntInRange(0, len(values) - 1)]

    def several(self, draw, most=3):
        """Return a list of 0 to `most` drawn things."""
        return [draw() for _ in range(self.ConsumeIntInRange(0, most))]

    def seldom(self):
        """Return True once in sixteen."""
        return self.ConsumeIntInRange(0, 15) == 1

    def name(self):
        """Return a str, of a subclass or not."""
        name = self.pick(NAMES) if self.ConsumeBool() else self.ConsumeUnicode(3)
        return np.str_(name) if self.seldom() else name

    def names(self):
        """Return a list, tuple or set of str."""
        return self.pick((list, tuple, set, frozenset))(self.several(self.name))

    def number(self):
        """Return a number, mostly a small one."""
        if self.ConsumeBool():
            return self.pick(NUMBERS)
        return self.ConsumeIntInRange(-3, 3) if self.ConsumeBool() else self.any_float()

    def any_float(self):
        """Return a float, of any size if seldom."""
        return self.ConsumeFloat() if self.seldom() else self.ConsumeProbability()

    def vector(self):
        """Return a 1-D array of numbers."""
        length = self.ConsumeIntInRange(0, 3)
        dtype = self.pick((float, np.float32, np.float16, int, np.uint8, bool, ">f8"))
        return np.array([self.pick((0, 1, 3)) for _ in range(length)], dtype=dtype)

    def value(self, depth=4):
        """Return a value of a dict."""
        if self.seldom():
            return self.pick(ODD)
        kinds = (self.name, self.number, self.names, self.vector, self.dict)
        draw = self.pick(kinds if depth else kinds[:-1])
        return draw() if draw != self.dict else self.dict(depth - 1)

    def dict(self, depth=4):
        """Return a dict of names and values, nested to some depth."""
        pairs = self.several(lambda: (self.name(), self.value(depth)))
        if self.seldom():
            return Counter({str(name): 2 for name, _ in pairs})
        return MappingProxyType(dict(pairs)) if self.seldom() else dict(pairs)

    def item(self, draw):
        """Return an item that `draw` draws, or something else."""
        if not self.seldom():
            return draw()
        return self.pick(ODD) if self.ConsumeBool() else self.value()

    def sequence(self, draw):
        """Return a list of items, or something else."""
        if self.seldom():
            return self.pick(ODD)
        items = self.several(lambda: self.item(draw))
        if self.seldom():
            array = np.empty(len(items), dtype=object)
            array[:] = items
            return array
        return tuple(items) if self.seldom() else items

    def sequences(self, draw):
        """Return a list of sequences, or something else."""
        if self.seldom():
            return self.pick((*ODD, "ab", {"a": 1}))
        sequences = self.several(lambda: self.sequence(draw))
        return tuple(sequences) if self.seldom() else sequences


def random_bytes():
    """Yield random seeds that are long enough for some sequences."""
    rng = np.random.default_rng(0)
    for length in (20, 100, 500) * 20:
        yield rng.bytes(length)
