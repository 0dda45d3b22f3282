// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sizes of messages from the faces of a box of sites.

#include "halocline/mapping/messages.hpp"

#include "halocline/core/error.hpp"
#include "halocline/mapping/detail/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <limits>

namespace halocline::mapping {
namespace {

constexpr int half_spinor_reals = 12;  // 2 spins x 3 colours, complex

void check_box(std::span<const int> local, std::size_t axes, const char* what) {
  const std::string given = fmt::format("local box {} of {}", detail::joined(local, "x"), what);
  if (local.size() != axes) {
    throw core::InvalidArgument(fmt::format("{}: {} lengths given, expected {}", given, local.size(), axes));
  }
  Bytes product = 1;
  for (const int length : local) {
    if (length < 1) throw core::InvalidArgument(given + ": every length is at least 1");
    product *= length;
    if (product > std::numeric_limits<std::int32_t>::max()) {
      throw core::InvalidArgument(given + ": more than 2^31 - 1 sites for one process; give the box of one process");
    }
  }
}

void check_positive(int value, const char* what) {
  if (value < 1) throw core::InvalidArgument(fmt::format("{} {} given; give at least 1", value, what));
}

/// Bytes of every face of a box, with `bytes_per_site` for each site.
std::vector<Bytes> faces(std::span<const int> local, Bytes bytes_per_site) {
  std::vector<Bytes> bytes;
  for (std::size_t q = 0; q < local.size(); ++q) {
    Bytes sites = 1;
    for (std::size_t p = 0; p < local.size(); ++p) sites *= p == q ? 1 : local[p];
    bytes.push_back(sites * bytes_per_site);
  }
  return bytes;
}

}  // namespace

void Messages::validate(std::size_t process_axes) const {
  if (bytes.size() != process_axes || directions.size() != process_axes) {
    throw core::InvalidArgument(
        fmt::format("messages of {} process axes with {} numbers of directions given for a process grid of {} axes; "
                    "give one of each for every axis",
                    bytes.size(), directions.size(), process_axes));
  }
  for (std::size_t q = 0; q < process_axes; ++q) {
    if (bytes[q] < 0 || bytes[q] > (Bytes{1} << 40)) {
      throw core::InvalidArgument(
          fmt::format("a message of {} bytes along process axis {} given; give 0 to 2^40", bytes[q], q));
    }
    if (directions[q] != 1 && directions[q] != 2) {
      throw core::InvalidArgument(
          fmt::format("{} directions at once along process axis {} given; give 2, or 1 where + and - take turns",
                      directions[q], q));
    }
  }
}

Messages qcd_domain_solver(std::span<const int> local, int bytes_per_real) {
  check_box(local, 4, "lattice QCD");
  check_positive(bytes_per_real, "bytes a real");
  if (local[0] % 2 != 0) {
    throw core::InvalidArgument(fmt::format("local box {} of the domain solver: x is halved into two domains; give {} "
                                            "or {} instead of {}",
                                            detail::joined(local, "x"), local[0] + 1, local[0] - 1, local[0]));
  }
  const std::vector<int> domain{local[0] / 2, local[1], local[2], local[3]};
  return {"qcd-domain-solver", faces(domain, Bytes{half_spinor_reals} * bytes_per_real), {1, 2, 2, 2}};
}

Messages wilson_operator(std::span<const int> local, int bytes_per_real) {
  check_box(local, 4, "lattice QCD");
  check_positive(bytes_per_real, "bytes a real");
  return {"wilson-operator", faces(local, Bytes{half_spinor_reals} * bytes_per_real), {2, 2, 2, 2}};
}

Messages electron_halo(std::span<const int> local, int orbitals, int depth, int bytes_per_real) {
  check_box(local, 3, "electron dynamics");
  check_positive(orbitals, "orbitals");
  check_positive(depth, "layers");
  check_positive(bytes_per_real, "bytes a real");
  return {"electron-halo", faces(local, Bytes{2} * bytes_per_real * depth * orbitals), {2, 2, 2}};
}

}  // namespace halocline::mapping
