"""ConvergenceDisplay: the duality gap of fits, or their score, after each epoch.

Owns the dashes of curves, and their colours, which colour-blind people can tell apart.
"""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, field
from itertools import cycle
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.given_estimators import check_given

from ._shared import crf_of, fitted_crf_of, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# More letters of parameters are no name in a legend.
_LONGEST = 40

# Targets with a smaller ratio are drawn as one line.
SAME_TARGET = 1.05

# Colours of Okabe and Ito, and dashes for print without colours.
_STYLES = (
    ("#0072B2", "-"),
    ("#D55E00", "--"),
    ("#009E73", "-."),
    ("#CC79A7", (0, (5, 1))),
    ("#E69F00", (0, (3, 1, 1, 1))),
    ("#56B4E9", (0, (7, 2))),
    ("#000000", ":"),
)
_GREY = "#707070"
_X_LABELS = {
    "epoch": "epoch",
    "updates": "parameter updates / n",
    "oracle_calls": "oracle calls / n",
    "seconds": "seconds",
}
_Y_LABELS = {
    "gap": "duality gap  (nats per sequence)",
    "suboptimality": "$P - P^*$  (nats per sequence)",
    "val_score": "score on held-out data",
}


@constructed
class ConvergenceDisplay:
    """Curves of the convergence of one or several fits.

    Make it with `from_estimator` or `from_estimators`.

    Parameters
    ----------
    histories : dict of str to dict of ndarrays of shape (n_epochs,)
        ``history_`` of each fit; the keys are the names in the legend.
    targets : dict of str to float, default=None
        The gap at which each fit should stop, tol * primal.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each fit.
    target_lines_ : list of matplotlib Line2D
        One for each distinct target. If there are several, the target of a single fit
        has the colour of its curve.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skcrf_sdca import OEGCRF, SDCACRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> from skcrf_sdca.plotting import ConvergenceDisplay
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> fits = [crf(random_state=0).fit(X, y) for crf in (SDCACRF, OEGCRF)]
    >>> display = ConvergenceDisplay.from_estimators(fits, x="oracle_calls")
    >>> [line.get_label() for line in display.lines_]
    ['SDCACRF', 'OEGCRF']
    >>> plt.close(display.figure_)
    """

    histories: Mapping[str, Mapping[str, NDArray[Any]]]
    _: KW_ONLY
    targets: Mapping[str, float] | None = None
    ax_: "Axes" = field(init=False)
    figure_: "Figure" = field(init=False)
    lines_: "list[Line2D]" = field(init=False)
    target_lines_: "list[Line2D]" = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, **options: Any
    ) -> Self:
        """Draw the convergence of one fit.

        Parameters
        ----------
        estimator : fitted CRF, or Pipeline or search that contains one
        name : str, default=None
            Name in the legend; by default the name of the class.
        **options
            Passed on to `plot`.

        Returns
        -------
        display : ConvergenceDisplay
        """
        check_given(estimator)
        name = type(crf_of(estimator)).__name__ if name is None else name
        return cls.from_estimators({name: estimator}, **options)

    @classmethod
    def from_estimators(
        cls, estimators: Mapping[str, Any] | Iterable[Any], **options: Any
    ) -> Self:
        """Draw the convergence of several fits to the same data into one plot.

        Parameters
        ----------
        estimators : dict of str to estimator, or iterable of estimators
            Fitted estimators; the keys are the names in the legend. Without keys, these
            are the names of the classes; if a class occurs again, with the parameters
            that differ, as in "SDCACRF(alpha=0.1)", or with a number.
        **options
            Passed on to `plot`.

        Returns
        -------
        display : ConvergenceDisplay

        Raises
        ------
        ValueError
            If there are no estimators.
        NotFittedError
            If one is not fitted.
        TypeError
            If one has no history of its fit.
        """
        if not isinstance(estimators, Mapping):
            estimators = _by_distinct_names(list(estimators))
        if not estimators:
            raise ValueError("estimators is empty; at least one is needed.")
        fits = {
            name: fitted_crf_of(crf, "history_", "gap_target_", name=f"fit {name!r}")
            for name, crf in estimators.items()
        }
        display = cls(
            {name: crf.history_ for name, crf in fits.items()},
            targets={name: crf.gap_target_ for name, crf in fits.items()},
        )
        return display.plot(**options)

    def plot(
        self,
        *,
        x: Literal["epoch", "updates", "oracle_calls", "seconds"] = "epoch",
        y: Literal["gap", "suboptimality", "val_score"] = "gap",
        optimum: float | None = None,
        target: bool = True,
        ax: "Axes | None" = None,
        curve_kwargs: dict[str, Any] | list[dict[str, Any]] | None = None,
    ) -> Self:
        """Draw the curves; the scale of gaps is logarithmic.

        Parameters
        ----------
        x : {"epoch", "updates", "oracle_calls", "seconds"}, default="epoch"
            Horizontal axis. Updates and oracle calls are divided by the number of
            sequences.
        y : {"gap", "suboptimality", "val_score"}, default="gap"
            The duality gap, or the suboptimality P - P*, which the gap bounds, or the
            score on the ``X_val`` and ``y_val`` of `fit`, in which a dot marks the best
            epoch.
        optimum : float, default=None
            The minimum P*. By default the largest dual objective of all fits, a lower
            bound of P*: the curves are then above the true suboptimality.
        target : bool, default=True
            Whether to draw a line at tol * primal, the gap at which fits stop; not if y
            is "val_score".
        ax : matplotlib Axes, default=None
            By default the axes of a new figure.
        curve_kwargs : dict or list of dict, default=None
            Options of matplotlib's ``plot`` for all curves, or for each of them.

        Returns
        -------
        display : ConvergenceDisplay

        Raises
        ------
        ValueError
            If x or y is none of these, if the list of curve_kwargs has another length,
            or if y is "val_score" and a fit was without ``X_val``.
        """
        for name, value, known in (("x", x, _X_LABELS), ("y", y, _Y_LABELS)):
            if value not in known:
                raise ValueError(f"{name} must be one of {list(known)}, got {value!r}.")
        heights = self._heights(y, optimum)
        ax = new_axes(ax)
        styles = self._styles(curve_kwargs)
        self.lines_ = [
            ax.plot(history[x], heights[name], **style)[0]
            for (name, history), style in zip(
                self.histories.items(), styles, strict=True
            )
        ]
        self.target_lines_ = []
        if y == "val_score":
            for line in self.lines_:
                line.set(marker="o", markevery=[int(np.argmax(line.get_ydata()))])
        else:
            if target and self.targets:
                self.target_lines_ = self._draw_targets(ax)
            if any((values > 0.0).any() for values in heights.values()):
                ax.set_yscale("log", nonpositive="mask")
        ax.set(xlabel=_X_LABELS[x], ylabel=_Y_LABELS[y])
        if x == "epoch" and ax.get_xscale() == "linear":
            ax.xaxis.get_major_locator().set_params(integer=True)
        _light_frame(ax)
        if len(self.lines_) + len(self.target_lines_) > 1:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _heights(self, y, optimum):
        """Return the values on the vertical axis for each fit."""
        fits = self.histories.items()
        if y in ("gap", "val_score"):
            without = [name for name, history in fits if y not in history]
            if without:
                raise ValueError(
                    f'y="{y}" needs fits with held-out data: pass X_val and y_val to '
                    f"the fit of {', '.join(without)}."
                )
            return {name: history[y] for name, history in fits}
        if optimum is None:
            optimum = max(history["dual"].max() for _, history in fits)
        return {name: history["primal"] - optimum for name, history in fits}

    def _styles(self, curve_kwargs):
        """Return the options of each curve for ``plot``."""
        n = len(self.histories)
        given = curve_kwargs if isinstance(curve_kwargs, list) else [curve_kwargs] * n
        if len(given) != n:
            raise ValueError(
                f"curve_kwargs has {len(given)} dicts, but there are {n} curves."
            )
        # A line does not show a single epoch; a marker does.
        single = any(len(history["gap"]) == 1 for history in self.histories.values())
        common = {"linewidth": 1.8, "marker": "o" if single else None, "markersize": 4}
        curves = zip(self.histories, cycle(_STYLES), given, strict=False)
        return [
            common | {"color": colour, "linestyle": dashes, "label": name} | (own or {})
            for name, (colour, dashes), own in curves
        ]

    def _draw_targets(self, ax):
        groups = self._targets_with_names()
        colours = {
            name: line.get_color()
            for name, line in zip(self.histories, self.lines_, strict=True)
        }
        lines = []
        for target, names in groups:
            # A target of one fit has the colour of its curve.
            is_own = len(groups) > 1 and len(names) == 1
            colour = colours.get(names[0], _GREY) if is_own else _GREY
            style = {"color": colour, "linewidth": 1, "linestyle": ":", "zorder": 1}
            lines.append(ax.axhline(target, **style))
        if len(groups) == 1:
            lines[0].set_label(r"target, tol $\times$ primal")
            return lines
        for line, (_, names) in zip(lines, groups, strict=True):
            line.set_label(f"target of {', '.join(names)}")
        return lines

    def _targets_with_names(self):
        """Return the distinct targets, smallest first, and the fits that have each."""
        # Fits to the same tol have targets that differ by their gaps.
        groups = []
        for name, target in sorted(self.targets.items(), key=itemgetter(1)):
            if groups and target <= SAME_TARGET * groups[-1][0]:
                groups[-1][1].append(name)
            else:
                groups.append((target, [name]))
        return groups


def _light_frame(ax):
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)


def _by_distinct_names(estimators):
    """Return estimators by names that tell them apart, see `from_estimators`."""
    for i, estimator in enumerate(estimators):
        check_given(estimator, "get_params", name=f"estimators[{i}]")
    steps = [crf_of(estimator) for estimator in estimators]
    names = [_name(step, [s for s in steps if type(s) is type(step)]) for step in steps]
    return {
        f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name: crf
        for i, (name, crf) in enumerate(zip(names, estimators, strict=True))
    }


def _name(estimator, alike):
    """Return the class, with the parameters in which estimators of the class differ."""
    params = [other.get_params(deep=False) for other in alike]
    differing = [k for k in params[0] if len({str(own[k]) for own in params}) > 1]

    def text(estimator):
        own = estimator.get_params(deep=False)
        return ", ".join(f"{name}={own[name]}" for name in differing)

    is_short = max(len(text(other)) for other in alike) <= _LONGEST
    return type(estimator).__name__ + (
        f"({text(estimator)})" if differing and is_short else ""
    )
