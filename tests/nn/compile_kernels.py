"""Compiles every kernel for a GPU, which need not be there, and prints those that fail."""

from __future__ import annotations

from itertools import product
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from sepool.bench import adam, adam_kernel, store_kernels
from sepool.nn import gather_kernels, kernels

TARGET = GPUTarget("cuda", 90, 32)
NUMBERS = (
    *("rows", "width", "depth", "span", "lines", "replicas", "start", "end"),
    *store_kernels.NUMBERS,
)
REAL, LONG = ("clip",), ("salt",)
INDICES = ("ptr", "index", "source", "assignment", "keys", "steps")
WIDTHS = (1, 4, 16, 32, 100)
CUTTING = (
    store_kernels._begin,
    store_kernels._level,
    store_kernels._adjacency,
    store_kernels._turn,
)
CUT = {"there": "*i1", **dict.fromkeys(("weight", "node", "new_weight", "new_node"), "*fp32")}


def main() -> None:
    for width, aligned in product(WIDTHS, (False, True)):
        tile = dict(zip(("ROWS", "WIDTH"), kernels._tiles(1000, width)[1:], strict=True))
        for index, largest in product((False, True), repeat=2):
            flags = {"INDEX": index, "WEIGHT": index, "RELU": not index, "MAX": largest}
            attempt(kernels._sum_rows, {**flags, "AHEAD": kernels.AHEAD, **tile}, aligned)
        attempt(kernels._copy_rows, {"GATE": True, **tile}, aligned)
        attempt(kernels._dot_rows, tile, aligned)
        for side in (False, True):
            attempt(kernels._drop_rows, {"SIDE": side, **tile}, aligned)
    betas = {"BETA": 0.9, "BETA2": 0.999, "LOG": -0.1, "LOG2": -0.001, "EPSILON": adam.EPSILON}
    for clip, aligned in product((False, True), repeat=2):
        constants = {"CLIP": clip, "BLOCK": adam_kernel.BLOCK, **betas, "TINY": adam.TINY}
        attempt(adam_kernel._adam, constants, aligned)
    sides = {name: getattr(gather_kernels, name) for name in ("TALL", "WIDE", "DEEP")}
    for aligned in (False, True):
        attempt(gather_kernels._product, sides, aligned)
        attempt(gather_kernels._gradient, sides, aligned)
        cut_batches(aligned)


def cut_batches(aligned: bool) -> None:
    """Compiles what cuts batches, of few graphs and of many."""
    begin, level, adjacency, turn = CUTTING
    block = {"BLOCK": store_kernels.BLOCK}
    attempt(turn, block, aligned)
    for steps in (0, 3, 5, 7, 11):
        attempt(begin, {"WIDTH": max(1 << steps, store_kernels.LEAST)}, aligned)
        for line, top in ((0, False), (1, False), (2, True)):
            attempt(level, {"LINE": line, "TOP": top, "STEPS": steps, **block}, aligned)
        for node in (False, True):
            lines = {"LINE": 1, "ENTRIES": 4, "NODE": node}
            attempt(adjacency, {**lines, "STEPS": steps, **block}, aligned)


def attempt(kernel: Any, constants: dict[str, Any], aligned: bool) -> None:
    """Compiles a kernel; aligned: all numbers are multiples of 16, which Triton makes use of."""
    types = {name: _type(kernel, name, constants) for name in kernel.arg_names}
    hinted = ("*", "i") if aligned else ("*",)
    even = [place for place, kind in enumerate(types.values()) if kind.startswith(hinted)]
    source = ASTSource(
        fn=kernel,
        signature=types,
        constexprs={(kernel.arg_names.index(name),): value for name, value in constants.items()},
        attrs={(place,): [["tt.divisibility", 16]] for place in even},
    )
    try:
        triton.compile(source, target=TARGET)
    except RuntimeError as error:
        print(kernel.__name__, constants, "aligned" if aligned else "", error)


def _type(kernel: Any, name: str, constants: dict[str, Any]) -> str:
    if name in constants:
        return "constexpr"
    if name in NUMBERS:
        return "i32"
    if name in REAL + LONG:
        return "fp32" if name in REAL else "i64"
    if kernel in CUTTING:
        return CUT.get(name, "*i64")
    rows = kernel is kernels._dot_rows and name in ("first", "second")
    return "*i64" if name in INDICES or rows else "*fp32"


if __name__ == "__main__":
    main()
