"""Parsing and checking of command-line options that choose names or numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

from sepool_experiments.protocols.protocol import DATASETS, TREES, Protocol

MAX_COUNT, MAX_SEED = 10_000, 2**32  # numbers in one option, and their upper bound


def parse_names(text: str) -> list[str] | None:
    """Return comma-separated names without duplicates, or None for an empty text.

    >>> parse_names("MUTAG, NCI1,MUTAG"), parse_names("")
    (['MUTAG', 'NCI1'], None)
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    return list(dict.fromkeys(names)) or None


def parse_numbers(option: str, text: str, limit: int | None = None) -> list[int] | None:
    """Parse "3" as 0, 1, 2 and "1,4-6" as 1, 4, 5, 6.

    Example:
        >>> parse_numbers("--seeds", "3"), parse_numbers("--seeds", "1,4-6")
        ([0, 1, 2], [1, 4, 5, 6])
    """
    if not text:
        return None
    try:
        ranges = _ranges(text)
    except ValueError:
        raise ValueError(f"{option} takes a count (3) or a list (0,4-6), got {text!r}") from None
    ranges = [part for part in ranges if part.start < part.stop]
    if not ranges:
        raise ValueError(f"{option} {text} chooses nothing (4 is the first four, 4-4 is number 4)")
    stop = max(part.stop for part in ranges)
    if limit is not None and stop > limit:
        raise ValueError(f"{option} {text} exceeds the {limit} of this table")
    if sum(part.stop - part.start for part in ranges) > MAX_COUNT:
        raise ValueError(f"{option} {text} chooses more than {MAX_COUNT:,} numbers")
    if stop > MAX_SEED:
        raise ValueError(f"{option} must be below {MAX_SEED:,}, got {stop - 1}")
    return list(dict.fromkeys(number for part in ranges for number in part))


def _ranges(text: str) -> list[range]:
    if text.isdecimal():
        return [range(int(text))]
    ends = (part.partition("-") for part in text.split(",") if part)
    return [range(int(first), int(last or first) + 1) for first, _, last in ends]


def check_names(noun: str, names: Iterable[str], valid: Collection[str]) -> None:
    """Raise ValueError for a name that is not valid, with the closest valid names.

    >>> check_names("dataset", ["MUTAQ"], ["MUTAG", "NCI1"])
    Traceback (most recent call last):
    ValueError: unknown dataset 'MUTAQ'; did you mean MUTAG?
    """
    by_lower = {name.lower(): name for name in valid}
    for name in names:
        if name in valid:
            continue
        close = get_close_matches(name.lower(), by_lower, n=3, cutoff=0.4)
        offer = " or ".join(by_lower[text] for text in close)
        hint = f"did you mean {offer}?" if close else f"choose from {', '.join(valid)}"
        raise ValueError(f"unknown {noun} {name!r}; {hint}")


def check_choice(
    protocol: Protocol,
    datasets: Sequence[str] | None,
    systems: Sequence[str] | None,
    trees: Sequence[str] | None,
    systems_of: Mapping[str, Collection[str]],
    own_datasets: Sequence[str] = (),
) -> None:
    """Raise ValueError for datasets, systems or trees that do not fit a protocol."""
    for name in datasets or ():
        if DATASETS.get(name, protocol.task) != protocol.task:
            raise ValueError(
                f"{name} is for the classification of {DATASETS[name]}, {protocol.name} is about "
                f"{protocol.task}"
            )
    fitting = [name for name, classified in DATASETS.items() if classified == protocol.task]
    check_names("dataset", datasets or (), list(dict.fromkeys([*fitting, *own_datasets])))
    check_names("tree", trees or (), TREES)
    for classified, names in systems_of.items():
        for name in systems or ():
            if name in names and name not in systems_of[protocol.task]:
                raise ValueError(
                    f"{name} classifies {classified}, {protocol.name} is about {protocol.task}"
                )
    check_names("system", systems or (), list(systems_of[protocol.task]))
