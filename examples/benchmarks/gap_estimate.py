"""Draw [LePriol18] figure 9: the estimated gap of a solver divided by its true gap.

The estimate is the mean of the gaps that were recorded at the last visit of each
sequence; it costs nothing. It is far too large before every sequence was visited. The
shaded area is a factor of two of the true gap.

    python examples/benchmarks/gap_estimate.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

import figures
import runs
import tasks

LABELS = "SDCA", "SDCA-GAP", "OEG", "OEG-GAP"


def main():
    """Draw a panel for each task."""
    campaign = runs.start(__doc__, "images/gap_estimate.png")
    figure, axes = figures.panels(1, len(campaign.names), sharey=True)
    for axis, name in zip(axes[0], campaign.names, strict=True):
        task = campaign.load(name)
        axis.axhspan(0.5, 2.0, color="#eeeeee", zorder=0)
        for label in LABELS:
            history = campaign.fit(task, runs.SOLVERS[label]).history
            ratio = history["gap_estimate"] / history["gap"]
            figures.curve(axis, history["epoch"], ratio, label)
        figures.log_scale(axis, 0.1, 100.0)
        axis.set_title(tasks.TITLES[name])
        axis.set_xlabel("epochs")
        axis.set_xlim(left=0)
    axes[0, 0].set_ylabel("estimate / duality gap")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
