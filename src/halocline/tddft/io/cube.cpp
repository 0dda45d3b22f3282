// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/io/cube.hpp"

#include "halocline/tddft/base/elements.hpp"
#include "halocline/tddft/io/detail/parallel_file.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

namespace halocline::tddft {
namespace {

std::string cube_text(const System& system, const std::vector<double>& values, const std::string& comment) {
  const Grid& grid = system.grid;
  fmt::memory_buffer out;
  auto to = std::back_inserter(out);
  std::string line = comment;
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::format_to(to, "{}\nHalocline; lengths in bohr, values in atomic units, z runs fastest\n", line);
  fmt::format_to(to, "{:5d} {:12.6f} {:12.6f} {:12.6f}\n", system.atoms.size(), grid.position(0, 0),
                 grid.position(1, 0), grid.position(2, 0));
  const std::array<Vec3, 3> steps = grid.steps();
  for (std::size_t a = 0; a < 3; ++a)
    fmt::format_to(to, "{:5d} {:12.6f} {:12.6f} {:12.6f}\n", grid.extent[a], steps[a][0], steps[a][1], steps[a][2]);
  // The number 0 is the format's ghost atom, for what is no element.
  for (const Atom& atom : system.atoms) {
    const Pseudopotential& species = *system.species[static_cast<std::size_t>(atom.species)];
    fmt::format_to(to, "{:5d} {:12.6f} {:12.6f} {:12.6f} {:12.6f}\n", atomic_number_of(species.symbol()),
                   species.valence(), atom.position[0], atom.position[1], atom.position[2]);
  }
  for (std::int64_t x = 0; x < grid.extent[0]; ++x)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t z = 0; z < grid.extent[2]; ++z) {
        const bool last = z % 6 == 5 || z + 1 == grid.extent[2];
        fmt::format_to(to, " {:17.10e}{}",
                       values[static_cast<std::size_t>(x + grid.extent[0] * (y + grid.extent[1] * z))],
                       last ? "\n" : "");
      }
  return fmt::to_string(out);
}

}  // namespace

std::vector<double> gathered(const Decomposition& decomposition, std::span<const double> values) {
  const std::vector<std::byte> bytes = decomposition.space().gather(std::as_bytes(values), 0);
  if (decomposition.space().rank() != 0) return {};
  return assembled(decomposition, bytes);
}

void write_cube(const std::string& path, const System& system, const Decomposition& decomposition,
                std::span<const double> values, const std::string& comment) {
  const comm::Communicator& world = decomposition.world();
  const std::vector<double> whole = gathered(decomposition, values);
  std::string text;
  comm::on_every_rank(world, [&] {
    if (world.rank() == 0) text = cube_text(system, whole, comment);
  });
  detail::WriteFile file(world, path, 0);
  comm::on_every_rank(world, [&] {
    if (world.rank() == 0) file.write(0, std::as_bytes(std::span(text)));
  });
  file.finish();
}

}  // namespace halocline::tddft
