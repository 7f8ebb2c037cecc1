"""Draw [LePriol18] figure 2: the sampling schemes of SDCA on OCR.

The left panel shows the duality gap by epoch. The right panel shows the mean of the
gaps recorded at visits, divided by the true gap. Always drawing the largest recorded
gap fails: the records of sequences that are not drawn become stale, and are never
updated. One in five draws of each scheme is uniform, except for the last scheme.

    python examples/benchmarks/sampling_schemes.py [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

import figures
import runs
from skcrf_sdca import SDCACRF

# Parameters, colour and dashes; the first two are in the table of solvers.
SCHEMES = {
    "uniform": ({"sampling": "uniform"}, *figures.LINES["SDCA"]),
    "gap": ({}, *figures.LINES["SDCA-GAP"]),
    "importance": ({"sampling": "importance"}, "#E69F00", "-"),
    "gap_importance": ({"sampling": "gap_importance"}, "#009E73", "-"),
    "max": ({"sampling": "max"}, "#D55E00", "-"),
    "max, always": ({"sampling": "max", "sampling_mix": 1.0}, "#000000", ":"),
}


def main():
    """Draw the gap, and the estimate of the gap."""
    campaign = runs.start(__doc__, "images/sampling_schemes.png", names=("ocr",))
    task = campaign.load("ocr")
    figure, ((left, right),) = figures.panels(1, 2, height=3.6)
    for label, (parameters, colour, dashes) in SCHEMES.items():
        history = campaign.fit(task, (SDCACRF, runs.PLAIN | parameters)).history
        style = {"color": colour, "linestyle": dashes}
        figures.curve(left, history["epoch"], history["gap"], label, **style)
        ratio = history["gap_estimate"] / history["gap"]
        figures.curve(right, history["epoch"], ratio, label, **style)
    figures.log_scale(left, runs.TARGET, 30.0)
    figures.log_scale(right, 1e-3, 1e2)
    left.set_ylabel("duality gap  (nats a sequence)")
    right.set_ylabel("recorded gaps / true gap")
    for axis in left, right:
        axis.set_xlabel("epochs")
        axis.set_xlim(left=0)
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
