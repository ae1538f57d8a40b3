"""Plots the times that python/benchmarks/peers.py measured: nanoseconds per element over the number of elements, with one
line per way to sum. A mark is filled if the bits of the sum were equal in all runs of peers.py, and hollow if they differed.

  python3 python/benchmarks/peers.py --json peers.json
  python3 docs/plots/python.py peers.json docs/plots/python.svg  (also writes PNG and PDF; needs matplotlib)
"""

import json
import math
import sys

from local import save, spread

COLOURS = {
    "steadfold.sum, exact": "#2166ac", "steadfold.sum, exact, float32": "#0e7490", "steadfold.sum, tree": "#1b7837",
    "steadfold.sum, binned": "#762a83", "steadfold.sum, exact, with comm, 2 ranks": "#053061", "steadfold.dask.sum, 8 chunks": "#6a51a3",
    "numpy.sum": "black", "numpy.sum, float32": "#6b6b6b", "numpy.sum and allreduce of mpi4py, 2 ranks": "#4d4d4d",
    "math.fsum of a list": "#b2182b", "accupy.kahan_sum": "#c2410c", "accupy.ksum, K = 2": "#b45309", "xsum.xsum_small": "#8c510a",
    "xsum.xsum_large": "#8a6500", "dask.array sum, 8 chunks": "#5f6b7a",
}  # fmt: skip
TOP = 100  # upper end of the axis, in ns; calls of dask for few elements lie above it


def stays(row):
    return all(count == 1 for count in row["results"].values())


def main(source, target):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator

    with open(source) as file:
        found = json.load(file)
    steady = {row["name"]: stays(row) for row in found["bits"]}
    steady["numpy.sum and allreduce of mpi4py, 2 ranks"] = steady["numpy.sum"]
    steady["steadfold.sum, exact, with comm, 2 ranks"] = steady["steadfold.sum, exact"]
    pyplot.rcParams.update({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "steadfold"})
    figure, axes = pyplot.subplots(figsize=(10.2, 6.2))
    ends = []
    for name, sizes in found["times"].items():
        own = name.startswith("steadfold")
        colour = COLOURS.get(name, "#333333")
        points = [(int(size), by["median"], by["least"]) for size, by in sizes.items()]
        axes.fill_between([p[0] for p in points], [p[2] for p in points], [p[1] for p in points], color=colour, alpha=0.12, lw=0)
        axes.plot([p[0] for p in points], [p[1] for p in points], color=colour, lw=2.2 if own else 1.3, ls="-" if own else "--", marker="o",
                  ms=5, mfc=colour if steady.get(name) else "white", zorder=3)  # fmt: skip
        ends.append((name, points[-1], colour, own))
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = 0.5 * min(least for sizes in found["times"].values() for least in (by["least"] for by in sizes.values())), TOP
    axes.set_ylim(low, high)
    heights = spread([math.log(point[1]) for _, point, _, _ in ends], math.log(high / low) / 22)
    for (name, point, colour, own), height in zip(ends, heights):
        axes.annotate(name, (point[0], math.exp(height)), xytext=(10, 0), textcoords="offset points", va="center", annotation_clip=False,
                      color=colour, fontweight="bold" if own else "normal", fontsize=9)  # fmt: skip
    axes.set_xlabel("elements (float64 where nothing else is said)")
    axes.set_ylabel(f"ns of {found['environment']['clock']} time per element, medians")
    axes.set_title("Sums in Python. Filled marks: bits stayed in all that was tried; hollow: they changed", loc="left", fontsize=10)
    axes.yaxis.set_major_locator(LogLocator(base=10))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(LogLocator(base=10, subs=()))
    axes.xaxis.set_minor_locator(LogLocator(base=10, subs=()))
    axes.grid(True, which="major", color="#eeeeee", zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    place = found["environment"]
    figure.text(0.01, 0.01, f"{place['cpu']}, {place['cores']} cores, {', '.join(place['versions'])}, {place['date']}", color="#666666",
                fontsize=8)  # fmt: skip
    figure.subplots_adjust(left=0.08, right=0.66, bottom=0.13, top=0.93)
    save(figure, target, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
