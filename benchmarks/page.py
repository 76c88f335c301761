"""Small pieces of Markdown, and verdicts on targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from results import Row


@dataclass(frozen=True)
class Verdict:
    """A target, what was measured, and whether that meets it."""

    target: str
    measured: str
    met: bool

    @property
    def word(self) -> str:
        return "met" if self.met else "**not met**"


Render = Callable[[list[Row]], tuple[str, list[Verdict]]]


@dataclass(frozen=True)
class Section:
    """One script's part of the page."""

    title: str
    text: str
    tables: list[str]
    verdicts: list[Verdict]

    @classmethod
    def of_parts(cls, title: str, text: str, rows: list[Row], parts: dict[str, Render]) -> Section:
        """A table and its verdicts for every part of the rows that was measured."""
        groups = {name: [row for row in rows if row["part"] == name] for name in parts}
        made = [parts[name](group) for name, group in groups.items() if group]
        verdicts = [verdict for _, found in made for verdict in found]
        return cls(title, text, [table for table, _ in made], verdicts)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], others: str = "---:") -> str:
    """A Markdown table; the first column is left aligned, all others right by default."""
    lines = [header, ["---"] + [others] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def verdict_table(verdicts: list[Verdict]) -> str:
    lines = [[v.target, v.measured, v.word] for v in verdicts]
    return table(["target", "measured", "verdict"], lines, others="---")


def not_on(names: list[str], most: int = 4) -> str:
    """The names on which a target is missed, to stand behind what was measured."""
    if not names:
        return ""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return "; not on " + " / ".join(names[:most]) + more


def grouped(rows: Iterable[Row], *keys: str) -> list[tuple[tuple[Any, ...], list[Row]]]:
    """Rows that agree on ``keys``, in order of first appearance (they stand together)."""
    found = groupby(rows, lambda row: tuple(row.get(key) for key in keys))
    return [(key, list(group)) for key, group in found]


def columns(rows: Iterable[Row], field: str) -> list[str]:
    """The names inside a dictionary field of the rows, in order of first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row[field]))


def bits(value: float | None, least: float | None = None) -> str:
    """An entropy; bold if it is the least of its row, as far as one can see."""
    if value is None:
        return ""
    text = f"{value:.4f}"
    return f"**{text}**" if least is not None and text == f"{least:.4f}" else text


def seconds(value: float | None) -> str:
    if value is None:
        return ""
    if value >= 1000:
        return f"{value:,.0f} s"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.1g} s"


def times(ratio: float) -> str:
    return f"{ratio:,.0f}x" if ratio >= 1000 else f"{ratio:.4g}x"


def percent(value: float) -> str:
    return f"{100 * value:.3f} %"


def count(value: float) -> str:
    """A large number in words that fit a table."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value:,.0f}"
