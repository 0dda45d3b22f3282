// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/reference.hpp"

#include <cmath>

#include "halocline/qcd/order/offset.hpp"

namespace halocline::qcd::order::reference {
namespace {

using lattice::Coordinates;
using lattice::Geometry4;
using Spinor = std::array<std::complex<double>, spinor_components>;  // [spin][colour], DeGrand-Rossi

/// Calls visit(local coordinates, canonical index) for every local site.
template <class Visit>
void for_each_local_site(const Geometry4& geometry, const Visit& visit) {
  const std::int64_t volume = geometry.local_volume();
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < volume; ++site) visit(lattice::coordinates_of<4>(site, geometry.local()), site);
}

/// Calls visit(coordinates, mu) for every link that the local array holds: of every site, or of odd sites both ways.
template <class Visit>
void for_each_link(const GaugeOrder& order, const Geometry4& geometry, const Visit& visit) {
  for_each_local_site(geometry, [&](Coordinates<4> x, std::int64_t) {
    for (int mu = 0; mu < 4; ++mu)
      if (order.directions != Directions::around_odd_sites) {
        visit(x, mu);
      } else if (geometry.parity(x) == 1) {
        visit(x, mu);
        Coordinates<4> below = x;
        --below[static_cast<std::size_t>(mu)];
        visit(below, mu);
      }
  });
}

/// The site at which a field holds a link that begins one step below the box: on an axis of one process at its end.
Coordinates<4> wrapped(Coordinates<4> x, const Geometry4& geometry) {
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (x[axis] < 0 && !geometry.is_split(static_cast<int>(axis))) x[axis] += geometry.local()[axis];
  return x;
}

/// Distance of a number from the origin of its direction (direction_origins()).
std::int64_t number_of(const GaugeOrder& order, const Geometry4& geometry, const Coordinates<4>& x, int mu, int row,
                       int column, int part, std::size_t number_bytes) {
  const std::int64_t begin = order.directions == Directions::outside ? mu * link_reals * geometry.local_volume() : 0;
  return gauge_offset(order, geometry, x, mu, row, column, part, number_bytes) - begin;
}

/// sqrt(norm) V: whole numbers. The root is divided out at the end of a sum, one rounding for each sum.
double entry(const SpinBasis& basis, int row, int column) {
  return basis.numerators[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}
double root(const SpinBasis& basis) { return 1 / std::sqrt(static_cast<double>(basis.norm)); }

/// The spinor of a site from the array, in DeGrand-Rossi: V^dagger psi.
template <class Real>
Spinor spinor_at(const Real* array, const SpinorOrder& order, const Geometry4& geometry, const Coordinates<4>& x,
                 int spins) {
  Spinor out{};
  for (int spin = 0; spin < spins; ++spin)
    for (int colour = 0; colour < colours; ++colour) {
      auto& sum = out[static_cast<std::size_t>(3 * spin + colour)];
      for (int of = 0; of < spins; ++of) {
        const double v = spins == 1 ? 1 : entry(*order.basis, of, spin);
        if (v == 0) continue;
        const auto number = [&](int part) {
          return static_cast<double>(array[spinor_offset(order, geometry, x, of, colour, part, sizeof(Real), spins)]);
        };
        sum += v * std::complex<double>{number(0), number(1)};
      }
      if (spins > 1) sum *= root(*order.basis);
    }
  return out;
}

/// The other way: V psi.
template <class Real>
void put_spinor(Real* array, const Spinor& psi, const SpinorOrder& order, const Geometry4& geometry,
                const Coordinates<4>& x, int spins) {
  for (int spin = 0; spin < spins; ++spin)
    for (int colour = 0; colour < colours; ++colour) {
      std::complex<double> sum = 0;
      for (int of = 0; of < spins; ++of) {
        const double v = spins == 1 ? 1 : entry(*order.basis, spin, of);
        if (v != 0) sum += v * psi[static_cast<std::size_t>(3 * of + colour)];
      }
      if (spins > 1) sum *= root(*order.basis);
      array[spinor_offset(order, geometry, x, spin, colour, 0, sizeof(Real), spins)] = static_cast<Real>(sum.real());
      array[spinor_offset(order, geometry, x, spin, colour, 1, sizeof(Real), spins)] = static_cast<Real>(sum.imag());
    }
}

/// Calls visit(reals of a site, lanes) for a site that the field holds.
template <class Field, class Visit>
void at_site(Field& psi, int column, const Coordinates<4>& x, const Visit& visit) {
  const auto& layout = psi.layout();
  const auto place = layout.locate(x);
  if (psi.subset() != lattice::Subset::full && static_cast<int>(psi.subset()) != place.parity) return;
  visit(psi.parity(place.parity) + place.tile * psi.tile_stride() + column * psi.column_stride() + place.lane,
        layout.lanes());
}

}  // namespace

template <class Real>
void load(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order) {
  const Geometry4& geometry = u.geometry();
  for_each_link(order, geometry, [&](const Coordinates<4>& x, int mu) {
    const double factor = 1 / link_factor(order, geometry, x, mu);
    Su3<double> link;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const auto number = [&](int part) {
          return factor *
                 links[static_cast<std::size_t>(mu)][number_of(order, geometry, x, mu, i, j, part, sizeof(Real))];
        };
        link.e[i][j] = {number(0), number(1)};
      }
    u.set_link(wrapped(x, geometry), mu, link);
  });
}

template <class Real>
void store(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order) {
  const Geometry4& geometry = u.geometry();
  for_each_link(order, geometry, [&](const Coordinates<4>& x, int mu) {
    const double factor = link_factor(order, geometry, x, mu);
    const Su3<double> link = u.link(wrapped(x, geometry), mu);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const auto number = [&](int part) -> Real& {
          return links[static_cast<std::size_t>(mu)][number_of(order, geometry, x, mu, i, j, part, sizeof(Real))];
        };
        number(0) = static_cast<Real>(factor * link.e[i][j].re);
        number(1) = static_cast<Real>(factor * link.e[i][j].im);
      }
  });
}

template <class T, class Real>
void load(SpinorField<T>& psi, int column, const Real* spinor, const SpinorOrder& order) {
  const Geometry4& geometry = psi.layout().geometry();
  const int spins = psi.reals_per_site() / staggered_reals;
  for_each_local_site(geometry, [&](const Coordinates<4>& x, std::int64_t) {
    at_site(psi, column, x, [&](T* reals, int lanes) {
      const Spinor values = spinor_at(spinor, order, geometry, x, spins);
      for (int spin = 0; spin < spins; ++spin)
        for (int colour = 0; colour < colours; ++colour) {
          const auto& value = values[static_cast<std::size_t>(3 * spin + colour)];
          reals[(2 * (spins * colour + spin) + 0) * lanes] = static_cast<T>(value.real());
          reals[(2 * (spins * colour + spin) + 1) * lanes] = static_cast<T>(value.imag());
        }
    });
  });
}

template <class T, class Real>
void store(Real* spinor, const SpinorField<T>& psi, int column, const SpinorOrder& order) {
  const Geometry4& geometry = psi.layout().geometry();
  const int spins = psi.reals_per_site() / staggered_reals;
  for_each_local_site(geometry, [&](const Coordinates<4>& x, std::int64_t) {
    at_site(psi, column, x, [&](const T* reals, int lanes) {
      Spinor values{};
      for (int spin = 0; spin < spins; ++spin)
        for (int colour = 0; colour < colours; ++colour)
          values[static_cast<std::size_t>(3 * spin + colour)] = {
              static_cast<double>(reals[(2 * (spins * colour + spin) + 0) * lanes]),
              static_cast<double>(reals[(2 * (spins * colour + spin) + 1) * lanes])};
      put_spinor(spinor, values, order, geometry, x, spins);
    });
  });
}

template <class Real>
void load(std::complex<double>* canonical, const Real* spinor, const SpinorOrder& order, const Geometry4& geometry,
          int spins) {
  for_each_local_site(geometry, [&](const Coordinates<4>& x, std::int64_t site) {
    const Spinor values = spinor_at(spinor, order, geometry, x, spins);
    for (int i = 0; i < 3 * spins; ++i) canonical[3 * spins * site + i] = values[static_cast<std::size_t>(i)];
  });
}

template <class Real>
void store(Real* spinor, const std::complex<double>* canonical, const SpinorOrder& order, const Geometry4& geometry,
           int spins) {
  for_each_local_site(geometry, [&](const Coordinates<4>& x, std::int64_t site) {
    Spinor values{};
    for (int i = 0; i < 3 * spins; ++i) values[static_cast<std::size_t>(i)] = canonical[3 * spins * site + i];
    put_spinor(spinor, values, order, geometry, x, spins);
  });
}

namespace {

/// Calls visit(sink spin, sink colour, source spin, source colour) for all 144 elements.
template <class Visit>
void for_each_element(const Visit& visit) {
  for (int s = 0; s < 4; ++s)
    for (int c = 0; c < 3; ++c)
      for (int of_s = 0; of_s < 4; ++of_s)
        for (int of_c = 0; of_c < 3; ++of_c) visit(s, c, of_s, of_c);
}

}  // namespace

template <class Real>
void load(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order) {
  const Geometry4& geometry = s.geometry();
  for_each_local_site(geometry, [&](const Coordinates<4>& x, std::int64_t site) {
    for_each_element([&](int sink, int colour, int source, int source_colour) {  // S = V^dagger S_B V
      std::complex<double> sum = 0;
      for (int k = 0; k < 4; ++k) {
        std::complex<double> of_sink = 0;
        for (int i = 0; i < 4; ++i) {
          if (entry(*order.basis, i, sink) * entry(*order.basis, k, source) == 0) continue;
          const auto number = [&](int part) {
            return static_cast<double>(
                propagator[propagator_offset(order, geometry, x, i, colour, k, source_colour, part, sizeof(Real))]);
          };
          of_sink += entry(*order.basis, i, sink) * std::complex<double>{number(0), number(1)};
        }
        sum += entry(*order.basis, k, source) * of_sink;
      }
      s.column(source, source_colour)[static_cast<std::size_t>(12 * site + 3 * sink + colour)] =
          sum / static_cast<double>(order.basis->norm);
    });
  });
}

template <class Real>
void store(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order) {
  const Geometry4& geometry = s.geometry();
  for_each_local_site(geometry, [&](const Coordinates<4>& x, std::int64_t site) {
    for_each_element([&](int sink, int colour, int source, int source_colour) {  // S_B = V S V^dagger
      std::complex<double> sum = 0;
      for (int i = 0; i < 4; ++i) {
        std::complex<double> of_source = 0;
        for (int k = 0; k < 4; ++k) of_source += entry(*order.basis, source, k) * s(site, i, colour, k, source_colour);
        sum += entry(*order.basis, sink, i) * of_source;
      }
      sum /= static_cast<double>(order.basis->norm);
      const auto number = [&](int part) -> Real& {
        return propagator[propagator_offset(order, geometry, x, sink, colour, source, source_colour, part,
                                            sizeof(Real))];
      };
      number(0) = static_cast<Real>(sum.real());
      number(1) = static_cast<Real>(sum.imag());
    });
  });
}

template void load(GaugeField&, const std::array<const float*, 4>&, const GaugeOrder&);
template void load(GaugeField&, const std::array<const double*, 4>&, const GaugeOrder&);
template void store(const std::array<float*, 4>&, const GaugeField&, const GaugeOrder&);
template void store(const std::array<double*, 4>&, const GaugeField&, const GaugeOrder&);
template void load(SpinorField<float>&, int, const float*, const SpinorOrder&);
template void load(SpinorField<float>&, int, const double*, const SpinorOrder&);
template void load(SpinorField<double>&, int, const float*, const SpinorOrder&);
template void load(SpinorField<double>&, int, const double*, const SpinorOrder&);
template void store(float*, const SpinorField<float>&, int, const SpinorOrder&);
template void store(double*, const SpinorField<float>&, int, const SpinorOrder&);
template void store(float*, const SpinorField<double>&, int, const SpinorOrder&);
template void store(double*, const SpinorField<double>&, int, const SpinorOrder&);
template void load(std::complex<double>*, const float*, const SpinorOrder&, const Geometry4&, int);
template void load(std::complex<double>*, const double*, const SpinorOrder&, const Geometry4&, int);
template void store(float*, const std::complex<double>*, const SpinorOrder&, const Geometry4&, int);
template void store(double*, const std::complex<double>*, const SpinorOrder&, const Geometry4&, int);
template void load(measure::Propagator&, const float*, const PropagatorOrder&);
template void load(measure::Propagator&, const double*, const PropagatorOrder&);
template void store(float*, const measure::Propagator&, const PropagatorOrder&);
template void store(double*, const measure::Propagator&, const PropagatorOrder&);

}  // namespace halocline::qcd::order::reference
