// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The header of an orbital file: the system, the point that the run has reached, and the layout of the file.

#include "halocline/tddft/io/detail/parallel_file.hpp"
#include "halocline/tddft/io/orbital_file.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace halocline::tddft::detail {

/// Mixes a word, so that each bit of the result depends on all of `word`; invertible (the finaliser of splitmix64,
/// Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t scrambled(std::uint64_t word) noexcept {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// Term of an array's checksum for the number (re, im) at `index`. The checksum is the sum of these terms modulo 2^64.
/// It does not depend on the order, and a change of one number always changes it.
inline std::uint64_t checksum_term(std::uint64_t index, double re, double im) noexcept {
  const std::uint64_t place = scrambled(index + 0x9e3779b97f4a7c15u);
  return scrambled(scrambled(place ^ std::bit_cast<std::uint64_t>(re)) ^ std::bit_cast<std::uint64_t>(im));
}

/// Version of the format. Version 1 has no earlier potentials, versions 1 and 2 have orthogonal axes, versions 1 to 3
/// have no light; they can be read.
inline constexpr std::uint32_t newest_version = 4;

/// The properties of a species on which two runs must agree.
struct SpeciesMark {
  std::string symbol;
  double valence = 0;
  /// Local potential at 0.5 and 1.5 bohr, its short-range part at G = 1, and the nonlocal kernels at 0.8 bohr.
  std::array<double, 4> samples{};
};

struct OrbitalHeader {
  std::uint32_t version = newest_version;  ///< of the format
  RunPoint point;
  std::int64_t potentials = 0;  ///< number of earlier potentials of a propagation, times their parts; 0 in version 1
  std::int64_t light = 0;       ///< meshes of light that depends on the place (State::light); 0 before version 4
  Grid grid;
  int spins = 1;
  std::int64_t states = 0;
  double electrons = 0;
  std::string functional;
  std::vector<Channel> channels;
  std::vector<SpeciesMark> species;
  std::vector<Atom> atoms;
  bool has_jellium = false;
  JelliumSphere jellium{};
  std::vector<double> occupations, eigenvalues;  ///< shape (channels, states)
};

/// Offsets of the parts of a file [bytes].
struct FileLayout {
  std::int64_t orbitals = 0;   ///< number of orbitals
  std::int64_t meshes = 0;     ///< number of meshes that follow them: densities, potentials and light
  std::int64_t data = 0;       ///< orbitals [channel][state][z][y][x] (re, im)
  std::int64_t density = 0;    ///< [spin][z][y][x], then the earlier potentials [number][spin][z][y][x], then light
  std::int64_t checksums = 0;  ///< [channel][state], then of the meshes in their order, 64 bits each
  std::int64_t size = 0;       ///< of the file
};

OrbitalHeader header_of(const Model& model, const State& state, const RunPoint& point);
/// Preamble and header, ready to be written at byte 0.
std::vector<std::byte> encoded(const OrbitalHeader& header);
FileLayout layout_of(const OrbitalHeader& header);

/// @throws FileError  not an orbital file, of another version, damaged, or of another length than its header says
OrbitalHeader read_header(const ReadFile& file);

/// @throws FileError  `found`, read from `path`, is not the system of `expected`; names the first difference and both
///                    values. `found` may have additional states if they are empty
void check_same_system(const std::string& path, const OrbitalHeader& found, const OrbitalHeader& expected);

/// "Si8", "C2 H2", "jellium sphere of charge 10".
std::string formula(const OrbitalHeader& header);

}  // namespace halocline::tddft::detail
