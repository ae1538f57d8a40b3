"""Stores in the notebooks the output that their cells had when ./dev site last ran them: python3 docs/notebooks/keep.py"""

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXECUTED = HERE.parents[1] / "build/jupyter_execute/notebooks"


def joined(outputs):
    """The outputs of a cell, with consecutive pieces of one stream joined."""
    found = []
    for output in outputs:
        if found and output["output_type"] == "stream" and output.get("name") == found[-1].get("name"):
            found[-1] = {**output, "text": [*found[-1]["text"], *output["text"]]}
        else:
            found.append(output)
    return found


def main():
    for path in sorted(HERE.glob("*.ipynb")):
        book, executed = (json.loads(each.read_text()) for each in (path, EXECUTED / path.name))
        for cell, other in zip(book["cells"], executed["cells"], strict=True):
            if cell["cell_type"] != "code":
                continue
            if cell["source"] != other["source"]:
                raise SystemExit(f"{path.name}: {cell['id']} has changed since ./dev site ran it, run it again")
            cell["outputs"], cell["execution_count"] = joined(other["outputs"]), other["execution_count"]
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
