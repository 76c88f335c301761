// Arrays of Python as arrays of the core, checked, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "types.hpp"

namespace nb = nanobind;

namespace sepool {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;  // one of an edge table: entries may lie apart
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// Hands a vector over to NumPy without a copy.
template <class T>
Out<T> give(std::vector<T>&& values) {
    auto* owner = new std::vector<T>(std::move(values));
    nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(owner->data(), {owner->size()}, capsule);
}

template <class T>
nb::object give_or_none(std::vector<T>&& values) {
    if (values.empty()) return nb::none();
    return nb::cast(give(std::move(values)));
}

[[noreturn]] inline void fail(const std::string& text) { throw std::invalid_argument(text); }

// Checks the lengths of the arrays alone: the indices may be wrong.
GraphView unchecked_view(const In<std::int64_t>& indptr, const In<Node>& indices, const std::optional<In<Weight>>& weights,
                         const std::optional<In<Weight>>& loops);
// Check all arrays; the core relies on them.
GraphView union_view(const In<std::int64_t>& node_ptr, const In<std::int64_t>& indptr, const In<Node>& indices,
                     const std::optional<In<Weight>>& weights, const std::optional<In<Weight>>& loops);
GraphView single_view(const In<std::int64_t>& indptr, const In<Node>& indices, const std::optional<In<Weight>>& weights,
                      const std::optional<In<Weight>>& loops);
// Adds colours to the view of a union, checked.
void add_colours(GraphView& view, std::size_t nodes, std::size_t arcs, const std::optional<In<Weight>>& colours,
                 const std::optional<In<Weight>>& arc_colours);
void check_height(int height);

// Adds the functions of stages.cpp to the module.
void define_stages(nb::module_& m);

}  // namespace sepool
