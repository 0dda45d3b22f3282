// SPDX-License-Identifier: Apache-2.0
//
// Pseudopotentials in KY files: small tables with one, two and four channels.

#include <fmt/format.h>

#include "fuzz/pseudopotentials.hpp"
#include "halocline/tddft/pseudopotential/ky.hpp"

namespace halocline::fuzz {

namespace {

/// Angstrom and eV; V_l = -Z erf(r/w)/r and more inside the core.
std::string ky_file(int largest_l, int steps, double step) {
  constexpr double valence = 3, core = 1.2;
  std::string text = fmt::format("{:8d} {:.5f} {:d} {:.5f}\n  0", steps, step, largest_l, valence);
  for (int l = 0; l <= largest_l; ++l) text += fmt::format(" {:.5f}", core);
  text += "\n";
  for (int i = 0; i <= steps; ++i) {
    const double r = i * step, inside = r < core ? std::pow(1 - r * r / (core * core), 3) : 0.0;
    text += fmt::format("{:.6f} 0.0", r);
    for (int l = 0; l <= largest_l; ++l)
      text += fmt::format(" {:.8e}", -14.4 * valence * (r > 0 ? std::erf(r / 0.35) / r : 3.22) + (l + 1) * 10 * inside);
    text += "\n";
  }
  for (int i = 0; i <= steps; ++i) {
    text += fmt::format("{:.6f}", i * step);
    for (int l = 0; l <= largest_l; ++l)
      text += fmt::format(" {:.8e}", 2 * std::pow(i * step, l + 1) * std::exp(-1.2 * i * i * step * step));
    text += "\n";
  }
  return text;
}

}  // namespace

Family make_family() {
  Family family;
  family.name = "ky";
  family.samples = {{"ky", ky_file(0, 20, 0.1), 0}, {"ky", ky_file(1, 20, 0.1), 40}, {"ky", ky_file(3, 12, 0.2), 60}};
  family.words = {" ", "\n", ",", "\t",   "0.0",  "1.0D+02",           "-", "1e-400", "0.1", "1000000", "4 ",
                  "+", ".",  "e", "\r\n", "\xff", std::string(1, '\0')};
  read_with(family, [](const std::string& path) { return tddft::read_ky(path, "X"); });
  return family;
}

}  // namespace halocline::fuzz
