// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One process's part of the 2-d test problem of the double-buffering study, and one sweep over it.
///
/// M x = b with (M x)(i, j) = (4 + m^2) x(i, j) - x(i+1, j) - x(i-1, j) - x(i, j+1) - x(i, j-1) on a torus, by Jacobi's
/// method: x' = (b + sum of the four neighbours) / (4 + m^2). A sweep has the steps of the study: pack, start sending
/// and receiving, inner sites, wait for receiving, edge sites, wait until all is sent. Each step is a core::Region.
///
/// A message is `inflation` times as long as the edge it carries. The part behind the edge is written during packing
/// and read with the edge sites, so that every transport must transfer it; a transport that packs directly into the
/// neighbour's memory would otherwise transfer nothing. With `touched = false` this part is neither written nor read,
/// as in the study.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "bench/plain_mpi.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/region.hpp"

namespace halocline::bench {

struct JacobiProblem {
  std::array<std::int64_t, 2> local{60, 60};  ///< sites of each process, x runs fastest; at least 2 each
  double mass_squared = 1.0;                  ///< errors shrink by 4 / (4 + mass_squared) in each sweep
  int inflation = 1;
  bool touched = true;

  /// Shape (2,): size of a message for each axis [bytes].
  std::vector<std::size_t> face_bytes() const;
  double diagonal() const noexcept { return 4.0 + mass_squared; }
};

/// Operations for each site: four additions and one multiplication.
inline constexpr double jacobi_flops_per_site = 5;
/// Reals moved for each site: x and b are read, x' is written.
inline constexpr double jacobi_reals_per_site = 3;

/// b at a global site: between -1 and 1, without pattern.
double jacobi_source(std::int64_t i, std::int64_t j) noexcept;

/// x after this number of sweeps from zero on the whole torus, by plain loops; shape (y, x). The reference.
std::vector<double> jacobi_reference(std::array<std::int64_t, 2> global, double diagonal, std::int64_t sweeps);

/// The part of one process.
class JacobiField {
public:
  JacobiField(const comm::ProcessGrid& grid, const JacobiProblem& problem);

  /// x = 0
  void reset() noexcept;

  /// @param exchange  made with problem.face_bytes(); all of its messages must have been waited for
  template <class Exchange>
  void sweep(Exchange& exchange);

  /// max |x - reference| over the sites of this process, after this number of sweeps since reset().
  double error(std::int64_t sweeps) const;

private:
  /// Rows begin one number before a cache line, so that the inner sites begin on a cache line.
  static constexpr std::int64_t line = 8;
  double* row(core::AlignedArray<double>& field, std::int64_t j) const noexcept {
    return field.data() + j * pitch_ + line - 1;
  }
  const double* row(const core::AlignedArray<double>& field, std::int64_t j) const noexcept {
    return field.data() + j * pitch_ + line - 1;
  }
  void pack(int face, std::span<std::byte> message) noexcept;
  void inner_sites() noexcept;
  void edge_sites(const std::array<std::span<const std::byte>, 4>& messages) noexcept;
  void edge_row(std::int64_t j, const double* below, const double* above, const double* west,
                const double* east) noexcept;

  std::array<std::int64_t, 2> local_, global_, origin_{};
  double diagonal_, inverse_;
  bool touched_;
  std::int64_t pitch_;
  core::AlignedArray<double> x_, next_, b_;
  std::uint64_t written_ = 0, read_ = 0;
};

template <class Exchange>
void JacobiField::sweep(Exchange& exchange) {
  using core::Region;
  {
    const Region region("posting");
    start_receiving(exchange);
  }
  {
    const Region region("packing");
    for (int face = 0; face < 4; ++face) pack(face, exchange.send_buffer(comm::Face::from_index(face)));
  }
  {
    const Region region("posting");
    exchange.post();
  }
  {
    const Region region("interior");
    inner_sites();
  }
  {
    const Region region("waiting");
    exchange.wait_all();
  }
  {
    const Region region("boundary");
    std::array<std::span<const std::byte>, 4> messages;
    for (int face = 0; face < 4; ++face)
      messages[static_cast<std::size_t>(face)] = exchange.recv_buffer(comm::Face::from_index(face));
    edge_sites(messages);
  }
  {
    const Region region("send completion");
    finish_using(exchange);
    exchange.wait_sent();
  }
  std::swap(x_, next_);
}

}  // namespace halocline::bench
