// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A batch of right-hand sides in the memory of the CPU, solved by a QuarkEngine.

#include "halocline/qcd/quark/detail/field_batch.hpp"
#include "halocline/qcd/quark/detail/quark_engine.hpp"

namespace halocline::qcd {

class HostBatch final : public FieldBatch<BatchEngine, SpinorSpace<double>> {
public:
  /// @param engine  referred to; must outlive the batch. Collective: no.
  explicit HostBatch(QuarkEngine& engine)
      : FieldBatch(engine.space(), engine.space().components() * engine.space().layout()->geometry().local_volume(),
                   engine.space().points()),
        engine_(&engine) {}

  std::string describe(const std::string& method) const override { return engine_->describe(method); }
  solve::SolveResult correct(const std::string& method, std::span<const double> tolerance, double caution,
                             const solve::SolveOptions& limits) override {
    return engine_->correct(method, e_, r_, tolerance, caution, limits);
  }
  void unload(std::span<std::complex<double>> solution, int column) override {
    engine_->d().unload_quark(solution, x_, column);
  }
  /// The quark in the middle of the fifth dimension. @throws InvalidArgument  without one
  void unload_midpoint(std::span<std::complex<double>> quark, int column) const {
    engine_->d().unload_midpoint(quark, x_, column);
  }
  Renewal renew(const std::string& method) override { return engine_->renew(method); }

private:
  void fill(Field& b, std::span<const std::span<const std::complex<double>>> sources) override {
    engine_->d().load_sources(b, sources);
  }
  void apply(Field& out, const Field& in) override { engine_->d().apply(out, in); }

  QuarkEngine* engine_;
};

}  // namespace halocline::qcd
