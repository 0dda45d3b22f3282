// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators of the processor behind plain arrays, for tests of device code: *.cu files cannot see their classes.

#include <complex>
#include <memory>
#include <vector>

#include "halocline/lattice/field.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/device/host_data.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/schur/even_odd.hpp"
#include "halocline/qcd/staggered/host_links.hpp"

namespace halocline::test {

/// The operator of an action on random links, in double, on one process. All columns of a field are arrays of the whole
/// box in canonical order; numbers on sites that a field does not hold are zero.
class QuarkOracle {
public:
  using Numbers = std::vector<std::complex<double>>;
  using Columns = std::vector<Numbers>;

  virtual ~QuarkOracle() = default;
  /// @param columns  of the fields, with the points of a fifth dimension
  static std::unique_ptr<QuarkOracle> of(const lattice::Coordinates<4>& extents, const qcd::Action& action,
                                         int columns);

  virtual const std::shared_ptr<const lattice::Geometry4>& geometry() const = 0;
  /// Links for a device: of the Wilson operator inside, or of staggered quarks.
  virtual qcd::device::HostLinks links(const qcd::device::Box& box) const = 0;
  virtual qcd::device::HostStaggeredLinks staggered_links(const qcd::device::Box& box) const = 0;

  virtual Columns apply(const Columns& in, bool dagger) const = 0;
  virtual Columns schur(const Columns& in, qcd::SchurForm form, int parity, bool dagger) const = 0;
  virtual Columns prepare(const Columns& source, qcd::SchurForm form, int parity) const = 0;
  virtual Columns reconstruct(const Columns& half, const Columns& source, qcd::SchurForm form, int parity) const = 0;
  /// The field of one source.
  virtual Columns source_field(const Numbers& source) const = 0;
  virtual Numbers quark(const Columns& x, int number) const = 0;
  virtual Numbers midpoint(const Columns& x, int number) const = 0;

  /// Zero on the sites that the subset leaves out.
  static Columns on(Columns columns, lattice::Subset subset, const lattice::Coordinates<4>& extents) {
    if (subset == lattice::Subset::full) return columns;
    const std::int64_t volume = extents[0] * extents[1] * extents[2] * extents[3];
    for (Numbers& column : columns) {
      const std::size_t each = column.size() / static_cast<std::size_t>(volume);
      for (std::int64_t site = 0; site < volume; ++site) {
        const auto x = lattice::coordinates_of<4>(site, extents);
        if ((x[0] + x[1] + x[2] + x[3]) % 2 == static_cast<int>(subset)) continue;
        for (std::size_t k = 0; k < each; ++k) column[static_cast<std::size_t>(site) * each + k] = 0;
      }
    }
    return columns;
  }
};

}  // namespace halocline::test
