"""Templates: from which places, relative to a token, its features come.

A template stands for one or more features. A feature has one or more parts, and a part
is a value (see values.py) at a place. Templates are immutable, and equal if they stand
for the same features.
"""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, TypeAlias

from skcrf_sdca._utils.places import bounds_of, is_int

from .sizes import Size, check_places, check_sizes, size_of_product, size_of_runs
from .values import (
    Apply,
    Column,
    Function,
    Prefix,
    Shape,
    Suffix,
    has_digit,
    is_capitalized,
)


class Part(NamedTuple):
    """A value of the token at a place, relative to the token that has the feature."""

    value: Column | Function
    place: int


class Feature(NamedTuple):
    """The features with one name; their values, joined by "|", follow "="."""

    name: str
    parts: tuple[Part, ...]


def expanded(template):
    """Return the features of a template, a value or the name of a column."""
    if hasattr(template, "expand"):
        return template.expand()
    value = as_value(template)
    return [Feature(value.feature_name, (Part(value, 0),))]


def sized(template):
    """Return the size of a template, a value or the name of a column.

    The features of the templates of this package are not made for it.
    """
    if isinstance(template, (At, Window, Joint, LabelPairs)):
        return template._size()
    if hasattr(template, "expand"):
        features = template.expand()
        n_parts = max((len(feature.parts) for feature in features), default=0)
        n_characters = sum(len(feature.name) + 1 for feature in features)
        return Size(len(features), n_parts, n_characters)
    return Size(1, 1, len(as_value(template).feature_name) + 1)


def as_value(value):
    """Return a value as it is, and the name of a column as a Column."""
    if isinstance(value, str):
        return Column(value)
    if isinstance(value, (Column, Function)):
        return value
    hint = f": write Apply({value.__name__})" if hasattr(value, "__name__") else ""
    raise TypeError(
        f"{value!r} is neither the name of a column, nor a template, nor a value such "
        f"as Shape(){hint}."
    )


def _placed(parts):
    """Return the feature of these parts, whose name contains their places."""
    names = (f"{value.feature_name}[{place}]" for value, place in parts)
    return Feature("|".join(names), tuple(parts))


@dataclass(frozen=True)
class At:
    """A template of the value of the token at one place.

    Parameters
    ----------
    value : str, Apply, Shape, Prefix or Suffix
        Name of a column, or a function of one.
    place : int
        Relative to the token that has the feature: -1 is the token before it.

    Raises
    ------
    TypeError
        If `value` is none of these, or `place` is not an int.
    ValueError
        If `place` is not between -100 and 100.

    Examples
    --------
    >>> from skcrf_sdca.text import At, Shape, TokenFeatures
    >>> TokenFeatures([At(Shape(), -1)]).transform([["Dr", "No"]])
    [[(), ('shape[-1]=Xx',)]]
    """

    value: str | Function
    place: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        as_value(self.value)
        if not is_int(self.place):
            raise TypeError(f"place must be an int; got {self.place!r}.")
        check_places("place", self.place, int(self.place))

    def expand(self) -> list[Feature]:
        """Return the feature."""
        return [_placed([Part(as_value(self.value), int(self.place))])]

    def _size(self):
        place = int(self.place)
        return size_of_runs(as_value(self.value).feature_name, place, place)


@dataclass(frozen=True)
class Window:
    """A template of the values of neighbouring tokens, one by one or in runs.

    Parameters
    ----------
    value : str, Apply, Shape, Prefix or Suffix
        Name of a column, or a function of one.
    places : int or tuple (first, last), default=2
        First and last place, relative to the token that has the features; k stands for
        (-k, k). Places are between -100 and 100.
    n : int, default=1
        Length of the runs, at most 100. Each run of `n` neighbouring places from first
        to last is a feature.

    Raises
    ------
    TypeError
        If `value` is none of these, or `places` or `n` are not int.
    ValueError
        If there are fewer than `n` places, or a place or `n` is beyond its limit.

    Examples
    --------
    >>> from skcrf_sdca.text import TokenFeatures, Window
    >>> X = [["a", "big", "dog"]]
    >>> for features in TokenFeatures([Window("word", 1)]).transform(X)[0]:
    ...     print(features)
    ('word[0]=a', 'word[1]=big')
    ('word[-1]=a', 'word[0]=big', 'word[1]=dog')
    ('word[-1]=big', 'word[0]=dog')
    >>> TokenFeatures([Window("word", (-1, 0), n=2)]).transform(X)
    [[(), ('word[-1]|word[0]=a|big',), ('word[-1]|word[0]=big|dog',)]]
    """

    value: str | Function
    places: int | tuple[int, int] = 2
    n: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        as_value(self.value)
        first, last = self._bounds()
        if not is_int(self.n):
            raise TypeError(f"n must be an int; got {self.n!r}.")
        check_places("places", self.places, first, last)
        if not 1 <= self.n <= last - first + 1:
            raise ValueError(
                f"no run of n={self.n} places fits into places={self.places}."
            )
        check_sizes("Window", [self._size()])

    def _bounds(self):
        return bounds_of("places", self.places)

    def expand(self) -> list[Feature]:
        """Return the features in the order of their first places."""
        value = as_value(self.value)
        first, last = self._bounds()
        runs = (range(k, k + self.n) for k in range(first, last - self.n + 2))
        return [_placed([Part(value, place) for place in run]) for run in runs]

    def _size(self):
        return size_of_runs(
            as_value(self.value).feature_name, *self._bounds(), int(self.n)
        )


@dataclass(frozen=True, init=False)
class Joint:
    """A template that joins the features of several templates.

    If templates stand for several features, there is a joint feature for each
    combination of them.

    Parameters
    ----------
    *templates : str, Apply, Shape, Prefix, Suffix, At, Window or Joint
        Names of columns, functions of them, or templates.

    Raises
    ------
    TypeError
        If there are no templates, or one of them is of another type, such as
        `LabelPairs`.
    ValueError
        If the features have more than 100 parts, or their names have too many
        characters.

    Examples
    --------
    >>> from skcrf_sdca.text import At, Joint, Suffix, TokenFeatures
    >>> features = TokenFeatures([Joint(At("word", -1), Suffix(2))])
    >>> features.transform([["will", "grow"]])
    [[(), ('word[-1]|suffix2=will|ow',)]]
    """

    templates: tuple["Template", ...]

    def __init__(self, *templates: "Template") -> None:
        if not templates:
            raise TypeError("Joint() needs at least one template.")
        for template in templates:
            _check_inner(template)
        object.__setattr__(self, "templates", templates)
        check_sizes("Joint", [self._size()])

    def __repr__(self):
        """Return the expression that constructs the template."""
        return f"Joint({', '.join(map(repr, self.templates))})"

    def expand(self) -> list[Feature]:
        """Return a feature for each combination; the last template varies fastest."""
        return [
            Feature(
                "|".join(feature.name for feature in combination),
                sum((feature.parts for feature in combination), ()),
            )
            for combination in product(*map(expanded, self.templates))
        ]

    def _size(self):
        return size_of_product(list(map(sized, self.templates)))


def _check_inner(template):
    """Raise TypeError for an `LabelPairs` within another template."""
    if isinstance(template, LabelPairs):
        raise TypeError(
            f"{template!r} must not be part of another template: write it around the "
            "whole, as in LabelPairs(Joint(...))."
        )


@dataclass(frozen=True)
class LabelPairs:
    """A template whose features have weights for pairs of labels, too.

    The names of the features begin with "b:", by which an estimator finds them:
    ``edge_features=["b:*"]``. Each has then a weight for the label of its token, and
    one for each pair of this label and the label before. In the templates of Wapiti
    these are the lines that begin with "*".

    Parameters
    ----------
    template : str, Apply, Shape, Prefix, Suffix, At, Window or Joint
        Name of a column, a function of one, or a template.

    Raises
    ------
    TypeError
        If `template` is none of these.
    ValueError
        If the names of the features have too many characters.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF, make_tagger
    >>> from skcrf_sdca.text import LabelPairs, TokenFeatures
    >>> features = TokenFeatures([LabelPairs("word")])
    >>> features.transform([["it", "stays"]])
    [[('b:word=it',), ('b:word=stays',)]]
    >>> crf = SDCACRF(alpha=0.01, edge_features=["b:*"], random_state=0)
    >>> X = [["a", "stays"], ["a", "changes"], ["b", "stays"], ["b", "changes"]]
    >>> y = [["A", "A"], ["A", "B"], ["B", "B"], ["B", "A"]]
    >>> make_tagger(features, crf).fit(X, y).predict([["b", "changes"]]).tolist()
    [['B', 'A']]
    """

    template: "str | Function | At | Window | Joint"

    def __post_init__(self) -> None:
        """Check the template."""
        _check_inner(self.template)
        check_sizes("LabelPairs", [self._size()])

    def expand(self) -> list[Feature]:
        """Return the features of the template, by their longer names."""
        return [Feature(f"b:{name}", parts) for name, parts in expanded(self.template)]

    def _size(self):
        size = sized(self.template)
        n_characters = size.n_characters + len("b:") * size.n_features
        return size._replace(n_characters=n_characters)


Template: TypeAlias = str | Column | Function | At | Window | Joint | LabelPairs


def checked_features(templates, columns, pad):
    """Return the features of the templates of a TokenFeatures with these parameters.

    Raise TypeError or ValueError if a parameter is not valid.
    """
    check_types(templates, columns, pad)
    check_sizes("templates", map(sized, templates))
    features = [f for template in templates for f in expanded(template)]
    names = set()
    for feature in features:
        if feature.name in names:
            raise ValueError(f"templates has {feature.name!r} twice.")
        names.add(feature.name)
    return features


#: The templates of ``TokenFeatures()``, for tokens with one column, ``"word"``.
DEFAULT_TEMPLATES: tuple[Template, ...] = (
    Window("word", 2),
    Window("word", 1, n=2),
    Window(Shape(compact=True), 1),
    Shape(),
    *(Prefix(length) for length in (1, 2, 3, 4)),
    *(Suffix(length) for length in (1, 2, 3, 4)),
    Apply(is_capitalized),
    Apply(has_digit),
)


def check_types(templates, columns, pad):
    """Raise TypeError or ValueError if a parameter of a TokenFeatures has no such form.

    The templates themselves are not looked at.
    """
    for name, value in (("templates", templates), ("columns", columns)):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{name} must be a list or tuple; got {value!r:.60}.")
    if not all(isinstance(name, str) for name in columns):
        raise ValueError(f"columns must be str; got {columns!r:.60}.")
    if len(set(columns)) < len(columns):
        raise ValueError(f"columns has a name twice: {columns}.")
    if pad is not None and not (
        isinstance(pad, (list, tuple))
        and len(pad) == 2
        and all(isinstance(text, str) for text in pad)
    ):
        raise ValueError(f"pad must be None or a pair of str; got {pad!r}.")
