"""Plots the output of `steadfold bench local` as a roofline: nanoseconds per element over the size of the array, with one
line per kernel. The lower limit is the time that reading the array takes.

  steadfold bench local --json --sizes 300,1000,3000,10000,30000,100000,300000,1000000,3000000,10000000 > local.json
  python3 docs/plots/local.py local.json local.svg     (also writes PNG and PDF; needs matplotlib)
  python3 docs/plots/local.py local.json               (prints the numbers as a table)
"""

import json
import math
import re
import sys
from pathlib import Path

BYTES = {"f64": 8, "f32": 4, "i64": 8, "i32": 4, "u64": 8, "u32": 4, "bf16": 2, "f16": 2}
LIMIT = "read"
OWN = ("tree", "exact", "binned")  # the names of Steadfold's kernels begin with these; their lines are thicker
COLOURS = {
    "tree": "#1b7837", "exact": "#2166ac", "exact dot": "#0e7490", "binned": "#762a83", "plain": "#8c510a",
    "accumulate": "#555555", "fastmath": "#6b6b6b", "kahan": "#b2182b", "neumaier": "#c2410c",
}  # fmt: skip


def series(rows):
    """The rows as {(type, threads): {kernel: [(bytes, ns, low, high), ...]}}, in ascending order of bytes. `ns` is the
    median per element, and `low` and `high` are its confidence interval."""
    found = {}
    for row in rows:
        point = (row["elements"] * BYTES[row["type"]], row["ns_per_element"], *row["ns_interval"])
        found.setdefault((row["type"], row["threads"]), {}).setdefault(row["kernel"], []).append(point)
    for kernels in found.values():
        for points in kernels.values():
            points.sort()
    return found


def cache_bytes(environment):
    """The data caches as [(name, bytes)]. "L2 Unified 1024K" becomes ("L2", 1048576)."""
    units = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
    found = []
    for text in environment.get("caches", []):
        match = re.fullmatch(r"(L\d) (Data|Unified) (\d+)([KMG]?)", text)
        if match:
            found.append((match[1], int(match[3]) * units[match[4]]))
    return found


def spread(heights, gap):
    """Moves the heights of labels as little as possible, until neighbours are `gap` apart. The axis is logarithmic."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    moved = list(heights)
    for _ in range(200):
        for low, high in zip(order, order[1:]):
            short = gap - (moved[high] - moved[low])
            if short > 1e-9:
                moved[low] -= short / 2
                moved[high] += short / 2
    return moved


def save(figure, target, **options):
    """Saves the plot. An SVG gets a style for readers whose system is in dark mode, as all pictures of the pages have."""
    is_svg = str(target).endswith(".svg")
    figure.savefig(target, metadata={"Date": None} if is_svg else None, **options)
    if is_svg:
        dark = "@media (prefers-color-scheme: dark) {svg {filter: invert(1) hue-rotate(180deg)}}"
        Path(target).write_text(Path(target).read_text().replace("</style>", f" {dark}</style>", 1))


def table(kind, kernels):
    lines = ["{} with {} thread(s): ns per element [interval of the median], ratio to read".format(*kind)]
    limits = {point[0]: point[1] for point in kernels[LIMIT]}
    for kernel, points in kernels.items():
        for size, ns, low, high in points:
            lines.append(f"  {kernel:12} {size:>12} bytes {ns:9.4f} [{low:.4f}, {high:.4f}] {ns / limits[size]:8.2f}")
    return "\n".join(lines)


def draw(axes, kind, kernels, environment):
    left, right = kernels[LIMIT][0][0], kernels[LIMIT][-1][0]
    floor = 0.7 * min(point[1] for point in kernels[LIMIT])
    limit = kernels[LIMIT]
    axes.fill_between([p[0] for p in limit], floor, [p[1] for p in limit], color="#dddddd", zorder=1)
    for kernel, points in kernels.items():
        own = kernel.startswith(OWN)
        style = {"color": COLOURS.get(kernel, "#333333"), "lw": 2.2 if own else 1.3, "ls": "-" if own else "--"}
        if kernel == LIMIT:
            style = {"color": "black", "lw": 2.2}
        sizes = [p[0] for p in points]
        axes.fill_between(sizes, [p[2] for p in points], [p[3] for p in points], color=style["color"], alpha=0.18, lw=0)
        axes.plot(sizes, [p[1] for p in points], marker="o", ms=3.2, zorder=3, **style)

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    top = 1.6 * max(point[1] for points in kernels.values() for point in points)
    axes.set_ylim(floor, top)
    names = list(kernels)
    ends = spread([math.log(kernels[name][-1][1]) for name in names], math.log(top / floor) / 24)
    for name, height in zip(names, ends):
        axes.annotate(
            "read: the limit" if name == LIMIT else name, (right, math.exp(height)), xytext=(6, 0),
            textcoords="offset points", va="center", annotation_clip=False,
            color="black" if name == LIMIT else COLOURS.get(name, "#333333"),
            fontweight="bold" if name == LIMIT or name.startswith(OWN) else "normal",
        )  # fmt: skip
    for name, size in cache_bytes(environment):
        if left < size < right:
            axes.axvline(size, color="#888888", lw=0.8, ls=":", zorder=0)
            axes.annotate(name, (size, top), xytext=(-3, -4), textcoords="offset points", ha="right", va="top",
                          color="#666666", fontsize=9)  # fmt: skip
    axes.set_xlabel("bytes read")
    axes.set_ylabel("ns per element")
    axes.set_title("{}, {} thread{}".format(*kind, "" if kind[1] == 1 else "s"))
    axes.grid(True, which="major", color="#eeeeee", zorder=0)
    axes.spines[["top", "right"]].set_visible(False)


def plot(found, environment, target):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator

    pyplot.rcParams.update({"font.size": 10, "svg.fonttype": "none"})
    figure, panels = pyplot.subplots(1, len(found), figsize=(8.2 * len(found), 5.4), squeeze=False)

    def as_bytes(value, _):
        for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
            if value >= size:
                return f"{value / size:g} {unit}"
        return f"{value:g} B"

    for axes, (kind, kernels) in zip(panels[0], found.items()):
        draw(axes, kind, kernels, environment)
        axes.xaxis.set_major_locator(LogLocator(base=4, numticks=20))
        axes.xaxis.set_major_formatter(FuncFormatter(as_bytes))
        axes.xaxis.set_minor_locator(LogLocator(base=4, subs=()))
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_locator(LogLocator(base=10, subs=()))
    where = f"{environment['cpu']}, {environment['widest_target']}, {environment['compiler']}, {environment['date'][:10]}"
    figure.text(0.01, 0.01, where, color="#666666", fontsize=8)
    figure.subplots_adjust(left=0.075 / len(found) ** 0.5, right=1 - 0.17 / len(found), wspace=0.45, bottom=0.13, top=0.93)
    save(figure, target, dpi=150)


def main(source, target=None):
    with open(source) as file:
        measured = json.load(file)
    found = series(measured["rows"])
    if target is None:
        print("\n".join(table(kind, kernels) for kind, kernels in found.items()))
    else:
        plot(found, measured["environment"], target)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
