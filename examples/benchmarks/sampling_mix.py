"""Draw [LePriol18] figure 3: the probability of draws by gap, else uniform.

The curves show the duality gap of SDCA by epoch.

    python examples/benchmarks/sampling_mix.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

import figures
import runs
import tasks
from skcrf_sdca import SDCACRF

# None and 0.8 are in the table of solvers.
SHARES = {
    "none": {"sampling": "uniform"},
    "0.2": {"sampling_mix": 0.2},
    "0.5": {"sampling_mix": 0.5},
    "0.8": {},
    "all": {"sampling_mix": 1.0},
}


def main():
    """Draw a panel for each task."""
    names = "ocr", "ned"
    campaign = runs.start(__doc__, "images/sampling_mix.png", names=names)
    figure, axes = figures.panels(1, len(campaign.names), height=3.6, sharey=True)
    for axis, name in zip(axes[0], campaign.names, strict=True):
        task = campaign.load(name)
        colours = figures.shades(len(SHARES))
        for (share, parameters), colour in zip(SHARES.items(), colours, strict=True):
            history = campaign.fit(task, (SDCACRF, runs.PLAIN | parameters)).history
            epochs, gaps = history["epoch"], history["gap"]
            figures.curve(axis, epochs, gaps, f"{share} by gap", color=colour)
        figures.log_scale(axis, runs.TARGET, 30.0)
        axis.set_title(tasks.TITLES[name])
        axis.set_xlabel("epochs")
        axis.set_xlim(left=0)
    axes[0, 0].set_ylabel("duality gap  (nats a sequence)")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
