"""Renders all measured tables into benchmarks/README.md: `python benchmarks/report.py`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import page_communities
import page_depth
import page_epoch
import page_large
import page_minimisers
import page_permutation
import page_pyg
import page_quality
import page_reading
import page_speed
from page import Section, verdict_table
from results import HERE, QUICK, Row, load

SECTIONS: dict[str, Callable[[list[Row]], Section]] = {
    "communities": page_communities.communities,
    "minimisers": page_minimisers.minimisers,
    "depth": page_depth.depth,
    "entropy": page_quality.entropy,
    "optimum": page_quality.optimum,
    "relabel": page_quality.relabel,
    "permutation": page_permutation.permutation,
    "trees": page_quality.trees,
    "retrained": page_quality.retrained,
    "speed": page_speed.speed,
    "scale": page_speed.scale,
    "reading": page_reading.reading,
    "large": page_large.large,
    "pyg": page_pyg.pyg,
    "epoch": page_epoch.epoch,
    "tree_conv": page_epoch.tree_conv,
    "epoch_cuda": page_epoch.epoch_cuda,
    "lockstep": page_epoch.lockstep,
    "systems_cuda": page_epoch.systems_cuda,
}

HEAD = """\
# sepool against its peers

How low, how fast, how far: the trees of sepool's three methods (`best`, `fast`, `paper`) next \
to torch-geometric-pool's SEP selector (tgp SEP, a port of the code released with the paper), \
Infomap, igraph's Leiden and Louvain, and networkit's PLM. This page is written by `report.py` \
from the rows in `results/`; no figure is typed by hand.

```
pip install -r benchmarks/requirements.txt            # see the notes in that file
python benchmarks/run_all.py --data ROOT              # all that needs no GPU, some hours
python benchmarks/run_all.py --data ROOT --quick      # minutes, into results/quick
python benchmarks/speed.py --data ROOT --parts small  # one script, one part
```

`ROOT` holds `TU/<NAME>/raw` and `Planetoid/<Name>/raw` as PyTorch Geometric's datasets leave \
them; `SEPOOL_DATA` can name it too. Without it only generated graphs are measured."""


def sections(files: dict[str, Row]) -> dict[str, Section]:
    """The sections of the scripts that have run."""
    return {name: make(files[name]["rows"]) for name, make in SECTIONS.items() if name in files}


def render(quick: bool) -> str:
    files = load(quick)
    parts = [HEAD]
    if quick:
        parts.append("**These are the figures of a quick run: small samples, few repeats.**")
    if not files:
        parts.append("Nothing has been measured yet.")
    done = sections(files)
    verdicts = [verdict for section in done.values() for verdict in section.verdicts]
    met = sum(verdict.met for verdict in verdicts)
    if verdicts:
        parts += ["## Targets", f"{met} of {len(verdicts)} met.", verdict_table(verdicts)]
    for name, section in done.items():
        parts += [f"## {section.title}", section.text, *section.tables, _source(files[name])]
    return "\n\n".join(parts) + "\n"


def _source(file: Row) -> str:
    """The run behind a file, and the earlier runs of its other parts."""
    earlier: dict[str, list[str]] = {}
    for part, run in file.get("runs", {}).items():
        earlier.setdefault(_run(run), []).append(part)
    lines = [f"{', '.join(parts)}: {text}" for text, parts in earlier.items()]
    return "\n\n".join([_run(file, f"{_duration(file['seconds'])} "), *lines])


def _run(file: Row, duration: str = "") -> str:
    machine, versions = file["machine"], file["versions"]
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    accelerator = f"{machine['accelerator']}, " if "accelerator" in machine else ""
    return (
        f"`{file['command']}`, {file['date']}, {duration}on "
        f"{accelerator}{machine['processor']} ({machine['cores']} cores, "
        f"{machine['memory_gib']:g} GiB, {machine['system']}), "
        f"Python {machine['python']}, {packages}."
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="render the quick results instead")
    quick = options.parse_args().quick
    target = (QUICK if quick else HERE) / "README.md"
    target.write_text(render(quick))
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
