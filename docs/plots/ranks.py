"""Plots the time of allreduces between two ranks, relative to MPI_Allreduce, over the length of the vector."""

from .local import save

STYLES = {"tree": "#1b7837", "exact": "#2166ac", "binned": "#762a83"}
LINES = {"plan": "-", "plan, sf_allocate": ":", "allreduce": "--"}


def plot(rows, calls, counts, where, target):
    """Draws the plot and saves it as `target`. `rows`: {(library, method, call, count): row}; each row has a `ratio`.
    `calls`: the lines of the plot, as (method, call, label). `where`: the text below the plot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    pyplot.rcParams.update({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "ranks"})
    libraries = sorted({library for library, *_ in rows}, reverse=True)
    figure, panels = pyplot.subplots(1, len(libraries), figsize=(5.2 * len(libraries), 4.2), sharey=True, squeeze=False)
    for axes, library in zip(panels[0], libraries):
        axes.axhline(1, color="black", lw=1.5)
        axes.annotate("MPI_Allreduce", (counts[-1], 1), xytext=(0, 4), textcoords="offset points", ha="right", fontsize=9)
        for method, call, label in calls:
            ratios = [rows[library, method, call, count]["ratio"] for count in counts]
            axes.plot(counts, ratios, marker="o", ms=3.5, color=STYLES[method], ls=LINES[call], label=label.replace("`", ""))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_yticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
        axes.minorticks_off()
        axes.set_title(library)
        axes.set_xlabel("doubles in each rank's vector")
        axes.grid(True, color="#eeeeee")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("time / time of MPI_Allreduce")
    panels[0][-1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    figure.text(0.01, 0.01, where, color="#666666", fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    save(figure, target)
