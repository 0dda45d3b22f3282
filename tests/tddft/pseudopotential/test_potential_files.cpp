// SPDX-License-Identifier: Apache-2.0
//
// Files of abinit, fhi98PP, CP2K and UPF version 1, written here from functions of closed form, so that there is an
// exact answer for each number. Files that other programs wrote are in tests/python/test_tddft_potentials.py.

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/detail/functional_name.hpp"
#include "halocline/tddft/pseudopotential/detail/gth_library.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "halocline/tddft/pseudopotential/potential_file.hpp"
#include "tddft/pseudopotential/radial_integral.hpp"
#include "tddft/pseudopotential/scratch_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace halocline::tddft {
namespace {

using test::integral;

constexpr double pi = std::numbers::pi, valence = 4;

// A pseudo-atom of closed form: three potentials that differ by Gaussians, wave functions, and a core.
double bump(int l, double r) {
  return l == 0 ? 1.7 * std::exp(-1.3 * r * r) : l == 1 ? -0.6 * std::exp(-1.1 * r * r) : 0.0;
}
double potential(int l, double r) {
  const double coulomb = r > 0 ? std::erf(r / 0.7) / r : 2 / (0.7 * std::sqrt(pi));
  return -valence * coulomb + bump(l, r);
}
double wave(int l, double r) { return 1.3 * std::pow(r, l + 1) * std::exp(-0.5 * r * r); }
double core(double r) { return 0.3 * std::exp(-2 * r * r); }

std::vector<double> growing_mesh(int points) {
  std::vector<double> r;
  for (int i = 0; i < points; ++i) r.push_back(4e-4 * std::pow(1.0247, i));
  return r;
}

/// A .cpi file, and the part of pspcod 6 from its charge on.
std::string cpi_text(bool with_core, int channels = 3) {
  const auto mesh = growing_mesh(460);
  std::string text = fmt::format("{:.8e} {}\n", valence, channels);
  for (int line = 0; line < 10; ++line) text += " 0.0000 0.0000 0.0000\n";
  for (int l = 0; l < channels; ++l) {
    text += fmt::format("{} {:.14e}\n", mesh.size(), 1.0247);
    for (std::size_t i = 0; i < mesh.size(); ++i)
      text += fmt::format("{} {:.14e} {:.14e} {:.14e}\n", i + 1, mesh[i], wave(l, mesh[i]), potential(l, mesh[i]));
  }
  if (with_core)
    for (const double r : mesh) text += fmt::format("{:.14e} {:.14e} {:.14e} {:.14e}\n", r, 4 * pi * core(r), 0.0, 0.0);
  return text;
}

std::string header(int format, int functional, int largest_l, int local_l, int nodes, const std::string& more = "") {
  return fmt::format("a title\n 14.0 4.0 261128 zatom,zion,pspdat\n {} {} {} {} {} 0 pspcod,pspxc,lmax,lloc,mmax\n{}",
                     format, functional, largest_l, local_l, nodes, more);
}

std::string fhi_text(bool with_core, int local_l = 2) {
  return header(6, 7, 2, local_l, 460, fmt::format("5.0 {} 0.0 rchrg fchrg qchrg\n5\n6\n7\n", with_core ? 1.0 : 0.0)) +
         cpi_text(with_core);
}

std::string pspnc_text() {
  constexpr int nodes = 2001;
  std::vector<double> r;
  for (int i = 0; i < nodes; ++i) r.push_back(100 * std::pow(i / (nodes - 1.0) + 0.01, 5) - 1e-8);
  std::string text = header(1, 1, 2, 2, nodes);
  for (int l = 0; l < 3; ++l)
    text += fmt::format("{} 5.9 14.7 {} 2.1 l,e99.0,e99.9,nproj,rcpsp\n 0 0 0 0 rms\n", l, l < 2 ? 1 : 0);
  text += "1.8 0.25 1.2 rchrg,fchrg,qchrg\n";
  for (const bool waves : {false, true})
    for (int l = 0; l < 3; ++l) {
      text += fmt::format("{} =l for a table\n", l);
      for (int i = 0; i < nodes; ++i) {
        const double at = std::max(r[static_cast<std::size_t>(i)], 0.0);
        text +=
            fmt::format(" {:.16E}{}", waves ? wave(l, at) : potential(l, at), i % 3 == 2 || i == nodes - 1 ? "\n" : "");
      }
    }
  return text;
}

/// Two projectors of s and one of p, with exact strengths.
double projector(int l, int i, double r) { return std::pow(r, l) * std::exp(-(1.2 + 0.7 * i) * r * r); }
constexpr double strength[] = {2.5, -0.75, 1.25};

std::string psp8_text(int extension = 1) {
  constexpr int nodes = 601;
  const auto row = [](int i) { return fmt::format("{} {:.14e}", i + 1, 0.01 * i); };
  std::string text = header(8, 11, 1, 4, nodes, "6.0 1.0 0.0 rchrg fchrg qchrg\n2 1 0 0 0 nproj\n");
  text += fmt::format("{} extension_switch\n0 {} {}\n", extension, strength[0], strength[1]);
  for (int i = 0; i < nodes; ++i) {
    const double r = 0.01 * i;
    text += fmt::format("{} {:.14e} {:.14e}\n", row(i), r * projector(0, 0, r), r * projector(0, 1, r));
  }
  text += fmt::format("1 {}\n", strength[2]);
  for (int i = 0; i < nodes; ++i) text += fmt::format("{} {:.14e}\n", row(i), 0.01 * i * projector(1, 0, 0.01 * i));
  text += "4\n";
  for (int i = 0; i < nodes; ++i) text += fmt::format("{} {:.14e}\n", row(i), potential(2, 0.01 * i));
  for (int i = 0; i < nodes; ++i) text += fmt::format("{} {:.14e} 0 0 0 0\n", row(i), 4 * pi * core(0.01 * i));
  return text + "<INPUT>\n anything\n</INPUT>\n";
}

/// The semi-local pseudo-atom in its separable form, in UPF version 1.
std::string upf_1_text(const std::string& type = "NC", const std::string& more = "") {
  const auto mesh = growing_mesh(430);
  const auto table = [&](const std::string& name, auto&& f) {
    std::string text = fmt::format("<{}>\n", name);
    for (std::size_t i = 0; i < mesh.size(); ++i) text += fmt::format(" {:.14E}{}", f(mesh[i]), i % 4 == 3 ? "\n" : "");
    return text + fmt::format("\n</{}>\n", name);
  };
  std::string text = "<PP_INFO>\nfree text < & >\n</PP_INFO>\n<PP_HEADER>\n   0   Version Number\n  Si  Element\n";
  text += fmt::format("  {}  Norm - Conserving\n  T  Nonlinear Core Correction\n", type);
  text += " SLA  PW   PBE  PBE     PBE   Exchange-Correlation functional\n 4.0  Z valence\n -7.0 Total energy\n";
  text +=
      fmt::format(" 0.0 0.0 Suggested cutoff\n 1 Max angular momentum component\n {} Number of points\n", mesh.size());
  text += "  2   3    Number of Wavefunctions, Number of Projectors\n Wavefunctions nl l occ\n</PP_HEADER>\n";
  text += "<PP_MESH>\n" + table("PP_R", [](double r) { return r; }) + table("PP_RAB", [](double r) { return r; }) +
          "</PP_MESH>\n";
  text += table("PP_NLCC", core) + table("PP_LOCAL", [](double r) { return 2 * potential(2, r); });
  text += "<PP_NONLOCAL>\n";
  for (int n = 0; n < 3; ++n) {
    const int l = n / 2, i = n % 2;
    text += fmt::format("<PP_BETA>\n {} {} Beta L\n 400\n", n + 1, l);
    for (std::size_t k = 0; k < 400; ++k) text += fmt::format(" {:.14E}", mesh[k] * projector(l, i, mesh[k]));
    text += "\n 2.0 2.0\n</PP_BETA>\n";
  }
  text += fmt::format(
      "<PP_DIJ>\n 4 Number of nonzero Dij\n 1 1 {}\n 1 2 0.5\n 2 2 {}\n 3 3 {}\n</PP_DIJ>\n</PP_NONLOCAL>\n",
      2 * strength[0], 2 * strength[1], 2 * strength[2]);
  return text + table("PP_RHOATOM", [](double r) { return r * r * std::exp(-r * r); }) + more;
}

std::shared_ptr<const Pseudopotential> read(const std::string& text, FileChoice choice = {}) {
  const test::ScratchFile file(text);
  return read_potential_file(file.path(), choice);
}

std::string refusal(const std::string& text, FileChoice choice = {}) {
  const test::ScratchFile file(text);
  try {
    read_potential_file(file.path(), choice);
  } catch (const core::FileError& error) {
    CHECK(error.path() == file.path());
    return error.what();
  }
  return "";
}

bool says(const std::string& sentence, const std::string& words) {
  CAPTURE(sentence);
  return sentence.find(words) != std::string::npos;
}

/// Checks a separable form of the semi-local pseudo-atom with l = 2 as its local potential.
void check_semilocal(const Pseudopotential& p) {
  CHECK(p.valence() == valence);
  CHECK(p.largest_l() == 1);
  for (double r = 0.05; r < 8; r += 0.31) CHECK(std::abs(p.local(r) - potential(2, r)) < 1e-7);
  for (int l = 0; l < 2; ++l) {
    REQUIRE(p.projectors(l) == 1);
    const double expected = 1 / integral([&](double r) { return wave(l, r) * wave(l, r) * bump(l, r); }, 0, 10);
    CHECK(p.coupling(l, 0, 0) == doctest::Approx(expected).epsilon(1e-6));
    for (double r = 0.05; r < 2.5; r += 0.17)
      CHECK(std::abs(p.projector(l, 0, r) - bump(l, r) * wave(l, r) / r) < 1e-6);
  }
}

/// Checks the projectors and couplings of psp8_text and upf_1_text.
void check_projectors(const Pseudopotential& p, double off_diagonal) {
  REQUIRE(p.projectors(0) == 2);
  REQUIRE(p.projectors(1) == 1);
  CHECK(p.coupling(0, 0, 0) == doctest::Approx(strength[0]));
  CHECK(p.coupling(0, 1, 1) == doctest::Approx(strength[1]));
  CHECK(p.coupling(0, 0, 1) == doctest::Approx(off_diagonal));
  CHECK(p.coupling(1, 0, 0) == doctest::Approx(strength[2]));
  for (double r = 0.05; r < 2.5; r += 0.17) {
    CHECK(std::abs(p.local(r) - potential(2, r)) < 1e-6);
    for (int n = 0; n < 3; ++n) CHECK(std::abs(p.projector(n / 2, n % 2, r) - projector(n / 2, n % 2, r)) < 1e-6);
  }
}

void check_core(const Pseudopotential& p, double (*exact)(double)) {
  REQUIRE(p.core_radius() > 2);
  for (double r = 0.03; r < 3; r += 0.13) {
    CHECK(std::abs(p.core_density(r) - exact(r)) < 1e-7);
    CHECK(std::abs(p.core_slope(r) - (exact(r + 1e-4) - exact(r - 1e-4)) / 2e-4) < 1e-5);
  }
  CHECK(p.core_density(p.core_radius()) == 0);
}

}  // namespace

TEST_CASE("potential files: FHI tables of abinit and of fhi98PP become projectors of Kleinman and Bylander") {
  for (const bool with_core : {false, true}) {
    const auto p = read(fhi_text(with_core)), bare = read(cpi_text(with_core), {.symbol = "Si"});
    CHECK(p->symbol() == "Si");
    CHECK(p->functional() == "pw");
    check_semilocal(*p);
    check_semilocal(*bare);
    CHECK(bare->functional().empty());
    CHECK((p->core_radius() > 0) == with_core);
    if (with_core) {
      check_core(*p, core);
      check_core(*bare, core);
    }
  }
}

TEST_CASE("potential files: the local channel is the file's, or the one that is asked for") {
  const auto s = read(fhi_text(false, 0)), asked = read(fhi_text(false, 2), {.local_l = 0});
  for (const auto& p : {s, asked}) {
    CHECK(p->projectors(0) == 0);
    CHECK(p->projectors(1) == 1);
    CHECK(p->projectors(2) == 1);
    CHECK(p->local(0.5) == doctest::Approx(potential(0, 0.5)));
  }
  CHECK(says(refusal(fhi_text(false), {.local_l = 3}), "l = 0 to 2"));
}

TEST_CASE("potential files: a wave function of any norm gives the same projector") {
  // States that are not bound fill the box that their table covers, so that little of them is inside the core.
  std::string text = header(6, 2, 1, 1, 460, "0 0 0\n5\n6\n7\n") + fmt::format("{} 2\n", valence);
  for (int line = 0; line < 10; ++line) text += " 0.0\n";
  const auto mesh = growing_mesh(460);
  for (int l = 0; l < 2; ++l) {
    text += fmt::format("{} 1.0247\n", mesh.size());
    for (std::size_t i = 0; i < mesh.size(); ++i)
      text += fmt::format("{} {:.14e} {:.14e} {:.14e}\n", i + 1, mesh[i], 1e-7 * wave(l, mesh[i]),
                          potential(l == 0 ? 0 : 2, mesh[i]));
  }
  const auto p = read(text);
  REQUIRE(p->projectors(0) == 1);
  const double square = integral([&](double r) { return std::pow(bump(0, r) * wave(0, r), 2); }, 0, 10),
               mean = integral([&](double r) { return wave(0, r) * wave(0, r) * bump(0, r); }, 0, 10);
  const double norm = integral([&](double r) { return std::pow(r * p->projector(0, 0, r), 2); }, 0, 10);
  CHECK(p->coupling(0, 0, 0) * norm == doctest::Approx(square / mean).epsilon(1e-5));
}

TEST_CASE("potential files: Troullier and Martins' tables of abinit, with a core of closed form") {
  const auto p = read(pspnc_text());
  CHECK(p->functional() == "pade");
  check_semilocal(*p);
  REQUIRE(p->core_radius() > 4);
  CHECK(p->core_density(0) == doctest::Approx(0.25).epsilon(1e-6));
  for (const double x : {0.3, 0.5, 0.77, 1.0, 1.3}) {
    const double y = 2 * pi * x, near = x + 1e-6;  // the form has removable zeros at 1/2 and 1
    const double f = x == 0.5 || x == 1.0
                         ? std::sin(2 * pi * near) / (2 * pi * near * (1 - 4 * near * near) * (1 - near * near))
                         : std::sin(y) / (y * (1 - 4 * x * x) * (1 - x * x));
    CHECK(p->core_density(1.8 * x) == doctest::Approx(0.25 * f * f).epsilon(1e-4));
  }
}

TEST_CASE("potential files: psp8, with several projectors and a core") {
  const auto p = read(psp8_text());
  CHECK(p->symbol() == "Si");
  CHECK(p->functional() == "pbe");
  check_projectors(*p, 0);
  check_core(*p, core);
  CHECK(says(refusal(psp8_text(3)), "fully relativistic"));
}

TEST_CASE("potential files: UPF version 1") {
  const auto p = read(upf_1_text());
  CHECK(p->symbol() == "Si");
  CHECK(p->functional() == "pbe");
  check_projectors(*p, 0.25);
  check_core(*p, core);
  CHECK(says(refusal(upf_1_text("US")), "ultrasoft"));
  CHECK(says(refusal(upf_1_text("NC", "<PP_ADDINFO>\n3S 1 0 0.5\n</PP_ADDINFO>\n")), "fully relativistic"));
  const std::string good = upf_1_text();
  for (std::size_t cut = 40; cut + 10 < good.size(); cut += 997) CHECK_FALSE(refusal(good.substr(0, cut)).empty());
}

TEST_CASE("potential files: Gaussians of abinit and of CP2K are the built-in ones") {
  const auto built_in = goedecker("Si");
  const std::string numbers =
      "0.44 1 -7.33610297 rloc nloc c1\n2 nnonloc\n0.42273813 2 5.90692831 -1.26189397 rs ns hs11 hs12\n"
      "3.25819622 hs22\n0.48427842 1 2.72701346 rp np hp11\n0.0003728 kp11\n";
  const std::string hgh =
      "0.44 -7.336103 0 0 0 rloc, c1\n0.422738 5.906928 3.258196 0 rs\n0.484278 2.727013 0 0 rp\n 0.000373 0.014 0 k\n";
  const std::string library =
      "# a comment\nC GTH-PADE-q4 GTH-LDA-q4\n 2 2\n 0.34883045 2 -8.51377110 1.22843203\n 2\n 0.30455321 1 "
      "9.52284179\n"
      " 0.23267730 0\n#\nSi GTH-PADE-q4 GTH-LDA-q4 GTH-PADE\n    2    2\n 0.44000000 1 -7.33610297\n 2\n"
      " 0.42273813 2 5.90692831 -1.26189397\n 3.25819622\n 0.48427842 1 2.72701346\n"
      "Si GTH-PBE-q4 GTH-PBE\n 2 2\n 0.44 1 -6.26928833\n 1\n 0.43563383 1 8.9517415\n";
  struct Case {
    std::string text;
    FileChoice choice;
    double tolerance;
  };
  for (const Case& c :
       {Case{header(10, 1, 1, 0, 2001, numbers), {}, 1e-12}, Case{header(3, 1, 1, 0, 2001, hgh), {}, 1e-5},
        Case{library, {.symbol = "Si", .name = "GTH-PADE"}, 1e-12}}) {
    const auto p = read(c.text, c.choice);
    CHECK(p->symbol() == "Si");
    CHECK(p->functional() == "pade");
    CHECK(p->valence() == 4);
    for (double r = 0; r < 4; r += 0.3) CHECK(std::abs(p->local(r) - built_in->local(r)) < c.tolerance);
    for (int l = 0; l < 2; ++l) {
      REQUIRE(p->projectors(l) == built_in->projectors(l));
      for (int i = 0; i < p->projectors(l); ++i) {
        CHECK(std::abs(p->projector(l, i, 0.8) - built_in->projector(l, i, 0.8)) < c.tolerance);
        for (int j = 0; j < p->projectors(l); ++j)
          CHECK(std::abs(p->coupling(l, i, j) - built_in->coupling(l, i, j)) < c.tolerance);
      }
    }
  }
  CHECK(read(library, {.symbol = "Si", .name = "GTH-PBE"})->functional() == "pbe");
  CHECK(read(library, {.symbol = "C"})->largest_l() == 0);
  CHECK(says(refusal(library, {.symbol = "Si"}), "GTH-PADE-q4, GTH-PBE-q4"));
  CHECK(says(refusal(library, {.symbol = "O"}), "no entry for O"));
  CHECK(says(refusal("Si GTH-PADE-q4\n 2 2\n 0.44 1 -7.3\n ,\n", {.symbol = "Si"}), "(GTH-PADE-q4)"));
  const auto gth = read(header(2, 1, 1, 0, 2001, "0.44 -6.91 0 0 0\n.42 3.2 2.6 rs\n.48 2.66 rp\n"));
  CHECK(gth->coupling(0, 0, 1) == 0);
  CHECK(gth->coupling(0, 1, 1) == 2.6);
  CHECK(gth->coupling(1, 0, 0) == 2.66);
}

TEST_CASE("potential files: kinds that are not read are refused by name, damage by its line") {
  CHECK(says(refusal(header(7, 7, 1, 0, 500)), "PAW"));
  CHECK(says(refusal(header(4, 3, 2, 2, 2001)), "pspcod 4"));
  CHECK(says(refusal(header(5, 3, 2, 2, 600)), "Hamann"));
  CHECK(says(refusal("<?xml version=\"1.0\"?>\n<paw_setup version=\"0.6\">\n</paw_setup>"), "PAW"));
  CHECK(says(refusal("<?xml?>\n<psml version=\"1.1\" energy_unit=\"hartree\">"), "PSML"));
  CHECK(says(refusal("a poem\nin two lines\n"), "no known format"));
  CHECK(says(refusal(psp8_text(), {.symbol = "C"}), "of Si, and was given for C"));
  CHECK_THROWS_AS(read("text", {.format = "gzip"}), core::InvalidArgument);
  for (const std::string& good : {fhi_text(true), pspnc_text(), psp8_text()}) {
    CHECK(refusal(good).empty());
    // What follows is not read: the input of the program, and the wave function of the local channel.
    const std::size_t end = std::min({good.size(), good.find("<INPUT>"), good.rfind("2 =l")});
    for (std::size_t cut = 200; cut + 30 < end; cut += end / 17)
      CHECK(says(refusal(good.substr(0, cut), {.format = "abinit"}), "line "));
    std::string bad = good;
    bad.replace(good.size() / 2, 3, "x y");
    CHECK(says(refusal(bad), "line "));
  }
}

TEST_CASE("potential files: functionals get our names, or keep theirs") {
  CHECK(detail::functional_of_abinit(11) == "pbe");
  CHECK(detail::functional_of_abinit(-1012) == "pw");
  CHECK(detail::functional_of_abinit(-116133) == "pbesol");
  CHECK(detail::functional_of_abinit(0).empty());
  CHECK(detail::functional_of_abinit(42) == "abinit's ixc 42");
  CHECK(detail::functional_of_words("SLA PW RPB PBC") == "gga_x_rpbe+gga_c_pbe");
}

TEST_CASE("potential files: every built-in entry is whole, and both tables agree on the ions") {
  for (const char* table : {"pade", "pbe"}) {
    CHECK(goedecker_symbols(table).size() == (std::string(table) == "pade" ? 86 : 87));
    for (const auto& entry : detail::gth_library(table)) {
      CAPTURE(entry.symbol);
      CHECK(detail::gaussian_fault(entry).empty());
      CHECK(entry.functional == table);
      CHECK(entry.width > 0.3);
    }
  }
  CHECK(goedecker("Si", 0, "pbe")->local(0) != goedecker("Si")->local(0));
  CHECK_THROWS_AS(goedecker("Si", 0, "blyp"), core::InvalidArgument);
}

}  // namespace halocline::tddft
