"""Draw [LePriol18] figure 8: how precise the line search of SDCA should be.

The upper panels show the duality gap by epoch for several precisions of the step. The
lower panels show how often a visit evaluates the slope, which is most of its cost. "1
step" is a single evaluation and one Newton step from the step of the last visit. As
always, a step that would lower the dual is halved until it does not.

    python examples/benchmarks/line_search.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

import figures
import runs
import tasks
from skcrf_sdca import SDCACRF

# A step moves by less than 1, so the first precision means one step; 1e-3 is default.
PRECISIONS = {
    "1 step": {"line_search_tol": 0.999},
    "1e-1": {"line_search_tol": 1e-1},
    "1e-2": {"line_search_tol": 1e-2},
    "1e-3": {},
    "1e-4": {"line_search_tol": 1e-4},
    "1e-6": {"line_search_tol": 1e-6},
    "1e-8": {"line_search_tol": 1e-8},
}


def draw(gaps, costs, histories, n_sequences):
    """Draw the curves of the gap, and a bar for the evaluations of a visit."""
    colours = figures.shades(len(histories))
    for (label, history), colour in zip(histories.items(), colours, strict=True):
        figures.curve(gaps, history["epoch"], history["gap"], label, color=colour)
        visits = n_sequences * history["updates"][-1]
        evaluations = history["evaluations"][-1] / visits
        bar = costs.bar(label, evaluations, width=0.6, color=colour, zorder=2)
        costs.bar_label(bar, [f"{evaluations:.1f}"])
    figures.log_scale(gaps, runs.TARGET, 30.0)
    gaps.set_xlim(left=0)
    gaps.set_xlabel("epochs")
    costs.set_xlabel("precision of the step")
    costs.grid(visible=False, axis="x")


def main():
    """Draw two panels for each task."""
    names = "ocr", "ned"
    campaign = runs.start(__doc__, "images/line_search.png", names=names)
    figure, axes = figures.panels(2, len(campaign.names))
    for (gaps, costs), name in zip(axes.T, campaign.names, strict=True):
        task = campaign.load(name)
        histories = {
            label: campaign.fit(task, (SDCACRF, runs.PLAIN | parameters)).history
            for label, parameters in PRECISIONS.items()
        }
        draw(gaps, costs, histories, len(task.X))
        gaps.set_title(tasks.TITLES[name])
    axes[0, 0].set_ylabel("duality gap  (nats a sequence)")
    axes[1, 0].set_ylabel("evaluations a visit")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
