"""Texts of options that choose some of many, by name or by number."""

from __future__ import annotations

MOST, HIGHEST = 10_000, 2**32  # numbers at once, and what seeds stay below


def chosen_names(text: str) -> list[str] | None:
    """Names with commas between them, each once; None where there are none.

    >>> chosen_names("MUTAG, NCI1,MUTAG"), chosen_names("")
    (['MUTAG', 'NCI1'], None)
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    return list(dict.fromkeys(names)) or None


def chosen_numbers(option: str, text: str, limit: int | None = None) -> list[int] | None:
    """Reads "3" as 0, 1, 2 and "1,4-6" as 1, 4, 5, 6.

    Args:
        option: what the text was given for, to be named in errors.
        text: the choice; "" for none.
        limit: what all numbers must stay below.

    Example:
        >>> chosen_numbers("--seeds", "3"), chosen_numbers("--seeds", "1,4-6")
        ([0, 1, 2], [1, 4, 5, 6])
    """
    if not text:
        return None
    try:
        parts = _ranges(text)
    except ValueError:
        raise ValueError(f"{option} takes a count (3) or a list (0,4-6), got {text!r}") from None
    parts = [part for part in parts if part.start < part.stop]
    if not parts:
        raise ValueError(f"{option} {text} chooses nothing (4 is the first four, 4-4 is number 4)")
    if limit is not None and max(part.stop for part in parts) > limit:
        raise ValueError(f"{option} {text} goes beyond the {limit} there are")
    if sum(part.stop - part.start for part in parts) > MOST:
        raise ValueError(f"{option} {text} chooses more than {MOST:,} numbers")
    if (highest := max(part.stop for part in parts) - 1) >= HIGHEST:
        raise ValueError(f"{option} must stay below {HIGHEST:,}, got {highest}")
    return list(dict.fromkeys(number for part in parts for number in part))


def _ranges(text: str) -> list[range]:
    if text.isdecimal():
        return [range(int(text))]
    ends = (part.partition("-") for part in text.split(",") if part)
    return [range(int(first), int(last or first) + 1) for first, _, last in ends]
