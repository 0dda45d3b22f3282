// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The batch of a backend (device_backend.hpp). It holds the vectors of QuarkSolver's corrections on a device, and the
/// operator in double and, for mixed precision, in an inner storage.

#include <memory>
#include <optional>
#include <type_traits>

#include "halocline/qcd/domain_wall/cuda.cuh"
#include "halocline/qcd/quark/detail/device_krylov.cuh"
#include "halocline/qcd/quark/detail/field_batch.hpp"
#include "halocline/qcd/quark/detail/level.hpp"
#include "halocline/qcd/quark/device_backend.hpp"
#include "halocline/qcd/schur/cuda.cuh"
#include "halocline/qcd/staggered/cuda.cuh"
#include "halocline/qcd/twisted/cuda.cuh"

namespace halocline::qcd {

template <class S>
struct SolverTypes<device::DeviceDirac<S>> {
  using Operator = device::DeviceOperator<S>;
  using Schur = device::DeviceSchur<S>;
  using Space = device::SpinorSpace<S>;
  static Space space(const device::DeviceDirac<S>& d, lattice::Subset subset) {
    return {d.context(), subset, d.columns(), d.points(), d.components()};
  }
};

}  // namespace halocline::qcd

namespace halocline::qcd::device::detail {

/// Staggered links of a storage; fixed point has none.
template <class S>
using StaggeredLinksOf = DeviceStaggeredLinks<std::conditional_t<std::is_same_v<S, double>, double, float>>;

/// The numbers of a field that depend on the action.
struct FieldShape {
  int points = 1;
  int components = spinor_components;
};

/// The data that operators of one action and storage share for any number of columns.
template <class S>
struct ActionData {
  WilsonData<S> wilson{};                                  ///< for domain walls: of the Wilson operator inside
  std::shared_ptr<const DeviceWallMatrices<S>> walls{};    ///< null without a fifth dimension
  std::shared_ptr<const StaggeredLinksOf<S>> staggered{};  ///< null for other quarks

  int points() const noexcept { return walls ? walls->points : 1; }
};

/// The Dirac operator of the action for which `data` were made, for so many right-hand sides. Collective: yes, if an
/// axis is split.
template <class S>
std::unique_ptr<DeviceDirac<S>> device_dirac(const ActionData<S>& data, int columns) {
  if constexpr (!Storage<S>::scaled)
    if (data.staggered) return std::make_unique<DeviceStaggered<S>>(data.staggered, columns);
  if (data.walls) return std::make_unique<DeviceDomainWall<S>>(data.wilson, data.walls, columns * data.points());
  if (data.wilson.mu != 0) return std::make_unique<DeviceTwisted<S>>(data.wilson, columns);
  return std::make_unique<DeviceWilson<S>>(data.wilson, columns);
}

/// The operator in one storage, as the Krylov methods use it.
template <class S>
class DeviceLevel : public Level<DeviceDirac<S>> {
public:
  /// Collective: yes.
  DeviceLevel(const ActionData<S>& data, const BackendOptions& options, int columns)
      : Level<DeviceDirac<S>>(device_dirac(data, columns), options.even_odd,
                              options.symmetric ? SchurForm::symmetric : SchurForm::asymmetric) {
    this->a().use_graphs(options.graphs);
    this->d().use_graphs(options.graphs);
  }

  /// Bytes on the device, without links, clover blocks and matrices of a fifth dimension.
  static std::int64_t bytes(const Box& box, const BackendOptions& options, int columns, const FieldShape& shape) {
    const auto subset = options.even_odd ? lattice::Subset::even : lattice::Subset::full;
    const int points = shape.points;
    return SpinorSpace<S>::bytes(box, subset, columns, points, shape.components) + Recursion<S>::bytes(columns) +
           (options.even_odd ? DeviceSchur<S>::bytes(box, columns * points, shape.components) : 0) +
           (points > 1 ? DeviceDomainWall<S>::bytes(box, columns * points) : 0);
  }
};

/// @tparam S  the inner storage; double without mixed precision
template <class S>
class SolverBatch : public FieldBatch<DeviceBatch, SpinorSpace<double>> {
public:
  static constexpr bool mixed = !std::is_same_v<S, double>;
  using Full = DeviceSpinor<double>;

  SolverBatch(const ActionData<double>& precise, const ActionData<S>* inner, const BackendOptions& options, int columns)
      : SolverBatch(std::make_unique<DeviceLevel<double>>(precise, options, columns), options) {
    if constexpr (mixed) inner_.emplace(*inner, options, columns);
  }

  /// The operator in double.
  DeviceLevel<double>& precise() noexcept { return *level_; }
  std::string describe(const std::string& method) const override {
    return std::string(options_.even_odd ? "even-odd " : "") + method +
           (mixed ? std::string(", double and ") + Storage<S>::name + " precision" : ", double precision");
  }

  solve::SolveResult correct(const std::string& method, std::span<const double> tolerance, double caution,
                             const solve::SolveOptions& limits) override {
    const auto result =
        solve_on(*level_, inner_ ? &*inner_ : nullptr, method, this->full_, this->e_, this->r_,
                 with_tolerances(limits, tolerance, caution), [&] { this->full_.context()->stream.synchronize(); });
    // A halo message that never arrived leaves NaN, and the solver only reports not_finite. check() throws the cause.
    check();
    if constexpr (mixed) inner_->d().check();
    return result;
  }

  DeviceSolutions solutions(std::span<const int> exponents) override {
    const auto& context = this->full_.context();
    const std::int64_t numbers = this->column_length_;
    auto array = std::make_shared<gpu::DeviceArray<std::complex<double>>>(
        context->device, numbers * static_cast<std::int64_t>(exponents.size()));
    for (std::size_t c = 0; c < exponents.size(); ++c)
      level_->d().write_quark(array->data() + static_cast<std::int64_t>(c) * numbers, this->x_, static_cast<int>(c),
                              exponents[c]);
    context->stream.synchronize();
    const Box& box = context->box;
    DeviceSolutions out;
    out.data = array->data();
    out.bytes = static_cast<std::int64_t>(array->bytes());
    out.on_gpu = context->device.on_gpu();
    out.ordinal = context->device.properties().ordinal;
    out.shape = {static_cast<std::int64_t>(exponents.size()), box.extent[3], box.extent[2], box.extent[1],
                 box.extent[0]};
    if (this->full_.components() == spinor_components) out.shape.push_back(4);
    out.shape.push_back(3);
    out.owner = std::move(array);
    return out;
  }

  void unload(std::span<std::complex<double>> solution, int column) override {
    level_->d().unload_quark(solution, this->x_, column);
  }
  void unload_midpoint(std::span<std::complex<double>> quark, int column) override {
    level_->d().unload_midpoint(quark, this->x_, column);
  }

  /// Bytes on the device for solves by these methods, without links, clover blocks and matrices of a fifth dimension.
  static std::int64_t bytes(const Box& box, const BackendOptions& options, int columns, const FieldShape& shape,
                            std::span<const std::string> methods) {
    const auto subset = options.even_odd ? lattice::Subset::even : lattice::Subset::full;
    const int points = shape.points, all = columns * points;
    const std::int64_t full = DeviceSpinor<double>::bytes(box, lattice::Subset::full, all, shape.components);
    const std::int64_t outer = DeviceSpinor<double>::bytes(box, subset, all, shape.components);
    const std::int64_t inner = DeviceSpinor<S>::bytes(box, subset, all, shape.components);
    std::int64_t most = 0;
    for (const std::string& method : methods) {
      const WorkVectors work = work_vectors(method, mixed, options.restart_length);
      most = std::max(most, work.outer * outer + work.inner * inner);
    }
    std::int64_t bytes = 4 * full +
                         SpinorSpace<double>::bytes(box, lattice::Subset::full, columns, points, shape.components) +
                         DeviceLevel<double>::bytes(box, options, columns, shape) + 2 * outer + most;
    if (mixed) bytes += DeviceLevel<S>::bytes(box, options, columns, shape);
    // Sources on the walls for those of Moebius, and a solution in five dimensions before and after B^-1.
    if (points > 1) bytes += full + 2 * DeviceSpinor<double>::bytes(box, lattice::Subset::full, points);
    return bytes;
  }

private:
  SolverBatch(std::unique_ptr<DeviceLevel<double>> level, const BackendOptions& options)
      : FieldBatch<DeviceBatch, SpinorSpace<double>>(
            SolverTypes<DeviceDirac<double>>::space(level->d(), lattice::Subset::full),
            level->d().components() * level->d().context()->geometry->local_volume(), level->d().points()),
        options_(options),
        level_(std::move(level)) {}

  void fill(Full& b, std::span<const std::span<const std::complex<double>>> sources) override {
    level_->d().load_sources(b, sources);
  }
  void apply(Full& out, const Full& in) override { level_->d().apply(out, in); }
  void check() override { level_->d().check(); }

  BackendOptions options_;
  std::unique_ptr<DeviceLevel<double>> level_;
  std::optional<DeviceLevel<S>> inner_;
};

}  // namespace halocline::qcd::device::detail
