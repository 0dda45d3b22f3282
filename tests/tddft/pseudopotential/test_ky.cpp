// SPDX-License-Identifier: Apache-2.0
//
// The reader of KY files: what it makes of a file of our own, of the published ones, and of damaged ones.

#include "halocline/tddft/pseudopotential/ky.hpp"

#include "halocline/core/error.hpp"
#include "tddft/pseudopotential/radial_integral.hpp"
#include "tddft/pseudopotential/scratch_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include <sys/stat.h>

namespace halocline::tddft {
namespace {

using test::derivative;
using test::integral;

constexpr double pi = std::numbers::pi, angstrom = 1 / 0.52917721067, ev = 1 / 27.21138505;

/// The toy atom: V_l = -Z erf(r/w_l)/r where w_l depends on l inside the core, in angstrom and eV.
constexpr double usual_step = 0.02, core = 1.5, valence = 3, end = 6;

double potential_ev(int l, double r) {
  const double inside = r < core ? std::pow(1 - r * r / (core * core), 3) : 0.0;
  const double coulomb = r > 0 ? std::erf(r / 0.35) / r : 2 / (0.35 * std::sqrt(pi));
  return -14.39964548 * valence * coulomb + (l + 1) * 10.0 * inside;
}

double wave(int l, double r) { return 2 * std::pow(r, l + 1) * std::exp(-1.2 * r * r); }

/// @param tail  by what the potentials beyond the core are multiplied
std::string toy_file(int largest_l = 2, int flag = 0, double step = usual_step, double tail = 1) {
  const int steps = static_cast<int>(std::lround(end / step));
  std::string text = fmt::format("{:8d} {:.5f} {:d} {:.5f}\n  {:d}", steps, step, largest_l, valence, flag);
  for (int l = 0; l <= largest_l; ++l) text += fmt::format(" {:.5f}", core);
  text += "\n";
  for (int i = 0; i <= steps; ++i) {
    text += fmt::format("{:.6f} 0.0", i * step);
    for (int l = 0; l <= largest_l; ++l)
      text += fmt::format(" {:.12e}", (i * step > core ? tail : 1) * potential_ev(l, i * step));
    text += "\n";
  }
  for (int i = 0; i <= steps; ++i) {
    text += fmt::format("{:.6f}", i * step);
    for (int l = 0; l <= largest_l; ++l) text += fmt::format(" {:.12e}", wave(l, i * step));
    text += "\n";
  }
  return text;
}

std::string file_error(const std::string& text, int local_l = -1) {
  const test::ScratchFile file(text);
  try {
    read_ky(file.path(), "X", local_l);
  } catch (const core::FileError& error) {
    CHECK(error.path() == file.path());
    return error.what();
  }
  return "";
}

std::string with_word(const std::string& text, std::size_t line, const std::string& replacement) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < line; ++i) at = text.find('\n', at) + 1;
  return text.substr(0, at) + replacement + text.substr(text.find_first_of(" \n", text.find_first_not_of(' ', at)));
}

/// The text with another word in the given line, both counted from 1.
std::string with_word(const std::string& text, std::size_t line, int word, const std::string& replacement) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < line; ++i) at = text.find('\n', at) + 1;
  at = text.find_first_not_of(' ', at);
  for (int i = 1; i < word; ++i) at = text.find_first_not_of(' ', text.find(' ', at));
  return text.substr(0, at) + replacement + text.substr(text.find_first_of(" \n", at));
}

}  // namespace

TEST_CASE("ky: the tables come out in atomic units, as separable projectors") {
  const test::ScratchFile file(toy_file());
  const auto p = read_ky(file.path(), "X", 2);
  CHECK(p->valence() == valence);
  CHECK(p->symbol() == "X");
  CHECK(p->largest_l() == 1);
  CHECK(p->projectors(2) == 0);
  CHECK(p->coupling(2, 0, 0) == 0);
  CHECK(p->projector_radius(0) == doctest::Approx(core * angstrom).epsilon(1e-12));
  for (int l = 0; l <= 1; ++l) {
    CAPTURE(l);
    CHECK(p->projectors(l) == 1);
    const auto difference = [&](double r) { return (potential_ev(l, r) - potential_ev(2, r)) * ev; };
    // The trapezoidal rule is exact to all orders for a smooth function that ends flat.
    const double norm = integral([&](double r) { return std::pow(wave(l, r), 2) * difference(r); }, 0, core);
    CHECK(1 / p->coupling(l, 0, 0) == doctest::Approx(norm).epsilon(1e-6));
    for (const double r : {0.1, 0.5, 0.93, 1.4}) {
      CAPTURE(r);
      // u has angstrom^(-1/2), p = (V_l - V_local) u / r hartree bohr^(-3/2).
      const double expected = difference(r) * wave(l, r) / r * std::pow(angstrom, -1.5);
      CHECK(p->projector(l, 0, r * angstrom) == doctest::Approx(expected).epsilon(1e-4));
      const double slope = derivative([&](double x) { return p->projector(l, 0, x); }, r * angstrom, 1e-4);
      CHECK(p->projector_slope(l, 0, r * angstrom) == doctest::Approx(slope).epsilon(1e-5));
    }
    CHECK(p->projector(l, 0, core * angstrom) == 0);
    CHECK(p->projector(l, 0, 3 * angstrom) == 0);
  }
}

TEST_CASE("ky: the value of a projector at the origin is that of the first node") {
  const test::ScratchFile file(toy_file());
  const auto p = read_ky(file.path(), "X", 2);
  const double at_node =
      (potential_ev(0, 0) - potential_ev(2, 0)) * ev * wave(0, usual_step) / usual_step * std::pow(angstrom, -1.5);
  CHECK(p->projector(0, 0, 0) == doctest::Approx(at_node).epsilon(1e-12));
  CHECK(p->projector(1, 0, 0) == 0);
}

TEST_CASE("ky: channels above the largest l asked for are as if the file did not have them") {
  const test::ScratchFile file(toy_file());
  const auto s_alone = read_ky(file.path(), "X", 0, 0), two = read_ky(file.path(), "X", -1, 1);
  CHECK(s_alone->largest_l() == -1);
  CHECK(two->largest_l() == 0);
  const auto all = read_ky(file.path(), "X", 1);
  for (const double r : {0.0, 0.4, 1.1, 5.0}) {
    CHECK(s_alone->local(r) == read_ky(file.path(), "X", 0)->local(r));
    CHECK(two->local(r) == all->local(r));
    CHECK(two->projector(0, 0, r) == all->projector(0, 0, r));
  }
  CHECK(two->coupling(0, 0, 0) == all->coupling(0, 0, 0));
  CHECK(two->projectors(2) == 0);
  CHECK(all->projectors(2) == 1);
  CHECK_THROWS_AS(read_ky(file.path(), "X", 1, 0), core::InvalidArgument);
  CHECK_THROWS_AS(read_ky(file.path(), "X", -1, 3), core::InvalidArgument);
}

TEST_CASE("ky: the local channel is the caller's to the end of its table, and -Z/r beyond") {
  const test::ScratchFile file(toy_file());
  for (int local = 0; local <= 2; ++local) {
    const auto p = read_ky(file.path(), "X", local);
    CHECK(p->largest_l() == (local == 2 ? 1 : 2));
    CHECK(p->projectors(local) == 0);
    CHECK(std::isfinite(p->local(0)));
    for (const double r : {0.3, 0.77, 1.21}) {
      CHECK(p->local(r * angstrom) == doctest::Approx(potential_ev(local, r) * ev).epsilon(1e-5));
      const double slope = derivative([&](double x) { return p->local(x); }, r * angstrom, 1e-4);
      CHECK(p->local_slope(r * angstrom) == doctest::Approx(slope).epsilon(1e-5));
    }
    CHECK(p->local(12) == doctest::Approx(-valence / 12).epsilon(1e-14));
    CHECK(p->local_slope(12) == doctest::Approx(valence / 144).epsilon(1e-14));
  }
  CHECK_THROWS_AS(read_ky(file.path(), "X", 3), core::InvalidArgument);
  CHECK_THROWS_AS(read_ky(file.path(), "X", -2), core::InvalidArgument);
  CHECK(read_ky(file.path(), "X")->projectors(2) == 0);
}

TEST_CASE("ky: in real space the table counts to its end, in reciprocal space to the core radius") {
  // Published tables end in a charge that is some 1e-5 off that of the ion.
  const test::ScratchFile plain_file(toy_file()), file(toy_file(2, 0, usual_step, 0.999));
  const auto plain = read_ky(plain_file.path(), "X", 2), p = read_ky(file.path(), "X", 2);
  for (const double r : {2.0, 3.1, 5.9}) {
    CAPTURE(r);
    CHECK(p->local(r * angstrom) == doctest::Approx(0.999 * potential_ev(2, r) * ev).epsilon(1e-6));
    CHECK(p->local_slope(r * angstrom) == doctest::Approx(0.999 * plain->local_slope(r * angstrom)).epsilon(1e-4));
  }
  for (const double g : {0.0, 0.7, 3.0})
    CHECK(p->local_fourier(g) == doctest::Approx(plain->local_fourier(g)).epsilon(1e-3));
}

TEST_CASE("ky: in reciprocal space the local potential is the midpoint rule of its integral, of second order") {
  const test::ScratchFile coarse_file(toy_file(2, 0, 0.02)), fine_file(toy_file(2, 0, 0.01));
  const auto coarse = read_ky(coarse_file.path(), "X", 1), fine = read_ky(fine_file.path(), "X", 1);
  for (const double g : {0.0, 1e-5, 0.7, 3.0}) {
    CAPTURE(g);
    const double exact = integral(
        [&](double r) {
          return 4 * pi * (g > 0 ? std::sin(g * r) / g : r) * (r * potential_ev(1, r / angstrom) * ev + valence);
        },
        0, core * angstrom);
    const double wrong = coarse->local_fourier(g) - exact, less_wrong = fine->local_fourier(g) - exact;
    CHECK(std::abs(wrong) < 2e-3 * exact);
    CHECK(wrong / less_wrong == doctest::Approx(4).epsilon(0.05));
  }
}

TEST_CASE("ky: the start density has the charge of the ion") {
  const test::ScratchFile file(toy_file());
  const auto p = read_ky(file.path(), "X", 2);
  const double charge = integral([&](double r) { return 4 * pi * r * r * p->start_density(r); }, 0, 12);
  CHECK(charge == doctest::Approx(valence).epsilon(1e-3));
}

TEST_CASE("ky: the published files are read") {
  const std::string folder = "../shared/data/electrons/";
  if (!std::filesystem::exists(folder + "Si_rps.dat")) {
    MESSAGE("skipped: ../shared/data is not beside the checkout");
    return;
  }
  const auto si = read_ky(folder + "Si_rps.dat", "Si", 2);
  CHECK(si->valence() == 4);
  CHECK(si->largest_l() == 1);
  CHECK(si->projector_radius(0) == doctest::Approx(1.2 * angstrom).epsilon(1e-12));
  CHECK(si->coupling(0, 0, 0) > 0);  // s and p are repelled more than d
  CHECK(si->coupling(1, 0, 0) > 0);
  // The table has five decimals of an electronvolt: its end meets -Z/r to that.
  CHECK(std::abs(si->local(1.19999 * angstrom) + 4 / (1.19999 * angstrom)) < 1e-3);
  const auto c = read_ky(folder + "C_rps.dat", "C", 1);
  CHECK(c->largest_l() == 0);
  const auto h = read_ky(folder + "H_rps.dat", "H", 0);
  CHECK(h->valence() == 1);
  CHECK(h->projectors(0) == 0);
}

TEST_CASE("ky: damaged and foreign files are refused by name, line and finding") {
  const std::string good = toy_file();
  CHECK(file_error(good).empty());
  CHECK(file_error("").find("the file ends where the number of radial steps") != std::string::npos);
  CHECK(file_error("<UPF version=\"2.0.1\">").find("line 1") != std::string::npos);
  CHECK(file_error(with_word(good, 1, "0")).find("radial steps") != std::string::npos);
  CHECK(file_error(with_word(good, 1, "1e99")).find("radial steps") != std::string::npos);
  CHECK(file_error(with_word(good, 2, "1")).find("partial core") != std::string::npos);
  CHECK(file_error(with_word(good, 12, "nan")).find("'nan' where a radius") != std::string::npos);
  CHECK(file_error(with_word(good, 12, "7.5")).find("line 12") != std::string::npos);
  CHECK(file_error(toy_file(2, 1)).find("core corrections are not supported") != std::string::npos);
  CHECK_THROWS_AS(read_ky("no/such/file.dat", "X"), core::FileError);
  CHECK_THROWS_AS(read_ky("/", "X"), core::FileError);
}

TEST_CASE("ky: a pipe is refused, and not waited for") {
  const test::ScratchFile file("");
  std::filesystem::remove(file.path());
  REQUIRE(::mkfifo(file.path().c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_ky(file.path(), "X"), doctest::Contains("no regular file"), core::FileError);
}

TEST_CASE("ky: numbers that are not finite after conversion, or squared, are refused with their line") {
  const std::string good = toy_file();
  const auto says = [&](std::size_t line, int word, const char* text, const char* part) {
    const std::string said = file_error(with_word(good, line, word, text));
    CAPTURE(said);
    CHECK(said.find(fmt::format("line {}", line)) != std::string::npos);
    CHECK(said.find(part) != std::string::npos);
  };
  // 1.7e308 angstrom is more bohr than a double holds; a step of 1e-300 has no square.
  says(1, 2, "1.7e308", "the radial step is inf");
  says(1, 2, "1e300", "the radial step is");
  says(1, 2, "1e-300", "the radial step is");
  says(1, 4, "1e308", "the valence charge is 1e+308");
  says(3, 2, "-1e308", "where a core density was expected");
  says(3, 4, "1e200", "where a potential was expected");
  says(3 + 301, 2, "1e160", "where a wave function was expected");  // after the potentials at 301 radii
}

TEST_CASE("ky: a file cut anywhere is refused, one with a changed byte is read or refused") {
  const std::string good = toy_file();
  const test::ScratchFile file(good);
  for (std::size_t cut = 0; cut + 20 < good.size(); cut += 997) {
    file.write(good.substr(0, cut));
    CHECK_THROWS_AS(read_ky(file.path(), "X"), core::FileError);
  }
  int refused = 0;
  for (std::size_t i = 0; i < 120; ++i) {
    std::string bad = good;
    bad[i < 40 ? i : i * 263 % good.size()] = "x\0-9 e.\n"[i % 8];
    file.write(bad);
    try {
      read_ky(file.path(), "X");
    } catch (const core::FileError&) {
      ++refused;
    }
  }
  CHECK(refused > 20);
}

}  // namespace halocline::tddft
