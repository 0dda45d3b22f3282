// SPDX-License-Identifier: Apache-2.0
//
// Pseudopotentials of abinit, fhi98PP and CP2K: small files of each kind, recognised by their contents.

#include <fmt/format.h>

#include "fuzz/pseudopotentials.hpp"
#include "halocline/tddft/pseudopotential/potential_file.hpp"

namespace halocline::fuzz {

namespace {

constexpr int nodes = 20;

double potential(double r) { return -3 * (r > 0 ? std::erf(r / 0.5) / r : 2.2568) + std::exp(-r * r); }
double wave(int l, double r) { return std::pow(r, l + 1) * std::exp(-r * r); }

std::string header(int format, int largest_l, int local_l, int radii) {
  return fmt::format("title\n 5.0 3.0 261128\n {} 7 {} {} {} 0 pspcod,pspxc,lmax,lloc,mmax\n", format, largest_l,
                     local_l, radii);
}

std::string fhi_file() {
  std::string text = header(6, 1, 1, nodes) + "3.0 1.0 0.0 rchrg fchrg qchrg\n5\n6\n7\n3.0 2\n";
  for (int line = 0; line < 10; ++line) text += " 0.0 0.0\n";
  for (const bool core : {false, true})
    for (int l = 0; l < (core ? 1 : 2); ++l) {
      if (!core) text += fmt::format("{} 1.4\n", nodes);
      for (int i = 0; i < nodes; ++i) {
        const double r = 0.02 * std::pow(1.4, i);
        text +=
            core ? fmt::format("{:.6e} {:.6e} 0 0\n", r, std::exp(-r * r))
                 : fmt::format("{} {:.6e} {:.6e} {:.9e}\n", i + 1, r, wave(l, r), potential(r) + 0.3 * l * wave(0, r));
      }
    }
  return text;
}

std::string psp8_file() {
  constexpr int radii = 24;
  std::string text = header(8, 0, 4, radii) + "3.0 1.0 0.0\n2 0 0 0 0 nproj\n1 extension_switch\n0 2.5 -0.7\n";
  for (int block = 0; block < 3; ++block) {
    if (block == 1) text += "4\n";
    for (int i = 0; i < radii; ++i) {
      const double r = 0.25 * i;
      text += fmt::format("{} {:.6e} {:.9e} {:.6e}\n", i + 1, r, block == 1 ? potential(r) : wave(0, r),
                          block == 0 ? r * wave(0, r) : 0.0);
      if (block == 1) text.replace(text.rfind(' '), std::string::npos, "\n");
    }
  }
  return text;
}

std::string pspnc_file() {
  std::string text = header(1, 1, 1, nodes);
  for (int l = 0; l < 2; ++l) text += fmt::format("{} 1.0 2.0 {} 1.5\n 0 0 0 0\n", l, 1 - l);
  text += "1.5 0.2 1.0\n";
  for (int table = 0; table < 4; ++table) {
    text += fmt::format("{} =l\n", table % 2);
    for (int i = 0; i < nodes; ++i) {
      const double r = 100 * std::pow(i / (nodes - 1.0) + 0.01, 5);
      text += fmt::format(" {:.9e}\n", table < 2 ? potential(r) + 0.2 * table * wave(0, r) : wave(table % 2, r));
    }
  }
  return text;
}

const char* const hghk =
    "title\n 5.0 3.0 261128\n10 1 1 0 2001 0\n0.4 2 -7.3 0.4\n2\n0.42 2 5.9 -1.26\n3.2\n0.48 1 2.7\n0.1\n";
const char* const library = "# comment\nB GTH-PADE-q3 GTH-PADE\n 2 1\n 0.43 2 -5.5 0.8\n 2\n 0.37 1 6.2\n 0.3 0\n";

}  // namespace

Family make_family() {
  Family family;
  family.name = "abinit";
  family.samples = {{"fhi", fhi_file(), 0},
                    {"psp8", psp8_file(), 0},
                    {"pspnc", pspnc_file(), 0},
                    {"hgh", hghk, 0},
                    {"gth", library, 0}};
  family.words = {
      " ", "\n", ",",    "\t",   "0.0",  "1.0D+02",           "-", "1e-400", "0.1", "1000000", "4 ", "8 ", "17",
      "+", ".",  "\r\n", "NLCC", "\xff", std::string(1, '\0')};
  read_with(family, [](const std::string& path) {
    const std::string format = tddft::recognised_format(path);
    return tddft::read_potential_file(path, {.symbol = format == "gth" || format == "cpi" || format == "ky" ? "B" : "",
                                             .format = format.empty() ? "abinit" : format});
  });
  return family;
}

}  // namespace halocline::fuzz
