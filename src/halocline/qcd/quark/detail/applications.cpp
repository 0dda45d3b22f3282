// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/applications.hpp"

#include <algorithm>
#include <array>

#include "halocline/qcd/domain_wall/domain_wall.hpp"
#include "halocline/qcd/schur/schur.hpp"

namespace halocline::qcd {

void apply_on(const DiracOperator<double>& d, std::span<std::complex<double>> out,
              std::span<const std::complex<double>> in, bool dagger) {
  if (dynamic_cast<const DomainWall<double>*>(&d) != nullptr)
    return dynamic_cast<const DomainWall<double>&>(*d.with_columns(d.points())).apply_full(out, in, dagger);
  auto from = d.field(lattice::Subset::full), to = d.field(lattice::Subset::full);
  d.load_sources(from, std::array{in});
  if (dagger)
    d.apply_dagger(to, from);
  else
    d.apply(to, from);
  d.unload_quark(out, to, 0);
}

void apply_schur_on(const DiracOperator<double>& d, std::span<std::complex<double>> out,
                    std::span<const std::complex<double>> in, bool dagger) {
  const auto one = d.with_columns(d.points());
  const Schur<double> schur(*one);
  auto from = one->field(lattice::Subset::even), to = one->field(lattice::Subset::even);
  one->load_sources(from, std::array{in});
  if (dagger)
    schur.apply_dagger(to, from);
  else
    schur.apply(to, from);
  std::ranges::fill(out, 0.0);
  one->unload_quark(out, to, 0);
}

}  // namespace halocline::qcd
