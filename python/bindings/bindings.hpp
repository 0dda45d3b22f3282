// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the binding files share: one function a room, and NumPy arrays in canonical order.
///
/// The bindings hold no logic: they convert arguments, release the interpreter lock around long work and hand results
/// over. Arrays are C-contiguous complex128 in canonical order, [t][z][y][x]..., the local part of this rank.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "halocline/lattice/geometry.hpp"

namespace halocline::bindings {
namespace nb = nanobind;
using namespace nb::literals;

using complex = std::complex<double>;
using GeometryPtr = std::shared_ptr<const lattice::Geometry4>;
using ComplexIn = nb::ndarray<const complex, nb::c_contig, nb::device::cpu>;
template <class T>
using ArrayOut = nb::ndarray<nb::numpy, T, nb::c_contig>;

void bind_core(nb::module_& m);
void bind_comm(nb::module_& m);
void bind_gpu(nb::module_& m);
void bind_lattice(nb::module_& m);
void bind_mapping(nb::module_& m);
void bind_mapping_model(nb::module_& m);
void bind_mapping_search(nb::module_& m);
void bind_qcd_gauge(nb::module_& m);
void bind_qcd_io(nb::module_& m);
void bind_qcd_measure(nb::module_& m);
void bind_qcd_order(nb::module_& m);
void bind_qcd_shift(nb::module_& m);
void bind_qcd_solver(nb::module_& m);
void bind_qcd_device(nb::module_& m);
void bind_maxwell(nb::module_& m);
void bind_tddft_system(nb::module_& m);
void bind_tddft_model(nb::module_& m);
void bind_tddft_propagate(nb::module_& m);
void bind_tddft_spectrum(nb::module_& m);
void bind_tddft_files(nb::module_& m);
void bind_bench(nb::module_& m);
void bind_bench_electrons(nb::module_& m);
void bind_bench_device(nb::module_& m);

/// A NumPy array that owns the values.
template <class T>
ArrayOut<T> to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return ArrayOut<T>(owned->data(), shape.size(), shape.data(), owner);
}

/// Shape (t, z, y, x, tail...) of a canonical local array.
std::vector<std::size_t> canonical_shape(const lattice::Geometry4& geometry, std::initializer_list<std::size_t> tail);

/// The values of a canonical local array.
/// @throws InvalidArgument  naming both shapes, when it has another one
std::span<const complex> canonical_values(const ComplexIn& array, const lattice::Geometry4& geometry,
                                          std::initializer_list<std::size_t> tail, const char* what);

}  // namespace halocline::bindings
