// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A batch of right-hand sides in the memory of the processor, solved by a QuarkEngine.

#include "halocline/qcd/quark/detail/batch_engine.hpp"
#include "halocline/qcd/quark/detail/quark_engine.hpp"

namespace halocline::qcd {

class HostBatch : public BatchEngine {
public:
  /// @param engine  referred to. Collective: no.
  explicit HostBatch(QuarkEngine& engine);

  int columns() const override { return engine_->columns(); }
  std::string describe(const std::string& method) const override { return engine_->describe(method); }
  std::vector<double> load(std::span<const std::span<const std::complex<double>>> sources) override;
  void clear(int column) override;
  void start(std::span<const solve::Scalar> factor) override;
  void scale_residual(std::span<const solve::Scalar> factor) override;
  solve::SolveResult correct(const std::string& method, std::span<const double> tolerance, double caution,
                             const solve::SolveOptions& limits) override {
    return engine_->correct(method, e_, r_, tolerance, caution, limits);
  }
  std::vector<double> add_correction(std::span<const solve::Scalar> weight) override;
  void unload(std::span<std::complex<double>> solution, int column) override;

  /// b - D x of each column, scaled; zero in columns that nothing was given for.
  const SpinorField<double>& residual() const noexcept { return r_; }

private:
  QuarkEngine* engine_;
  SpinorField<double> b_, x_, r_, e_;
};

}  // namespace halocline::qcd
