// SPDX-License-Identifier: Apache-2.0
/// @file
/// In memory a block holds four states at each point; in the file the states follow one another. So orbitals are copied
/// lane by lane: a state's part of the box is extracted as a whole (16 bytes a point) and transferred in runs,
/// stretches that are consecutive in the file. A run is a row along x, or whole planes if x, and then y, is not split.

#include "halocline/tddft/io/orbital_file.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/io/detail/orbital_header.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace halocline::tddft {
namespace {

using core::FileError;
using detail::FileLayout;
using detail::OrbitalHeader;
using Numbers = std::vector<std::complex<double>>;

std::int64_t global_index(const Grid& grid, std::int64_t x, std::int64_t y, std::int64_t z) {
  return x + grid.extent[0] * (y + grid.extent[1] * z);
}

/// Calls action(local index, global index, points) for the stretches of a box that are consecutive in the box and in
/// the file.
template <class Action>
void for_each_run(const Grid& grid, const Box& box, Action&& action) {
  const bool rows = box.extent[0] == grid.extent[0];
  const bool planes = rows && box.extent[1] == grid.extent[1];
  const std::int64_t run = box.extent[0] * (rows ? box.extent[1] : 1) * (planes ? box.extent[2] : 1);
  for (std::int64_t z = 0; z < (planes ? 1 : box.extent[2]); ++z)
    for (std::int64_t y = 0; y < (rows ? 1 : box.extent[1]); ++y)
      action(box.index(0, y, z), global_index(grid, box.offset[0], box.offset[1] + y, box.offset[2] + z), run);
}

std::uint64_t checksum(const Grid& grid, const Box& box, const Numbers& values) {
  std::uint64_t sum = 0;
  for_each_run(grid, box, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::complex<double> value = values[size(local + i)];
      sum += detail::checksum_term(static_cast<std::uint64_t>(global + i), value.real(), value.imag());
    }
  });
  return sum;
}

std::uint64_t checksum(const Grid& grid, const Box& box, std::span<const double> values) {
  std::uint64_t sum = 0;
  for_each_run(grid, box, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      sum += detail::checksum_term(static_cast<std::uint64_t>(global + i), values[size(local + i)], 0);
  });
  return sum;
}

/// Calls action(local channel, local block, lane, number in the file) for every state on this process.
template <class Action>
void for_each_state(const Model& model, const OrbitalHeader& header, const Orbitals& orbitals, Action&& action) {
  for (std::int64_t channel = 0; channel < orbitals.channels(); ++channel)
    for (std::int64_t block = 0; block < orbitals.blocks(); ++block)
      for (int lane = 0; lane < orbital_lanes; ++lane) {
        const int state = model.state_number(block, lane);
        if (state >= 0)
          action(channel, block, lane, (model.decomposition().channels().begin + channel) * header.states + state);
      }
}

/// Density and potentials of a box are the same in all groups of channels and orbitals; one group writes them.
bool writes_meshes(const Decomposition& decomposition) { return decomposition.box_mates().rank() == 0; }

/// Mesh `number` on this box: first the densities of the spins, then the earlier potentials, then light.
template <class OneState>
auto mesh_of(OneState& state, std::int64_t number, const OrbitalHeader& header, std::int64_t points) {
  const std::int64_t potentials = header.spins, light = potentials + header.potentials * header.spins;
  auto& values = number < potentials ? state.density : number < light ? state.earlier_potentials : state.light;
  const std::int64_t first = number < potentials ? 0 : number < light ? potentials : light;
  return std::span(values).subspan(size((number - first) * points), size(points));
}

}  // namespace

void write_orbitals(const std::string& path, const Model& model, const State& state, const RunPoint& point) {
  const Decomposition& decomposition = model.decomposition();
  const Grid& grid = decomposition.grid();
  const Box& box = decomposition.box();
  const OrbitalHeader header = detail::header_of(model, state, point);
  std::vector<std::byte> head;
  comm::on_every_rank(decomposition.world(), [&] { head = detail::encoded(header); });
  const FileLayout layout = detail::layout_of(header);
  detail::WriteFile file(decomposition.world(), path, layout.size);

  // Every rank adds its contribution to the checksum of each state; the sum over all ranks is the complete checksum.
  std::vector<std::uint64_t> checksums(size(layout.orbitals + layout.meshes), 0);
  comm::on_every_rank(decomposition.world(), [&] {
    if (decomposition.world().rank() == 0) file.write(0, head);
    Numbers values(size(box.points()));
    DoubleBlocks orbitals(state.orbitals);
    for_each_state(model, header, state.orbitals,
                   [&](std::int64_t channel, std::int64_t block, int lane, std::int64_t number) {
                     const double* psi = orbitals.read(channel, block) + 2 * lane;
                     for (std::complex<double>& value : values) {
                       value = {psi[0], psi[1]};
                       psi += doubles_per_point;
                     }
                     checksums[size(number)] = checksum(grid, box, values);
                     for_each_run(grid, box, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
                       file.write(layout.data + 16 * (number * grid.points() + global),
                                  std::as_bytes(std::span(values).subspan(size(local), size(count))));
                     });
                   });
    if (!writes_meshes(decomposition)) return;
    for (std::int64_t mesh = 0; mesh < layout.meshes; ++mesh) {
      const auto n = mesh_of(state, mesh, header, box.points());
      checksums[size(layout.orbitals + mesh)] = checksum(grid, box, n);
      for_each_run(grid, box, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
        file.write(layout.density + 8 * (mesh * grid.points() + global),
                   std::as_bytes(n.subspan(size(local), size(count))));
      });
    }
  });
  decomposition.world().sum(std::span(checksums));
  comm::on_every_rank(decomposition.world(), [&] {
    if (decomposition.world().rank() == 0) file.write(layout.checksums, std::as_bytes(std::span(checksums)));
  });
  file.finish();
}

RunPoint read_orbitals(const std::string& path, const Model& model, State& state) {
  const Decomposition& decomposition = model.decomposition();
  const Grid& grid = decomposition.grid();
  const Box& box = decomposition.box();
  std::optional<detail::ReadFile> file;
  OrbitalHeader header;
  std::vector<std::uint64_t> written, found;
  FileLayout layout;
  bool is_finite = true;
  comm::on_every_rank(decomposition.world(), [&] {
    file.emplace(path);
    header = detail::read_header(*file);
    detail::check_same_system(path, header, detail::header_of(model, state, {}));
    const std::int64_t rows = static_cast<std::int64_t>(model.potential_numbers(true)) /
                              (model.system().spins * model.decomposition().box().points());
    if (header.potentials % rows != 0 || header.potentials > most_earlier_potentials * rows)
      throw FileError(path, "HEADER",
                      fmt::format("has {} earlier potentials, where at most {} of {} parts each are expected; take "
                                  "another copy",
                                  header.potentials, most_earlier_potentials, rows));
    layout = detail::layout_of(header);
    written.resize(size(layout.orbitals + layout.meshes));
    found.resize(written.size());
    file->read(layout.checksums, std::as_writable_bytes(std::span(written)), "CHECKSUMS");

    Numbers values(size(box.points()));
    for_each_state(
        model, header, state.orbitals, [&](std::int64_t channel, std::int64_t block, int lane, std::int64_t number) {
          for_each_run(grid, box, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
            file->read(layout.data + 16 * (number * grid.points() + global),
                       std::as_writable_bytes(std::span(values).subspan(size(local), size(count))), "ORBITALS");
          });
          found[size(number)] = checksum(grid, box, values);
          is_finite = is_finite && std::ranges::all_of(values, [](std::complex<double> value) {
                        return std::isfinite(value.real()) && std::isfinite(value.imag());
                      });
          double* psi = state.orbitals.block(channel, block) + 2 * lane;
          for (const std::complex<double>& value : values) {
            psi[0] = value.real();
            psi[1] = value.imag();
            psi += doubles_per_point;
          }
        });
    state.earlier_potentials.resize(size(header.potentials * header.spins * box.points()));
    state.light.resize(size(header.light * box.points()));
    for (std::int64_t mesh = 0; mesh < layout.meshes; ++mesh) {
      const auto n = mesh_of(state, mesh, header, box.points());
      for_each_run(grid, box, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
        file->read(layout.density + 8 * (mesh * grid.points() + global),
                   std::as_writable_bytes(n.subspan(size(local), size(count))), "DENSITY");
      });
      if (writes_meshes(decomposition)) found[size(layout.orbitals + mesh)] = checksum(grid, box, n);
      is_finite = is_finite && std::ranges::all_of(n, [](double value) { return std::isfinite(value); });
    }
  });

  decomposition.world().sum(std::span(found));
  comm::on_every_rank(decomposition.world(), [&] {
    const std::size_t orbitals = size(layout.orbitals);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool left_out = i < orbitals && i % size(header.states) >= size(model.system().states);
      if (left_out || found[i] == written[i]) continue;
      const std::string record = i < orbitals ? fmt::format("ORBITAL {} of channel {}", i % size(header.states) + 1,
                                                            i / size(header.states) + 1)
                                 : i < orbitals + size(header.spins)                           ? "DENSITY"
                                 : i < orbitals + size((1 + header.potentials) * header.spins) ? "POTENTIALS"
                                                                                               : "LIGHT";
      throw FileError(path, record,
                      fmt::format("has checksum {:016x} where {:016x} is written: it is damaged; take another copy",
                                  found[i], written[i]));
    }
  });
  if (!decomposition.world().all(is_finite))
    throw FileError(path, "ORBITALS", "hold NaN or infinite numbers; compute them again, or take another copy");
  for (std::size_t channel = 0; channel < header.channels.size(); ++channel)
    for (std::size_t i = 0; i < size(model.system().states); ++i) {
      state.occupations[channel * size(model.system().states) + i] =
          header.occupations[channel * size(header.states) + i];
      state.eigenvalues[channel * size(model.system().states) + i] =
          header.eigenvalues[channel * size(header.states) + i];
    }
  return header.point;
}

OrbitalFileInfo orbital_file_info(const std::string& path) {
  const OrbitalHeader header = detail::read_header(detail::ReadFile(path));
  return {header.point,  header.grid,      header.spins,           static_cast<std::int64_t>(header.channels.size()),
          header.states, header.electrons, detail::formula(header)};
}

}  // namespace halocline::tddft
