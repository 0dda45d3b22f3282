// SPDX-License-Identifier: Apache-2.0
#pragma once
// The definition of quark_oracle.hpp, for one *.cpp file of each test program.

#include <array>
#include <span>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "qcd/device/quark_oracle.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::test {

class QuarkOracleOnCpu final : public QuarkOracle {
public:
  QuarkOracleOnCpu(const lattice::Coordinates<4>& extents, const qcd::Action& action, int columns)
      : gauge_(links_of(extents)), action_(action), d_(qcd::dirac_setup(gauge_, action)->in_double(columns)) {}

  const std::shared_ptr<const lattice::Geometry4>& geometry() const override { return gauge_.geometry_ptr(); }
  qcd::device::HostLinks links(const qcd::device::Box& box) const override {
    return qcd::device::host_links(box, gauge_, qcd::hopping_part(action_));
  }
  qcd::device::HostStaggeredLinks staggered_links(const qcd::device::Box& box) const override {
    return qcd::device::host_links(box, gauge_, std::get<qcd::StaggeredAction>(action_));
  }

  Columns apply(const Columns& in, bool dagger) const override {
    auto out = d_->field(lattice::Subset::full);
    if (dagger)
      d_->apply_dagger(out, field(in, lattice::Subset::full));
    else
      d_->apply(out, field(in, lattice::Subset::full));
    return numbers(out);
  }
  Columns schur(const Columns& in, qcd::SchurForm form, int parity, bool dagger) const override {
    qcd::Schur<double> s(*d_, form, parity);
    auto out = d_->field(s.subset());
    if (dagger)
      s.apply_dagger(out, field(in, s.subset()));
    else
      s.apply(out, field(in, s.subset()));
    return numbers(out);
  }
  Columns prepare(const Columns& source, qcd::SchurForm form, int parity) const override {
    qcd::Schur<double> s(*d_, form, parity);
    auto out = d_->field(s.subset());
    s.prepare(out, field(source, lattice::Subset::full));
    return numbers(out);
  }
  Columns reconstruct(const Columns& half, const Columns& source, qcd::SchurForm form, int parity) const override {
    qcd::Schur<double> s(*d_, form, parity);
    auto out = d_->field(lattice::Subset::full);
    s.reconstruct(out, field(half, s.subset()), field(source, lattice::Subset::full));
    return numbers(out);
  }
  Columns source_field(const Numbers& source) const override {
    auto b = d_->field(lattice::Subset::full);
    d_->load_sources(b, std::array{std::span<const std::complex<double>>(source)});
    return numbers(b);
  }
  Numbers quark(const Columns& x, int number) const override {
    Numbers out(x[0].size());
    d_->unload_quark(out, field(x, lattice::Subset::full), number);
    return out;
  }
  Numbers midpoint(const Columns& x, int number) const override {
    Numbers out(x[0].size());
    d_->unload_midpoint(out, field(x, lattice::Subset::full), number);
    return out;
  }

private:
  static qcd::GaugeField links_of(const lattice::Coordinates<4>& extents) {
    auto gauge = qcd::GaugeField::from_canonical(one_process(extents),
                                                 random_links(extents[0] * extents[1] * extents[2] * extents[3], 3));
    gauge.exchange_ghosts();
    return gauge;
  }
  qcd::SpinorField<double> field(const Columns& columns, lattice::Subset subset) const {
    auto out = d_->field(subset);
    for (std::size_t c = 0; c < columns.size(); ++c) qcd::from_canonical<double>(out, static_cast<int>(c), columns[c]);
    return out;
  }
  Columns numbers(const qcd::SpinorField<double>& f) const {
    const auto length = static_cast<std::size_t>(d_->components() * geometry()->local_volume());
    Columns out(static_cast<std::size_t>(f.columns()), Numbers(length));
    for (std::size_t c = 0; c < out.size(); ++c) qcd::to_canonical<double>(out[c], f, static_cast<int>(c));
    return out;
  }

  qcd::GaugeField gauge_;
  qcd::Action action_;
  std::unique_ptr<qcd::DiracOperator<double>> d_;
};

std::unique_ptr<QuarkOracle> QuarkOracle::of(const lattice::Coordinates<4>& extents, const qcd::Action& action,
                                             int columns) {
  return std::make_unique<QuarkOracleOnCpu>(extents, action, columns);
}

}  // namespace halocline::test
