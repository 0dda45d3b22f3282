// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The currents of many cells of a crystal, each a propagation of its own, summed over all processes of a run in the
/// background. The light between the cells needs them at the beginning of the next step. A propagation knows its
/// current before the potential of its new density, so that the sum is under way while Poisson's equation and exchange
/// and correlation of the last cell are solved. Every process adds what its own points and orbitals contribute; no sum
/// within the group of a cell comes first.

#include "halocline/comm/sums/field_sum.hpp"
#include "halocline/tddft/base/grid.hpp"

#include <cstdint>
#include <vector>

namespace halocline::tddft {

class CellCurrents {
public:
  /// @param world  all processes of the run
  /// @param cells  of the run, the same on every rank
  /// @param mine   number of cells in whose propagation this process takes part
  /// @throws InvalidArgument  a negative number. Collective: yes.
  CellCurrents(const comm::Communicator& world, std::int64_t cells, std::int64_t mine);

  /// Adds this process's contribution to the current of a cell. With that of the last of its cells the sum begins.
  /// @throws InvalidArgument  no such cell, or more of them than this process has. Collective: no.
  void put(std::int64_t cell, const Vec3& part);
  /// Makes progress; never waits. Collective: no.
  void advance();
  /// Completes the sum of a step. @return shape (cells, 3), the same bits on every rank
  /// @throws InvalidArgument  not all cells of this process have put their currents. Collective: yes.
  std::vector<double> wait();

private:
  comm::FieldSum sum_;
  std::vector<double> parts_;
  std::int64_t mine_, given_ = 0;
};

}  // namespace halocline::tddft
