// SPDX-License-Identifier: Apache-2.0
//
// Orbital files, read whole into a state. Every number has a checksum, so that none may come back changed. Half of the
// inputs have the checksum of their header made right again, so that its sizes and texts are reached.

#include <algorithm>
#include <cstring>

#include "fuzz/fuzz.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/io/orbital_file.hpp"
#include "tddft/propagate/soft_systems.hpp"
#include "tddft/pseudopotential/scratch_file.hpp"

namespace halocline::fuzz {

namespace {

using namespace tddft;

System small_system() {
  System system;
  system.grid = {{5, 6, 7}, {0.9, 0.8, 0.75}, Boundary::periodic};
  system.species = {std::make_shared<soft::SoftIon>(2.0, 1.0, 0.4)};
  system.atoms = {{0, {1.1, 2.3, 1.2}}};
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  system.electrons = 2;
  system.states = 2;
  return system;
}

std::string written(const Model& model, const State& state, const RunPoint& point) {
  const test::ScratchFile file("");
  write_orbitals(file.path(), model, state, point);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint64_t scrambled(std::uint64_t word) {  // the finaliser of splitmix64
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

/// The checksum of the header, as docs/formats.md describes it.
std::uint64_t header_checksum(const char* bytes, std::size_t count) {
  std::uint64_t sum = count;
  for (std::size_t at = 0; at < count; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min<std::size_t>(8, count - at));
    sum += scrambled(scrambled(at + 1) ^ word);
  }
  return sum;
}

constexpr std::size_t preamble = 64, length_at = 16, checksum_at = 24, file_bytes_at = 32;

void repair(std::string& bytes) {
  if (bytes.size() < preamble) return;
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + length_at, 8);
  length = std::min<std::uint64_t>(length, bytes.size() - preamble);
  const std::uint64_t sum = header_checksum(bytes.data() + preamble, length), size = bytes.size();
  std::memcpy(bytes.data() + length_at, &length, 8);
  std::memcpy(bytes.data() + checksum_at, &sum, 8);
  std::memcpy(bytes.data() + file_bytes_at, &size, 8);
}

struct Reading {
  Model model;
  State sound, state;
  std::vector<std::string> files;

  Reading() : model(soft::model_of(small_system())), sound(soft::waves(model)), state(model.empty_state()) {
    model.sum_density(sound);
    for (std::size_t i = 0; i < sound.eigenvalues.size(); ++i)
      sound.eigenvalues[i] = 0.1 * static_cast<double>(i) - 0.3;
    files = {written(model, sound, {}),
             written(model, sound, {1234, 197.44, 0.16, true, "[system]\nname = \"soft\"\n"})};
  }

  Verdict read(const std::string& path, const std::string& bytes) {
    static_cast<void>(orbital_file_info(path));
    static_cast<void>(read_orbitals(path, model, state));
    if (!std::ranges::equal(state.orbitals.values(), sound.orbitals.values()) || state.density != sound.density)
      return Verdict::silent;
    const bool same = state.occupations == sound.occupations && state.eigenvalues == sound.eigenvalues;
    // A header with another checksum than those written was made up, and says what it likes.
    const bool made_up = std::ranges::none_of(
        files, [&](const std::string& file) { return bytes.compare(checksum_at, 8, file, checksum_at, 8) == 0; });
    return same ? Verdict::unchanged : made_up ? Verdict::unprotected : Verdict::silent;
  }
};

}  // namespace

Family make_family() {
  const auto reading = std::make_shared<Reading>();
  Family family;
  family.name = "orbitals";
  for (const std::string& file : reading->files) family.samples.push_back({"halorbit", file, 700});
  family.words = {"HALORBIT",
                  "pade",
                  "Soft",
                  std::string(8, '\0'),
                  std::string("\1\0\0\0\0\0\0\0", 8),
                  std::string("\0\0\0\0\0\0\xf8\x7f", 8),
                  std::string("\0\0\0\0\0\0\xf0\x7f", 8),
                  "\xff\xfe",
                  "\xc3\x28"};
  family.read = [reading](const std::string& path, const std::string& bytes) { return reading->read(path, bytes); };
  family.repair = repair;
  return family;
}

}  // namespace halocline::fuzz
