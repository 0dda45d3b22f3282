// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The batch of a backend (device_backend.hpp). It holds the vectors of QuarkSolver's corrections on a device, and the
/// operator in double and, for mixed precision, in an inner storage.

#include <memory>
#include <optional>

#include "halocline/qcd/quark/detail/device_krylov.cuh"
#include "halocline/qcd/quark/detail/field_batch.hpp"
#include "halocline/qcd/quark/detail/level.hpp"
#include "halocline/qcd/quark/device_backend.hpp"
#include "halocline/qcd/schur/cuda.cuh"
#include "halocline/qcd/twisted/cuda.cuh"

namespace halocline::qcd {

template <class S>
struct SolverTypes<device::DeviceDirac<S>> {
  using Operator = device::DeviceOperator<S>;
  using Schur = device::DeviceSchur<S>;
  using Space = device::SpinorSpace<S>;
  static Space space(const device::DeviceDirac<S>& d, lattice::Subset subset) {
    return {d.context(), subset, d.columns()};
  }
};

}  // namespace halocline::qcd

namespace halocline::qcd::device::detail {

/// The Dirac operator of the action for which `data` were made. Collective: yes, if an axis is split.
template <class S>
std::unique_ptr<DeviceDirac<S>> device_dirac(const WilsonData<S>& data, int columns) {
  if (data.mu != 0) return std::make_unique<DeviceTwisted<S>>(data, columns);
  return std::make_unique<DeviceWilson<S>>(data, columns);
}

/// The operator in one storage, as the Krylov methods use it.
template <class S>
class DeviceLevel : public Level<DeviceDirac<S>> {
public:
  /// Collective: yes.
  DeviceLevel(const WilsonData<S>& data, const BackendOptions& options, int columns)
      : Level<DeviceDirac<S>>(device_dirac(data, columns), options.even_odd,
                              options.symmetric ? SchurForm::symmetric : SchurForm::asymmetric) {
    this->a().use_graphs(options.graphs);
    this->d().use_graphs(options.graphs);
  }

  /// Bytes on the device, without links and clover blocks.
  static std::int64_t bytes(const Box& box, const BackendOptions& options, int columns) {
    const auto subset = options.even_odd ? lattice::Subset::even : lattice::Subset::full;
    return SpinorSpace<S>::bytes(box, subset, columns) + (options.even_odd ? DeviceSchur<S>::bytes(box, columns) : 0);
  }
};

/// @tparam S  the inner storage; double without mixed precision
template <class S>
class SolverBatch : public FieldBatch<DeviceBatch, SpinorSpace<double>> {
public:
  static constexpr bool mixed = !std::is_same_v<S, double>;
  using Full = DeviceSpinor<double>;

  SolverBatch(const WilsonData<double>& precise, const WilsonData<S>* inner, const BackendOptions& options, int columns)
      : SolverBatch(std::make_unique<DeviceLevel<double>>(precise, options, columns), options, columns) {
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
      write_canonical(array->data() + static_cast<std::int64_t>(c) * numbers, this->x_, static_cast<int>(c),
                      exponents[c]);
    context->stream.synchronize();
    const Box& box = context->box;
    DeviceSolutions out;
    out.data = array->data();
    out.bytes = static_cast<std::int64_t>(array->bytes());
    out.on_gpu = context->device.on_gpu();
    out.ordinal = context->device.properties().ordinal;
    out.shape = {
        static_cast<std::int64_t>(exponents.size()), box.extent[3], box.extent[2], box.extent[1], box.extent[0], 4, 3};
    out.owner = std::move(array);
    return out;
  }

  /// Bytes on the device for solves by these methods, without links and clover blocks.
  static std::int64_t bytes(const Box& box, const BackendOptions& options, int columns,
                            std::span<const std::string> methods) {
    const auto subset = options.even_odd ? lattice::Subset::even : lattice::Subset::full;
    const std::int64_t outer = DeviceSpinor<double>::bytes(box, subset, columns);
    const std::int64_t inner = DeviceSpinor<S>::bytes(box, subset, columns);
    std::int64_t most = 0;
    for (const std::string& method : methods) {
      const WorkVectors work = work_vectors(method, mixed, options.restart_length);
      most = std::max(most, work.outer * outer + work.inner * inner);
    }
    std::int64_t bytes = 4 * DeviceSpinor<double>::bytes(box, lattice::Subset::full, columns) +
                         SpinorSpace<double>::bytes(box, lattice::Subset::full, columns) +
                         DeviceLevel<double>::bytes(box, options, columns) + 2 * outer + most;
    if (mixed) bytes += DeviceLevel<S>::bytes(box, options, columns);
    return bytes;
  }

private:
  SolverBatch(std::unique_ptr<DeviceLevel<double>> level, const BackendOptions& options, int columns)
      : FieldBatch<DeviceBatch, SpinorSpace<double>>(
            SpinorSpace<double>(level->d().context(), lattice::Subset::full, columns),
            std::int64_t{spinor_reals / 2} * level->d().context()->geometry->local_volume()),
        options_(options),
        level_(std::move(level)) {}

  void apply(Full& out, const Full& in) override { level_->d().apply(out, in); }
  void check() override { level_->d().check(); }

  BackendOptions options_;
  std::unique_ptr<DeviceLevel<double>> level_;
  std::optional<DeviceLevel<S>> inner_;
};

}  // namespace halocline::qcd::device::detail
