// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The batch of a backend (device_backend.hpp): the vectors of QuarkSolver's corrections on a device, the operator in
/// double and, for mixed precision, in an inner storage.

#include <memory>
#include <optional>

#include "halocline/qcd/quark/detail/device_krylov.cuh"
#include "halocline/qcd/quark/detail/krylov_methods.hpp"
#include "halocline/qcd/quark/device_backend.hpp"
#include "halocline/qcd/schur/cuda.cuh"
#include "halocline/qcd/twisted/cuda.cuh"

namespace halocline::qcd::device::detail {

/// The operator of the action that the data are of. Collective: yes, where an axis is split.
template <class S>
std::unique_ptr<DeviceDirac<S>> device_dirac(const WilsonData<S>& data, int columns) {
  if (data.mu != 0) return std::make_unique<DeviceTwisted<S>>(data, columns);
  return std::make_unique<DeviceWilson<S>>(data, columns);
}

/// The operator in one storage, as the Krylov methods see it: D on full fields, or its Schur complement.
template <class S>
class Level {
public:
  Level(const WilsonData<S>& data, const BackendOptions& options, int columns)
      : d_(device_dirac(data, columns)),
        space_(d_->context(), options.even_odd ? lattice::Subset::even : lattice::Subset::full, columns) {
    if (options.even_odd) schur_.emplace(*d_, options.symmetric);
    a().use_graphs(options.graphs);
    d_->use_graphs(options.graphs);
  }

  DeviceDirac<S>& d() noexcept { return *d_; }
  DeviceSchur<S>* schur() noexcept { return schur_ ? &*schur_ : nullptr; }
  SpinorSpace<S>& space() noexcept { return space_; }
  DeviceOperator<S>& a() noexcept {
    if (schur_) return *schur_;
    return *d_;
  }

  /// DeviceDirac::check() of the operator.
  void check() { d_->check(); }

  /// On the device, without links and clover blocks.
  static std::int64_t bytes(const Box& box, const BackendOptions& options, int columns) {
    const auto subset = options.even_odd ? lattice::Subset::even : lattice::Subset::full;
    return SpinorSpace<S>::bytes(box, subset, columns) + (options.even_odd ? DeviceSchur<S>::bytes(box, columns) : 0);
  }

private:
  std::unique_ptr<DeviceDirac<S>> d_;
  std::optional<DeviceSchur<S>> schur_;
  SpinorSpace<S> space_;
};

/// @tparam S  the inner storage; double for none
template <class S>
class SolverBatch : public DeviceBatch {
public:
  static constexpr bool mixed = !std::is_same_v<S, double>;
  using Full = DeviceSpinor<double>;

  SolverBatch(const WilsonData<double>& precise, const WilsonData<S>* inner, const BackendOptions& options, int columns)
      : options_(options),
        level_(precise, options, columns),
        full_(level_.d().context(), lattice::Subset::full, columns),
        b_(full_.create()),
        x_(full_.create()),
        r_(full_.create()),
        e_(full_.create()) {
    if constexpr (mixed) inner_.emplace(*inner, options, columns);
  }

  int columns() const override { return full_.columns(); }
  /// The operator in double.
  Level<double>& precise() noexcept { return level_; }
  std::string describe(const std::string& method) const override {
    return std::string(options_.even_odd ? "even-odd " : "") + method +
           (mixed ? std::string(", double and ") + Storage<S>::name + " precision" : ", double precision");
  }

  std::vector<double> load(std::span<const std::span<const std::complex<double>>> sources) override {
    full_.set_zero(b_);
    for (std::size_t c = 0; c < sources.size(); ++c) from_canonical(b_, static_cast<int>(c), sources[c]);
    return norms(full_, b_);
  }
  void clear(int column) override {
    const std::vector<std::complex<double>> zero(static_cast<std::size_t>(24 * std::int64_t{b_.sites()}));
    from_canonical(b_, column, zero);
  }
  void start(std::span<const solve::Scalar> factor) override {
    solve::update(full_, {solve::scale(b_, factor)});
    full_.set_zero(x_);
    full_.copy(r_, b_);
  }
  void scale_residual(std::span<const solve::Scalar> factor) override {
    solve::update(full_, {solve::scale(r_, factor)});
  }

  solve::SolveResult correct(const std::string& method, std::span<const double> tolerance, double caution,
                             const solve::SolveOptions& limits) override {
    solve::SolveOptions options = limits;
    options.column_tolerance.clear();
    for (const double wanted : tolerance) options.column_tolerance.push_back(std::min(0.5, wanted * caution));
    auto& space = level_.space();
    auto rhs = space.create(), half = space.create();
    const auto run = [&](Full& x, const Full& b, const solve::SolveOptions& given) {
      if constexpr (mixed)
        return solve_mixed(method, space, level_.a(), x, b, inner_->space(), inner_->a(), given);
      else
        return solve_by(method, space, level_.a(), x, b, given);
    };
    solve::SolveResult result;
    if (auto* schur = level_.schur()) {
      const double scale = schur->symmetric() ? level_.d().diagonal() : 1.0;
      result = qcd::detail::solve_even_odd(
          *schur, scale, e_, r_, rhs, half, norms(full_, r_),
          [&](const Full& reduced) { return norms(space, reduced); }, std::move(options), run);
    } else {
      space.copy(rhs, r_);
      result = run(half, rhs, options);
      space.copy(e_, half);
    }
    // rhs and half are still being read.
    full_.context()->stream.synchronize();
    // A message that did not come left NaNs, which the solver takes for a breakdown.
    level_.check();
    if constexpr (mixed) inner_->check();
    return result;
  }

  std::vector<double> add_correction(std::span<const solve::Scalar> weight) override {
    solve::update(full_, {solve::add(x_, weight, e_)});
    level_.d().apply(r_, x_);
    const solve::Scalars minus(static_cast<std::size_t>(columns()), solve::Scalar(-1.0));
    solve::update(full_, {solve::scale_add(r_, minus, {}, b_)});
    std::vector<double> lengths = norms(full_, r_);
    level_.check();
    return lengths;
  }
  void unload(std::span<std::complex<double>> solution, int column) override { to_canonical(solution, x_, column); }

  DeviceSolutions solutions(std::span<const int> exponents) override {
    const auto& context = full_.context();
    const std::int64_t numbers = 24 * std::int64_t{x_.sites()};
    auto array = std::make_shared<gpu::DeviceArray<std::complex<double>>>(
        context->device, numbers * static_cast<std::int64_t>(exponents.size()));
    for (std::size_t c = 0; c < exponents.size(); ++c)
      write_canonical(array->data() + static_cast<std::int64_t>(c) * numbers, x_, static_cast<int>(c), exponents[c]);
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

  /// On the device for solves by these methods, without links and clover blocks.
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
                         Level<double>::bytes(box, options, columns) + 2 * outer + most;
    if (mixed) bytes += Level<S>::bytes(box, options, columns);
    return bytes;
  }

private:
  BackendOptions options_;
  Level<double> level_;
  std::optional<Level<S>> inner_;
  SpinorSpace<double> full_;
  Full b_, x_, r_, e_;
};

}  // namespace halocline::qcd::device::detail
