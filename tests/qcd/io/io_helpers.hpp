// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the tests of the file formats share: a field that depends on the global site alone, folders that vanish, and
/// files as byte strings to be damaged.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "halocline/comm/group/communicator.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::test {

using Links = std::vector<std::complex<double>>;

inline std::shared_ptr<const lattice::Geometry4> geometry_of(const lattice::Coordinates<4>& extents,
                                                             const comm::Communicator& group) {
  const auto dims = comm::least_surface_grid(extents, group.size());
  return std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(group, dims));
}

inline std::shared_ptr<const lattice::Geometry4> single_geometry(const lattice::Coordinates<4>& extents) {
  return geometry_of(extents, comm::Communicator::self());
}

/// A number in (-1, 1) from a counter (splitmix64).
inline double scrambled(std::uint64_t counter) {
  std::uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

/// SU(3) links that depend on the global site and direction: Gram-Schmidt of scrambled rows.
inline Links scrambled_links(const lattice::Geometry4& geometry) {
  Links links(static_cast<std::size_t>(geometry.local_volume()) * 36);
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const auto global = geometry.global_index(lattice::coordinates_of<4>(site, geometry.local()));
    for (std::int64_t mu = 0; mu < 4; ++mu) {
      std::complex<double>* u = links.data() + site * 36 + mu * 9;
      const auto key = static_cast<std::uint64_t>(global * 4 + mu) * 12;
      for (std::uint64_t k = 0; k < 6; ++k) u[k] = {scrambled(key + 2 * k), scrambled(key + 2 * k + 1)};
      const auto normalise = [](std::complex<double>* row) {
        const double length = std::sqrt(std::norm(row[0]) + std::norm(row[1]) + std::norm(row[2]));
        for (int k = 0; k < 3; ++k) row[k] /= length;
      };
      normalise(u);
      std::complex<double> overlap = 0;
      for (int k = 0; k < 3; ++k) overlap += std::conj(u[k]) * u[3 + k];
      for (int k = 0; k < 3; ++k) u[3 + k] -= overlap * u[k];
      normalise(u + 3);
      for (int j = 0; j < 3; ++j)
        u[6 + j] = std::conj(u[(j + 1) % 3] * u[3 + (j + 2) % 3] - u[(j + 2) % 3] * u[3 + (j + 1) % 3]);
    }
  }
  return links;
}

inline qcd::GaugeField scrambled_field(const std::shared_ptr<const lattice::Geometry4>& geometry) {
  return qcd::GaugeField::from_canonical(geometry, scrambled_links(*geometry));
}

inline double largest_difference(const Links& a, const Links& b) {
  if (a.size() != b.size()) return 1e300;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= most)) most = difference;
  }
  return most;
}

inline Links rounded_to_float(Links links) {
  for (auto& z : links) z = {static_cast<float>(z.real()), static_cast<float>(z.imag())};
  return links;
}

/// A folder of its own, removed with all it holds.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "halocline-io-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Names of everything in the folder.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      all.push_back(entry.path().filename().string());
    return all;
  }

private:
  std::filesystem::path path_;
};

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("test input lacks " + from);
  return text.replace(at, from.size(), to);
}

/// The sentence of the Error that action throws; empty when it throws nothing.
template <class Error, class Action>
std::string sentence_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace halocline::test
