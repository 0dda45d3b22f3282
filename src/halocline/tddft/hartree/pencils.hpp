// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The distribution of the lines to be transformed over the processes.
///
/// The processes that solve together form a grid of p1 x p2. Each transforms whole rows of x for its part of y (one of
/// p1) and of z (one of p2). After an exchange among the p1, each transforms whole columns of y for its part of k_x and
/// of z. After an exchange among the p2, each transforms whole columns of z for its part of k_x and of k_y. So as many
/// processes can work as there are lines, not only as there are planes.
///
/// The parts of y and z are chosen so that rows are cheap to collect from the boxes. A box is cut in y and z into one
/// sub-box for each process that holds the same box; each of them has all of it, so nothing is sent. A sub-box is cut
/// into one part for each process among which the x axis is divided; together these processes hold its rows. If x is
/// not divided, a process finds its rows in its own box.

#include "halocline/tddft/base/decomposition.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace halocline::tddft {

/// Ranges along y and z.
struct Rectangle {
  Range y, z;
  std::int64_t lines() const noexcept { return y.size() * z.size(); }
};

class Pencils {
public:
  /// @param shared    all processes solve together; otherwise each space group by itself
  /// @param lengths   of the transforms along x, y and z
  /// Collective over the world.
  Pencils(const Decomposition& decomposition, bool shared, const std::array<std::int64_t, 3>& lengths);

  /// Parts of y among p1, of z among p2, of k_x among p1, of k_y among p2 (positions in the order of the transform).
  const std::vector<Range>& y_parts() const noexcept { return y_; }
  const std::vector<Range>& z_parts() const noexcept { return z_; }
  const std::vector<Range>& kx_parts() const noexcept { return kx_; }
  const std::vector<Range>& ky_parts() const noexcept { return ky_; }
  /// Ranges of this process: its rows of x, then its wavenumbers.
  Rectangle rows() const noexcept { return rows_of(share_, space_x_); }
  const Range& kx() const noexcept { return kx_[static_cast<std::size_t>(among_y_.rank())]; }
  const Range& ky() const noexcept { return ky_[static_cast<std::size_t>(among_z_.rank())]; }

  /// Shares of this box, one for each process of Decomposition::box_mates() in its order; a single share if each space
  /// group solves alone. This process collects share() and returns it.
  int shares() const noexcept { return mates_[0] * mates_[1]; }
  int share() const noexcept { return share_; }
  Rectangle share_of(int share) const noexcept;
  /// The rows of a share that the process at position `x` of the divided x axis transforms.
  Rectangle rows_of(int share, int x) const noexcept;

  const comm::Communicator& among_x() const noexcept { return among_x_; }  ///< the processes with one share's rows
  const comm::Communicator& among_y() const noexcept { return among_y_; }  ///< p1, the same part of z
  const comm::Communicator& among_z() const noexcept { return among_z_; }  ///< p2, the same part of y

private:
  std::array<int, 2> mates_{1, 1};   ///< number of shares of a box along y and z
  std::array<int, 2> within_{1, 1};  ///< division of a share among the processes of the x axis, along y and z
  std::array<int, 2> box_{0, 0};     ///< position of this process's box along y and z
  int space_x_ = 0, share_ = 0;
  std::vector<Range> y_, z_, kx_, ky_;
  comm::Communicator among_x_ = comm::Communicator::self(), among_y_ = among_x_, among_z_ = among_x_;
};

}  // namespace halocline::tddft
