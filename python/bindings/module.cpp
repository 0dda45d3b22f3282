// SPDX-License-Identifier: Apache-2.0
/// @file
/// The extension module halocline._halocline: errors first, then one submodule a room.
#include <fmt/format.h>

#include "bindings.hpp"
#include "halocline/core/error.hpp"

namespace halocline::bindings {
namespace {

/// The C++ errors become the classes of halocline/errors.py, with their data as attributes.
void translate(const std::exception_ptr& thrown, void*) {
  const auto raise = [](const char* name, const core::Error& error, nb::dict data) {
    nb::object cls = nb::module_::import_("halocline.errors").attr(name);
    nb::object instance = cls(error.what());
    data["rank"] = error.rank();
    for (auto [key, value] : data) nb::setattr(instance, key, value);
    PyErr_SetObject(cls.ptr(), instance.ptr());
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const core::FileError& error) {
    nb::dict data;
    data["path"] = error.path();
    data["record"] = error.record();
    raise("FileError", error, data);
  } catch (const core::InvalidArgument& error) {
    raise("InvalidArgument", error, {});
  } catch (const core::Error& error) {
    raise("Error", error, {});
  }
}

}  // namespace

std::vector<std::size_t> canonical_shape(const lattice::Geometry4& geometry, std::initializer_list<std::size_t> tail) {
  const auto& n = geometry.local();
  std::vector<std::size_t> shape;
  shape.reserve(4 + tail.size());
  for (int axis = 3; axis >= 0; --axis) shape.push_back(static_cast<std::size_t>(n[static_cast<std::size_t>(axis)]));
  for (std::size_t extent : tail) shape.push_back(extent);
  return shape;
}

std::span<const complex> canonical_values(const ComplexIn& array, const lattice::Geometry4& geometry,
                                          std::initializer_list<std::size_t> tail, const char* what) {
  const auto expected = canonical_shape(geometry, tail);
  std::vector<std::size_t> given;
  for (std::size_t i = 0; i < array.ndim(); ++i) given.push_back(array.shape(i));
  if (given != expected)
    throw core::InvalidArgument(fmt::format("{} has the shape ({}); this rank's part of the lattice is ({})", what,
                                            fmt::join(given, ", "), fmt::join(expected, ", ")));
  return {array.data(), array.size()};
}

}  // namespace halocline::bindings

NB_MODULE(_halocline, m) {
  using namespace halocline::bindings;
  m.doc() = "The compiled rooms of Halocline; use the package halocline.";
  nb::register_exception_translator(translate);
  auto submodule = [&m](const char* name) { return m.def_submodule(name); };
  auto core = submodule("core");
  bind_core(core);
  auto comm = submodule("comm");
  bind_comm(comm);
  auto gpu = submodule("gpu");
  bind_gpu(gpu);
  auto lattice = submodule("lattice");
  bind_lattice(lattice);
  auto mapping = submodule("mapping");
  bind_mapping(mapping);
  bind_mapping_model(mapping);
  bind_mapping_search(mapping);
  auto qcd = submodule("qcd");
  bind_qcd_gauge(qcd);
  bind_qcd_io(qcd);
  bind_qcd_measure(qcd);
  bind_qcd_shift(qcd);
  bind_qcd_order(qcd);
  bind_qcd_device(qcd);
  bind_qcd_solver(qcd);
  auto maxwell = submodule("maxwell");
  bind_maxwell(maxwell);
  auto tddft = submodule("tddft");
  bind_tddft_system(tddft);
  bind_tddft_model(tddft);
  bind_tddft_propagate(tddft);
  bind_tddft_spectrum(tddft);
  bind_tddft_files(tddft);
  auto bench = submodule("bench");
  bind_bench(bench);
  bind_bench_electrons(bench);
  bind_bench_device(bench);
}
