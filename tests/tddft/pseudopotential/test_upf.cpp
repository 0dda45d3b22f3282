// SPDX-License-Identifier: Apache-2.0
//
// The reader of UPF files, on files written here from a built-in pseudopotential, so that there is an exact answer.

#include "halocline/tddft/pseudopotential/upf.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "tddft/pseudopotential/radial_integral.hpp"
#include "tddft/pseudopotential/scratch_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace halocline::tddft {
namespace {

using test::integral;

constexpr double pi = std::numbers::pi;

std::vector<double> uniform_mesh(int points, double largest) {
  std::vector<double> r;
  for (int i = 0; i < points; ++i) r.push_back(largest * i / (points - 1));
  return r;
}

std::vector<double> logarithmic_mesh(int points, double smallest, double largest) {
  std::vector<double> r;
  for (int i = 0; i < points; ++i) r.push_back(smallest * std::pow(largest / smallest, i / (points - 1.0)));
  return r;
}

struct Words {
  std::string type = "NC", flags = "core_correction=\".false.\" has_so=\"F\"", functional = "SLA  PZ   NOGX NOGC";
};

template <class Function>
std::string record(const std::string& name, const std::string& attributes, const std::vector<double>& r, Function&& f) {
  std::string text = fmt::format("<{} type=\"real\" size=\"{}\" columns=\"4\" {}>\n", name, r.size(), attributes);
  for (std::size_t i = 0; i < r.size(); ++i) text += fmt::format(" {:.15E}{}", f(r[i]), i % 4 == 3 ? "\n" : "");
  return text + fmt::format("\n</{}>\n", name);
}

/// A built-in pseudopotential as a UPF file on a mesh.
std::string upf_of(const Pseudopotential& p, const std::vector<double>& r, const Words& words = {}) {
  struct Beta {
    int l, i;
  };
  std::vector<Beta> betas;
  for (int l = 0; l <= p.largest_l(); ++l)
    for (int i = 0; i < p.projectors(l); ++i) betas.push_back({l, i});
  std::string text = "<UPF version=\"2.0.1\">\n<PP_INFO>written by a test & not < escaped\n</PP_INFO>\n";
  text += fmt::format("<PP_HEADER element=\"{:>2}\" pseudo_type=\"{}\" {} functional=\"{}\" z_valence=\"{:.6E}\" "
                      "mesh_size=\"{}\" number_of_proj=\"{}\"/>\n",
                      p.symbol(), words.type, words.flags, words.functional, p.valence(), r.size(), betas.size());
  text += "<PP_MESH>\n" + record("PP_R", "", r, [](double x) { return x; }) + "</PP_MESH>\n";
  text += record("PP_LOCAL", "", r, [&](double x) { return 2 * p.local(x); });
  text += "<PP_NONLOCAL>\n";
  for (std::size_t n = 0; n < betas.size(); ++n)
    text += record(fmt::format("PP_BETA.{}", n + 1), fmt::format("angular_momentum=\"{}\"", betas[n].l), r,
                   [&](double x) { return x * p.projector(betas[n].l, betas[n].i, x); });
  text += "<PP_DIJ>";
  for (const Beta& a : betas)
    for (const Beta& b : betas) text += fmt::format(" {:.15E}", a.l == b.l ? 2 * p.coupling(a.l, a.i, b.i) : 0.0);
  text += "</PP_DIJ>\n</PP_NONLOCAL>\n";
  text += record("PP_RHOATOM", "", r, [&](double x) { return 4 * pi * x * x * p.start_density(x); });
  return text + "</UPF>\n";
}

std::string file_error(const std::string& text) {
  const test::ScratchFile file(text);
  try {
    read_upf(file.path());
  } catch (const core::FileError& error) {
    CHECK(error.path() == file.path());
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), by);
}

bool says(const std::string& sentence, const std::string& words) { return sentence.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("upf: a tabulated pseudopotential is the one that was tabulated") {
  for (const char* symbol : {"Si", "Cu"})
    for (const bool logarithmic : {false, true}) {
      const std::string name(symbol);
      CAPTURE(name);
      CAPTURE(logarithmic);
      const auto exact = goedecker(symbol);
      const auto mesh = logarithmic ? logarithmic_mesh(900, 1e-5, 15) : uniform_mesh(1201, 12);
      const test::ScratchFile file(upf_of(*exact, mesh));
      const auto p = read_upf(file.path());
      CHECK(p->symbol() == symbol);
      CHECK(p->valence() == exact->valence());
      CHECK(p->functional() == "pz");
      CHECK(p->largest_l() == exact->largest_l());
      const double scale = std::abs(exact->local(0));
      for (double r = 0; r < 11; r += 0.037) {
        CAPTURE(r);
        CHECK(std::abs(p->local(r) - exact->local(r)) < 2e-7 * scale);
        CHECK(std::abs(p->local_slope(r) - exact->local_slope(r)) < 1e-4 * scale);
        CHECK(std::abs(p->start_density(r) - exact->start_density(r)) < 1e-7);
      }
      for (const double g : {0.0, 0.5, 2.0, 5.0})
        CHECK(std::abs(p->local_fourier(g) - exact->local_fourier(g)) < 2e-6 * scale);
      for (int l = 0; l <= exact->largest_l(); ++l) {
        REQUIRE(p->projectors(l) == exact->projectors(l));
        CHECK(p->projector_radius(l) <= exact->projector_radius(l) + 0.2);
        for (int i = 0; i < exact->projectors(l); ++i) {
          for (int j = 0; j < exact->projectors(l); ++j)
            CHECK(p->coupling(l, i, j) == doctest::Approx(exact->coupling(l, i, j)).epsilon(1e-13));
          const double peak = exact->projector(l, i, 0.4);
          for (double r = 0; r < 6; r += 0.041) {
            CAPTURE(r);
            CHECK(std::abs(p->projector(l, i, r) - exact->projector(l, i, r)) < 3e-6 * peak);
            CHECK(std::abs(p->projector_slope(l, i, r) - exact->projector_slope(l, i, r)) < 3e-3 * peak);
          }
        }
      }
      // Tables with several projectors of an l count as optimised together.
      CHECK(p->coarsest_spacing() == doctest::Approx(1.3 * exact->coarsest_spacing()).epsilon(0.05));
    }
}

TEST_CASE("upf: a potential without projectors and without a density") {
  const auto exact = goedecker("H");
  std::string text = upf_of(*exact, uniform_mesh(801, 8));
  const std::size_t begin = text.find("<PP_RHOATOM"), end = text.find("</UPF>");
  text.erase(begin, end - begin);
  const test::ScratchFile file(text);
  const auto p = read_upf(file.path());
  CHECK(p->largest_l() == -1);
  CHECK(p->projector_radius(0) == 0);
  const double charge = integral([&](double r) { return 4 * pi * r * r * p->start_density(r); }, 0, 15);
  CHECK(charge == doctest::Approx(1).epsilon(1e-9));
}

TEST_CASE("upf: the table of a projector may be shorter than the mesh where it says so") {
  const auto exact = goedecker("C");
  const auto mesh = uniform_mesh(801, 8);
  const std::string whole = upf_of(*exact, mesh);
  const std::size_t begin = whole.find("<PP_BETA.1"), end = whole.find("<PP_DIJ>");
  const auto shorter = [&](std::size_t count, std::size_t stated) {
    const std::vector<double> part(mesh.begin(), mesh.begin() + static_cast<std::ptrdiff_t>(count));
    std::string beta =
        record("PP_BETA.1", "angular_momentum=\"0\"", part, [&](double x) { return x * exact->projector(0, 0, x); });
    beta = replaced(beta, fmt::format("size=\"{}\"", count), fmt::format("size=\"{}\"", stated));
    return whole.substr(0, begin) + beta + whole.substr(end);
  };
  const test::ScratchFile file(shorter(300, 300));
  const auto p = read_upf(file.path());
  for (double r = 0; r < 2.5; r += 0.01)
    CHECK(std::abs(p->projector(0, 0, r) - exact->projector(0, 0, r)) < 1e-5 * exact->projector(0, 0, 0));
  CHECK(says(file_error(shorter(300, 301)), "(PP_BETA.1): 300 numbers where there should be 301"));
  CHECK(says(file_error(shorter(300, 900)), "size is 900"));
}

TEST_CASE("upf: functionals get our names") {
  const auto exact = goedecker("H");
  const auto functional = [&](const std::string& name) {
    Words words;
    words.functional = name;
    const test::ScratchFile file(upf_of(*exact, uniform_mesh(401, 8), words));
    return read_upf(file.path())->functional();
  };
  CHECK(functional("PZ") == "pz");
  CHECK(functional("SLA-PZ-NOGX-NOGC") == "pz");
  CHECK(functional("sla+pz") == "pz");
  CHECK(functional("SLA PW NOGX NOGC") == "pw");
  CHECK(functional("PBE") == "pbe");
  CHECK(functional("SLA PW PBX PBC") == "pbe");
  CHECK(functional("SLA PW PSX PSC") == "pbesol");
  CHECK(functional("sla+pw+revx+pbc") == "revpbe");
  CHECK(functional("SLA LYP B88 BLYP") == "blyp");
  CHECK(functional("RPBE of 1999") == "rpbe of 1999");
  CHECK(functional("").empty());
}

TEST_CASE("upf: kinds that we do not compute with are refused by name") {
  const auto si = goedecker("Si");
  const auto mesh = uniform_mesh(401, 8);
  const auto with = [&](const std::string& type, const std::string& flags) {
    Words words;
    words.type = type;
    words.flags = flags;
    return file_error(upf_of(*si, mesh, words));
  };
  CHECK(with("NC", "").empty());
  CHECK(with("SL", "").empty());
  CHECK(says(with("US", ""), "ultrasoft"));
  CHECK(says(with("USPP", ""), "ultrasoft"));
  CHECK(says(with("NC", "is_ultrasoft=\".true.\""), "ultrasoft"));
  CHECK(says(with("PAW", "is_paw=\"T\""), "PAW"));
  CHECK(says(with("1/r", ""), "Coulomb"));
  CHECK(says(with("GTO", ""), "pseudo_type"));
  CHECK(says(with("NC", "is_coulomb=\"T\""), "Coulomb"));
  CHECK(says(with("NC", "has_so=\".TRUE.\""), "spin-orbit"));
  CHECK(says(with("NC", "core_correction=\"T\""), "(PP_NLCC)"));
  CHECK(says(file_error("<PP_INFO>\n</PP_INFO>\n<PP_HEADER>\n 0 Version\n</PP_HEADER>"), "(PP_HEADER)"));
  CHECK(says(file_error("2000 0.01 2 4.0\n"), "no UPF file"));
  CHECK(says(file_error(replaced(upf_of(*si, mesh), "2.0.1", "3.0.0")), "version '3.0.0'"));
  CHECK_THROWS_AS(read_upf("no/such/file.upf"), core::FileError);
}

TEST_CASE("upf: the density of the core correction is read") {
  const auto si = goedecker("Si");
  const auto mesh = uniform_mesh(401, 8);
  const auto core = [](double r) { return 0.4 * std::exp(-1.5 * r * r); };
  Words words;
  words.flags = "core_correction=\"T\"";
  const std::string text = replaced(upf_of(*si, mesh, words), "</UPF>", record("PP_NLCC", "", mesh, core) + "</UPF>");
  const test::ScratchFile file(text), plain(upf_of(*si, mesh));
  const auto p = read_upf(file.path());
  for (double r = 0; r < 3.5; r += 0.1) CHECK(std::abs(p->core_density(r) - core(r)) < 1e-7);
  CHECK(p->core_radius() < 4);
  CHECK(read_upf(plain.path())->core_radius() == 0);
  file.write(replaced(text, "core_correction=\"T\"", "core_correction=\"F\""));
  CHECK(read_upf(file.path())->core_radius() == 0);
}

TEST_CASE("upf: damaged records are named") {
  const auto si = goedecker("Si");
  const std::string good = upf_of(*si, uniform_mesh(401, 8));
  CHECK(file_error(good).empty());
  CHECK(says(file_error(replaced(good, "mesh_size=\"401\"", "mesh_size=\"402\"")), "(PP_R): 401 radii"));
  CHECK(says(file_error(replaced(good, "z_valence=\"4", "z_valence=\"-4")), "z_valence"));
  CHECK(says(file_error(replaced(good, "z_valence=\"4", "z_valence=\"3")), "(PP_LOCAL)"));
  CHECK(says(file_error(replaced(good, "number_of_proj=\"3\"", "number_of_proj=\"4\"")), "(PP_BETA.4)"));
  CHECK(says(file_error(replaced(good, "number_of_proj=\"3\"", "number_of_proj=\"2\"")), "(PP_DIJ)"));
  CHECK(says(file_error(replaced(good, "number_of_proj=\"3\"", "number_of_proj=\"1000000\"")), "number_of_proj"));
  CHECK(says(file_error(replaced(good, "angular_momentum=\"1\"", "angular_momentum=\"4\"")), "angular_momentum"));
  CHECK(says(file_error(replaced(good, "angular_momentum=\"1\"", "angular_momentum=\"0.5\"")), "angular_momentum"));
  CHECK(says(file_error(replaced(good, "<PP_LOCAL type", "<PP_ELSE type")), "damaged"));
  CHECK(says(file_error(replaced(good, "<PP_DIJ> ", "<PP_DIJ> 1.0")), "(PP_DIJ)"));
  CHECK(says(file_error(replaced(good, "<PP_DIJ> ", "<PP_DIJ> inf ")), "'inf'"));
  CHECK(says(file_error(replaced(good, "2.000000000000000E-02", "2.000000000000000E+02")), "(PP_R)"));
}

TEST_CASE("upf: numbers whose squares or quotients are not finite are refused") {
  const auto si = goedecker("Si");
  const std::string good = upf_of(*si, uniform_mesh(401, 8));
  CHECK(says(file_error(replaced(good, "<PP_DIJ> ", "<PP_DIJ> 1e300 ")), "(PP_DIJ): number 1 is 1e+300"));
  CHECK(says(file_error(replaced(good, "2.000000000000000E-02", "1e-300")), "not a finite number"));
}

TEST_CASE("upf: a file cut anywhere is refused, one with a changed byte is read or refused") {
  const std::string good = upf_of(*goedecker("Si"), uniform_mesh(81, 8));
  const test::ScratchFile file(good);
  for (std::size_t cut = 0; cut + 10 < good.size(); cut += 211) {
    file.write(good.substr(0, cut));
    CHECK_THROWS_AS(read_upf(file.path()), core::FileError);
  }
  int refused = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    std::string bad = good;
    bad[i < 100 ? 5 * i : i * 521 % good.size()] = "x\0-9 <\"\n"[i % 8];
    file.write(bad);
    try {
      read_upf(file.path());
    } catch (const core::FileError&) {
      ++refused;
    }
  }
  CHECK(refused > 40);
}

}  // namespace halocline::tddft
