"""Compiles every kernel for a GPU, which need not be there, and prints those that fail."""

from __future__ import annotations

from itertools import product
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from sepool.nn import (
    attention_kernels,
    beside_kernels,
    kernels,
    layer_kernels,
    norm_kernels,
    norm_pass_kernels,
    product_kernels,
    softmax_kernels,
)
from sepool_experiments.engine import adam
from sepool_experiments.kernels import adam as adam_kernel
from sepool_experiments.kernels import batches as store_kernels
from sepool_experiments.kernels import steps as step_kernels
from sepool_experiments.models.graphs import (
    dense_kernels,
    largest_kernels,
    look_kernels,
    rank_kernels,
    selection_kernels,
)

TARGET = GPUTarget("cuda", 90, 32)
SHARED = 227 * 1024  # bytes that a program may have there
NUMBERS = ("rows", "width", "depth", "lines", "replicas", "start", "end")
SIZES = ("graphs", "room", "length", "stride", "seen_stride", "size", "line")
REAL, LONG = ("clip", "epoch", "warm", "epochs", "even"), ("salt",)
TRUTHS = ("cosine", "there", "near", "nodes")
INDICES = ("ptr", "index", "source", "assignment", "real", "keys", "steps", "y", "graph", "rank")
PLACES = ("order", "row", "place", "parent")
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
        tile = dict(zip(("ROWS", "WIDTH"), kernels.tiles(1000, width)[1:], strict=True))
        for index, largest in product((False, True), repeat=2):
            flags = {"INDEX": index, "WEIGHT": index, "RELU": not index, "MAX": largest}
            flags |= {"AHEAD": kernels.AHEAD}
            attempt(kernels._sum_rows, {**flags, **tile}, aligned)
        for relu in (False, True):
            flags = {"RELU": relu, "AHEAD": kernels.AHEAD}
            attempt(kernels._sum_long, {**flags, **tile}, aligned)
        attempt(kernels._copy_rows, {"GATE": True, "TIMES": True, "BASE": True, **tile}, aligned)
        attempt(kernels._dot_rows, tile, aligned)
        for side in (False, True):
            attempt(kernels._drop_rows, {"SIDE": side, **tile}, aligned)
        for first, weight, scale in product((False, True), repeat=3):
            flags = {"FIRST": first, "WEIGHT": weight, "SCALE": scale, "AHEAD": kernels.AHEAD}
            attempt(beside_kernels._beside, {**flags, **tile}, aligned)
            attempt(beside_kernels._join, {**flags, **tile}, aligned)
    betas = {"BETA": 0.9, "BETA2": 0.999, "LOG": -0.1, "LOG2": -0.001, "EPSILON": adam.EPSILON}
    for clip, aligned in product((False, True), repeat=2):
        constants = {"CLIP": clip, "BLOCK": adam_kernel.BLOCK, **betas, "TINY": adam.TINY}
        attempt(adam_kernel._adam, constants, aligned)
    for aligned in (False, True):
        for kernel in (step_kernels._keys, step_kernels._rates):
            attempt(kernel, {"BLOCK": step_kernels.BLOCK}, aligned)
        for width in (2, 4, 16):
            attempt(step_kernels._losses, {"ROWS": step_kernels.ROWS, "WIDTH": width}, aligned)
    for aligned in (False, True):
        layers(aligned)
        attention(aligned)
        cut_batches(aligned)
    baselines()


def layers(aligned: bool) -> None:
    """Compiles linear layers, with ReLU, summed to parents and alone; of a table and of nodes."""
    for own, exact, relu, summed, copies in product((False, True), repeat=5):
        if own and exact:
            continue  # only tables are
        for depth, width in ((64, 2), (128, 64)) if own else ((112, 64), (369, 128)):
            layer(depth, width, aligned, own, exact, relu, summed, copies)


def layer(
    depth: int, width: int, aligned: bool,
    own: bool, exact: bool, relu: bool, summed: bool, copies: bool,
) -> None:  # fmt: skip
    """Compiles the kernels of one kind of layer."""
    tile = {**layer_kernels._at_most(layer_kernels.PRODUCT, WIDE=width), "WIDTH": width}
    attempt(product_kernels.product, {"OWN": own, "EXACT": exact, "RELU": relu, **tile}, aligned)
    tile = layer_kernels._at_most(layer_kernels._pooled_tile(width), WIDE=width)
    flags = {"OWN": own, "EXACT": exact, "COPIES": copies, "WIDTH": width}
    attempt(product_kernels.pooled_product, {**flags, **tile}, aligned)
    flags |= {"GATED": relu or summed, "SUMMED": summed}
    tile = layer_kernels._gradient_tile(depth, width, copies)
    attempt(product_kernels.gradient, {**flags, **tile}, aligned)
    flags |= {"RELU": own, "DEPTH": depth}
    del flags["OWN"], flags["EXACT"]
    tile = layer_kernels._at_most(layer_kernels.PRODUCT, WIDE=depth)
    attempt(product_kernels.back, {**flags, **tile}, aligned)


def attention(aligned: bool) -> None:
    """Compiles attention and its gradients, of narrow rows and of the widest."""
    passes = attention_kernels._attend, attention_kernels._to_targets, attention_kernels._to_sources
    widths, either = (4, 64, attention_kernels.WIDEST), (False, True)
    for width, extra, looked_up, summed in product(widths, either, either, either):
        told = {"SLOPE": 0.2, "EXTRA": extra, "LOOKUP": looked_up, "SUMMED": summed}
        told |= attention_kernels.tile(width)
        attempt(passes[0], {**told, "ENTRIES": attention_kernels.ENTRIES}, aligned)
        for kernel in passes[1:]:
            for times in (False, True) if summed else (False,):
                attempt(kernel, {**told, "TIMES": times}, aligned)


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


def baselines() -> None:
    """What only `sepool_experiments.models.graphs` has, and the softmax."""
    for aligned in (False, True):
        for kernel in (look_kernels._remember, look_kernels._remember_gradient):
            attempt(kernel, {"BLOCK": look_kernels.BLOCK}, aligned)
        for width in (32, 128):
            tile = {"NODES": look_kernels.NODES, "WIDTH": width}
            attempt(look_kernels._recall, tile, aligned)
            attempt(look_kernels._recall_gradient, tile, aligned)
        tile = {"ROWS": rank_kernels.ROWS, "OTHERS": rank_kernels.OTHERS}
        attempt(rank_kernels._rank, tile, aligned)
        tile = {"ROWS": selection_kernels.ROWS, "ENTRIES": selection_kernels.ENTRIES}
        attempt(selection_kernels._scale, tile, aligned)
        attempt(selection_kernels._between, {"BLOCK": selection_kernels.BLOCK}, aligned)
        for width in (32, 100):
            tile = dict(zip(("ROWS", "WIDTH"), kernels.tiles(1000, width)[1:], strict=True))
            attempt(selection_kernels._gate, tile, aligned)
            attempt(selection_kernels._gate_gradient, tile, aligned)
            for value in (False, True):
                constants = {"VALUE": value, "AHEAD": kernels.AHEAD, **tile}
                attempt(largest_kernels._hits, constants, aligned)
    for side, aligned in product((1, 8, 32, 64, 128), (False, True)):
        constants = {"SIZE": side, "TINY": 1e-12}
        attempt(dense_kernels._crowding, constants, aligned)
        for loops in (False, True):
            attempt(dense_kernels._normalise, {"LOOPS": loops, **constants}, aligned)
            attempt(dense_kernels._normalise_gradient, {"LOOPS": loops, **constants}, aligned)
    for width, aligned in product((16, 64), (False, True)):
        for kernel in (largest_kernels._largest, largest_kernels._gradient):
            attempt(kernel, {"NODES": largest_kernels.NODES, "WIDTH": width}, aligned)
    for width, aligned in product((1, 100), (False, True)):
        names = ("SEGMENTS", "ENTRIES", "WIDTH")
        tile = dict(zip(names, softmax_kernels._tile(1000, width)[1], strict=True))
        attempt(softmax_kernels._softmax, tile, aligned)
        attempt(softmax_kernels._gradient, tile, aligned)
    for width, aligned in product((4, 100), (False, True)):
        names = ("CHUNKS", "AHEAD", "ROWS", "WIDTH")
        sides = dict(zip(names, norm_kernels._grid(1, width)[1], strict=True))
        attempt(norm_pass_kernels.moments, sides, aligned)
        numbers = {"EPSILON": 1e-5, "MOMENTUM": 0.1}
        joined = {name: sides[name] for name in ("CHUNKS", "WIDTH")}
        attempt(norm_pass_kernels.join, {**numbers, **joined}, aligned)
        pooled = {name: sides[name] for name in ("AHEAD", "ROWS", "WIDTH")}
        attempt(norm_pass_kernels.pool, pooled, aligned)
        for relu, summed in product((False, True), repeat=2):
            attempt(norm_pass_kernels.normalise, {"RELU": relu, **sides}, aligned)
            flags = {"RELU": relu, "POOLED": summed}
            attempt(norm_pass_kernels.gradient_sums, {**flags, **sides}, aligned)
            attempt(norm_pass_kernels.gradient, {**flags, "GATED": summed, **sides}, aligned)


def attempt(kernel: Any, told: dict[str, Any], aligned: bool) -> None:
    """Compiles a kernel with constants (in capitals) and options, as they are told at its launch.

    Aligned: all numbers are multiples of 16, which Triton makes use of.
    """
    constants = {name: value for name, value in told.items() if name.isupper()}
    options = {name: value for name, value in told.items() if not name.isupper()}
    types = {name: _type(kernel, name, constants) for name in kernel.arg_names}
    special = [not parameter.do_not_specialize for parameter in kernel.params]
    even = [
        place
        for place, kind in enumerate(types.values())
        if kind.startswith("*") or (aligned and kind.startswith("i") and special[place])
    ]
    source = ASTSource(
        fn=kernel,
        signature=types,
        constexprs={(kernel.arg_names.index(name),): value for name, value in constants.items()},
        attrs={(place,): [["tt.divisibility", 16]] for place in even},
    )
    try:
        shared = triton.compile(source, target=TARGET, options=options).metadata.shared
    except RuntimeError as error:
        print(kernel.__name__, told, "aligned" if aligned else "", error)
    else:
        if shared > SHARED:
            print(kernel.__name__, told, f"needs {shared} bytes of shared memory")


def _type(kernel: Any, name: str, constants: dict[str, Any]) -> str:
    if name in constants:
        return "constexpr"
    assert not name.isupper(), f"{kernel.__name__} is not told {name}"
    if kernel in CUTTING:
        return "i32" if name in store_kernels.NUMBERS else CUT.get(name, "*i64")
    if name in NUMBERS + SIZES:
        return "i32"
    if name in TRUTHS:
        return "*i1"
    if name in REAL + LONG:
        return "fp32" if name in REAL else "i64"
    rows = kernel is kernels._dot_rows and name in ("first", "second")
    rows |= kernel is step_kernels._keys and name == "out"
    if name == "reach" or (name == "place" and constants["LOOKUP"]):
        return "*i32"
    gated = kernel is product_kernels.pooled_product or constants.get("SUMMED")
    if (gated and name == "gate") or (name == "hidden" and constants["SUMMED"]):
        return "*i8"  # where ReLU let something through
    rows |= name == "counts" and kernel in (largest_kernels._largest, largest_kernels._gradient)
    return "*i64" if name in INDICES + PLACES or rows else "*fp32"


if __name__ == "__main__":
    main()
