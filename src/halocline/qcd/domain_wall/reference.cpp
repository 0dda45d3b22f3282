// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/domain_wall/reference.hpp"

#include <fmt/format.h>

#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/wilson/reference.hpp"

namespace halocline::qcd::domain_wall {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

/// The neighbours in the fifth dimension that P_+ and P_- select, with the factor across an end.
struct Neighbours {
  int plus, minus;               ///< s of the neighbour of either chirality
  double plus_mass, minus_mass;  ///< 1, or -mass
};

/// S psi(s) = P_- psi(s+1) + P_+ psi(s-1), or S^dagger psi(s) = P_- psi(s-1) + P_+ psi(s+1).
Neighbours neighbours(int s, int ls, double mass, bool dagger) {
  const int up = (s + 1) % ls, down = (s + ls - 1) % ls;
  const double over = s == ls - 1 ? -mass : 1, under = s == 0 ? -mass : 1;
  return dagger ? Neighbours{up, down, over, under} : Neighbours{down, up, under, over};
}

}  // namespace

void apply_reference(std::span<Number> out, std::span<const Number> in, const GaugeField& gauge,
                     const DomainWallAction& action, bool dagger) {
  action.validate();
  const auto each = static_cast<std::size_t>(gauge.geometry().local_volume() * 12);
  const auto ls = static_cast<std::size_t>(action.ls);
  if (out.size() != ls * each || in.size() != ls * each)
    throw core::InvalidArgument(
        fmt::format("domain-wall arrays of {} and {} complex numbers were given; give [s][t][z][y][x][spin][colour] "
                    "of the local box, {}",
                    out.size(), in.size(), ls * each));
  const WilsonCloverAction kernel = action.wilson();
  const auto wilson = [&](std::span<Number> to, std::span<const Number> from) {
    for (std::size_t s = 0; s < ls; ++s)
      wilson::apply_reference(to.subspan(s * each, each), from.subspan(s * each, each), gauge, kernel, dagger);
  };
  // Calls use(here, there, factor, s, s') with the places of a number of psi(s) and of psi(s'), its neighbour.
  const auto for_each = [&](const auto& use) {
    for (int s = 0; s < action.ls; ++s) {
      const Neighbours n = neighbours(s, action.ls, action.mass, dagger);
      for (std::size_t i = 0; i < each; ++i) {
        const bool plus = i % 12 < 6;  // gamma5 = diag(1, 1, -1, -1)
        const int other = plus ? n.plus : n.minus;
        use(static_cast<std::size_t>(s) * each + i, static_cast<std::size_t>(other) * each + i,
            plus ? n.plus_mass : n.minus_mass, s, other);
      }
    }
  };
  Numbers work(ls * each), applied(ls * each);
  if (!dagger) {
    // D_W (b_s psi(s) + c_s S psi(s)) + psi(s) - S psi(s); P_+- do not commute with D_W
    for_each([&](std::size_t here, std::size_t there, double factor, int s, int) {
      work[here] = action.b_at(s) * in[here] + action.c_at(s) * factor * in[there];
    });
    wilson(applied, work);
    for_each([&](std::size_t here, std::size_t there, double factor, int, int) {
      out[here] = applied[here] + in[here] - factor * in[there];
    });
  } else {
    // (b_s^* D_W^dagger + 1) psi(s) + S^dagger (c_s^* D_W^dagger - 1) psi(s)
    wilson(applied, in);
    for_each([&](std::size_t here, std::size_t there, double factor, int s, int other) {
      out[here] = std::conj(action.b_at(s)) * applied[here] + in[here] +
                  factor * (std::conj(action.c_at(other)) * applied[there] - in[there]);
    });
  }
}

}  // namespace halocline::qcd::domain_wall
