// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/shift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "halocline/core/error.hpp"

namespace halocline::qcd {
namespace {

using complex = std::complex<double>;
using lattice::Geometry4;

/// A canonical array as layers across an axis: `outer` blocks of `extent` layers of `layer` bytes.
struct Layers {
  std::int64_t outer = 1, extent = 1, layer = 1;
};

Layers layers_of(const Geometry4& geometry, std::int64_t site_bytes, int axis) {
  Layers found{1, geometry.local()[static_cast<std::size_t>(axis)], site_bytes};
  for (int other = 0; other < 4; ++other) {
    const std::int64_t extent = geometry.local()[static_cast<std::size_t>(other)];
    if (other < axis) found.layer *= extent;
    if (other > axis) found.outer *= extent;
  }
  return found;
}

void check(const Geometry4& geometry, std::size_t out, std::size_t in, std::int64_t site_bytes, std::int64_t axis,
           std::int64_t steps) {
  const auto& group = geometry.communicator();
  comm::on_every_rank(group, [&] {
    if (axis < 0 || axis > 3)
      throw core::InvalidArgument(fmt::format("a shift along axis {} was asked for; give 0 to 3 for x y z t", axis));
    const auto expected = static_cast<std::size_t>(site_bytes * geometry.local_volume());
    if (site_bytes < 1 || out != expected || in != expected)
      throw core::InvalidArgument(
          fmt::format("a shift from {} bytes to {} was asked for; {} local sites of {} bytes have {}", in, out,
                      geometry.local_volume(), site_bytes, expected));
  });
  // A receive of another length than its send would never complete, so the arguments are compared first.
  std::array<double, 6> both{};
  const std::array<std::int64_t, 3> mine{site_bytes, axis, steps};
  for (std::size_t i = 0; i < 3; ++i) {
    both[i] = static_cast<double>(mine[i]);
    both[i + 3] = -both[i];
  }
  group.max(both);
  if (both[0] != -both[3] || both[1] != -both[4] || both[2] != -both[5])
    throw core::InvalidArgument("a shift was asked for with different axes, steps or numbers a site on different "
                                "processes; give the same on all of them");
}

/// Sends to one neighbour of the axis and receives from the other. Processes at even coordinates send first, those at
/// odd ones receive first, so blocking sends form no cycle (lattice/ghost_field.hpp).
void pass_on(const Geometry4& geometry, int axis, int towards, std::span<const std::byte> outgoing,
             std::span<std::byte> incoming) {
  const comm::ProcessGrid& grid = geometry.grid();
  const int target = grid.neighbour({axis, towards});
  const int source = grid.neighbour({axis, -towards});
  const int tag = comm::Face{axis, towards}.index();
  const bool sends_first = grid.coords()[static_cast<std::size_t>(axis)] % 2 == 0;
  for (const bool sending : {sends_first, !sends_first}) {
    if (sending)
      geometry.communicator().send(outgoing, target, tag);
    else
      geometry.communicator().receive(incoming, source, tag);
  }
}

/// One pass: out(x) = in(x + distance direction), 1 <= distance <= the local extent.
void move_layers(std::byte* out, const std::byte* in, const Geometry4& geometry, const Layers& shape, int axis,
                 int direction, std::int64_t distance) {
  const std::int64_t block = shape.extent * shape.layer, moved = distance * shape.layer, kept = block - moved;
  // The neighbour behind needs the layers at the near end of this box; they go to the far end of its box.
  const std::int64_t leaving = direction > 0 ? 0 : kept, arriving = direction > 0 ? kept : 0;
  std::vector<std::byte> outgoing(static_cast<std::size_t>(shape.outer * moved)), incoming;
  for (std::int64_t o = 0; o < shape.outer; ++o) {
    std::memcpy(outgoing.data() + o * moved, in + o * block + leaving, static_cast<std::size_t>(moved));
    std::memcpy(out + o * block + (direction > 0 ? 0 : moved), in + o * block + (direction > 0 ? moved : 0),
                static_cast<std::size_t>(kept));
  }
  if (geometry.is_split(axis)) {
    incoming.resize(outgoing.size());
    pass_on(geometry, axis, -direction, outgoing, incoming);
  } else {
    incoming = std::move(outgoing);
  }
  for (std::int64_t o = 0; o < shape.outer; ++o)
    std::memcpy(out + o * block + arriving, incoming.data() + o * moved, static_cast<std::size_t>(moved));
}

/// phase^times. Exact for phases whose powers are exact, such as 1 and -1.
complex power(complex phase, std::int64_t times) {
  complex square = times > 0 ? phase : std::conj(phase), result = 1;
  for (std::int64_t bits = std::abs(times); bits > 0; bits /= 2, square *= square)
    if (bits % 2 != 0) result *= square;
  return result;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

void shift(std::span<std::byte> out, std::span<const std::byte> in, const Geometry4& geometry, std::int64_t site_bytes,
           int axis, std::int64_t steps) {
  check(geometry, out.size(), in.size(), site_bytes, axis, steps);
  const Layers shape = layers_of(geometry, site_bytes, axis);
  const std::int64_t extent = geometry.global()[static_cast<std::size_t>(axis)];
  std::int64_t left = (steps % extent + extent) % extent;
  if (left > extent / 2) left -= extent;
  const int direction = left < 0 ? -1 : 1;
  left = std::abs(left);
  std::ranges::copy(in, out.begin());
  std::vector<std::byte> before;
  while (left > 0) {
    const std::int64_t distance = std::min(left, shape.extent);
    before.assign(out.begin(), out.end());
    move_layers(out.data(), before.data(), geometry, shape, axis, direction, distance);
    left -= distance;
  }
}

void shift(std::span<complex> out, std::span<const complex> in, const Geometry4& geometry, std::int64_t axis,
           std::int64_t steps, complex phase) {
  const auto site_bytes =
      static_cast<std::int64_t>(in.size_bytes()) / std::max<std::int64_t>(1, geometry.local_volume());
  check(geometry, out.size_bytes(), in.size_bytes(), site_bytes, axis, steps);
  shift(std::as_writable_bytes(out), std::as_bytes(in), geometry, site_bytes, static_cast<int>(axis), steps);
  if (phase == complex(1)) return;
  const Layers shape =
      layers_of(geometry, site_bytes / static_cast<std::int64_t>(sizeof(complex)), static_cast<int>(axis));
  const auto a = static_cast<std::size_t>(axis);
  for (std::int64_t x = 0; x < shape.extent; ++x) {
    const std::int64_t turns = floor_quotient(geometry.offset()[a] + x + steps, geometry.global()[a]);
    if (turns == 0) continue;
    const complex factor = power(phase, turns);
    for (std::int64_t o = 0; o < shape.outer; ++o) {
      complex* layer = out.data() + (o * shape.extent + x) * shape.layer;
      for (std::int64_t i = 0; i < shape.layer; ++i) layer[i] *= factor;
    }
  }
}

namespace {

Su3<double> adjoint_if(bool wanted, const Su3<double>& u) { return wanted ? adjoint(u) : u; }

complex element(const Su3<double>& u, int row, int column) { return {u.e[row][column].re, u.e[row][column].im}; }

/// v(x) = U_mu(x) v(x), or U^dagger v, or U v U^dagger.
void apply_links(std::span<complex> field, const GaugeField& u, int axis, const ColourIndex& colour, bool dagger) {
  const auto& local = u.geometry().local();
  const std::int64_t numbers = colour.numbers();
  const int inner = colour.adjoint ? 3 : colour.inner;
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < u.geometry().local_volume(); ++site) {
    const Su3<double> link = adjoint_if(dagger, u.link(lattice::coordinates_of<4>(site, local), axis));
    for (int block = 0; block < colour.outer; ++block) {
      complex* v = field.data() + site * numbers + std::int64_t{block} * 3 * inner;
      for (int k = 0; k < inner; ++k) {
        const std::array<complex, 3> old{v[k], v[inner + k], v[2 * inner + k]};
        for (int row = 0; row < 3; ++row)
          v[row * inner + k] =
              element(link, row, 0) * old[0] + element(link, row, 1) * old[1] + element(link, row, 2) * old[2];
      }
      if (!colour.adjoint) continue;
      for (int row = 0; row < 3; ++row) {
        const std::array<complex, 3> old{v[3 * row], v[3 * row + 1], v[3 * row + 2]};
        for (int column = 0; column < 3; ++column) {
          v[3 * row + column] = 0;
          for (int k = 0; k < 3; ++k)
            v[3 * row + column] += old[static_cast<std::size_t>(k)] * std::conj(element(link, column, k));
        }
      }
    }
  }
}

}  // namespace

void covariant_derivative(std::span<complex> out, std::span<const complex> in, const GaugeField& u, int axis,
                          const ColourIndex& colour, complex phase, Difference difference) {
  const Geometry4& geometry = u.geometry();
  const auto site_bytes = colour.numbers() * static_cast<std::int64_t>(sizeof(complex));
  check(geometry, out.size_bytes(), in.size_bytes(), site_bytes, axis, static_cast<std::int64_t>(difference));
  const auto count = static_cast<std::int64_t>(in.size());
  if (difference != Difference::backward) {
    shift(out, in, geometry, axis, 1, phase);
    apply_links(out, u, axis, colour, false);
    if (difference == Difference::forward) {
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] -= in[static_cast<std::size_t>(i)];
      return;
    }
  }
  std::vector<complex> transported(in.begin(), in.end()), behind(in.size());
  apply_links(transported, u, axis, colour, true);
  shift(behind, transported, geometry, axis, -1, phase);
  const bool symmetric = difference == Difference::symmetric;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    out[k] = symmetric ? 0.5 * (out[k] - behind[k]) : in[k] - behind[k];
  }
}

}  // namespace halocline::qcd
