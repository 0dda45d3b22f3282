// SPDX-License-Identifier: Apache-2.0
//
// Pseudopotentials in UPF: built-in ones as files on small meshes.

#include <fmt/format.h>

#include "fuzz/pseudopotentials.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "halocline/tddft/pseudopotential/upf.hpp"

namespace halocline::fuzz {

namespace {

template <class Function>
std::string record(const std::string& name, const std::string& attributes, const std::vector<double>& r, Function&& f) {
  std::string text = fmt::format("<{} type=\"real\" size=\"{}\" columns=\"4\" {}>\n", name, r.size(), attributes);
  for (std::size_t i = 0; i < r.size(); ++i) text += fmt::format(" {:.10E}{}", f(r[i]), i % 4 == 3 ? "\n" : "");
  return text + fmt::format("\n</{}>\n", name);
}

std::string upf_of(const tddft::Pseudopotential& p, const std::vector<double>& r) {
  std::vector<std::pair<int, int>> betas;
  for (int l = 0; l <= p.largest_l(); ++l)
    for (int i = 0; i < p.projectors(l); ++i) betas.emplace_back(l, i);
  std::string text = "<UPF version=\"2.0.1\">\n<PP_INFO>not < escaped\n</PP_INFO>\n";
  text += fmt::format("<PP_HEADER element=\"{}\" pseudo_type=\"NC\" core_correction=\"F\" has_so=\"F\" "
                      "functional=\"SLA PZ NOGX NOGC\" z_valence=\"{:.6E}\" mesh_size=\"{}\" number_of_proj=\"{}\"/>\n",
                      p.symbol(), p.valence(), r.size(), betas.size());
  text += "<PP_MESH>\n" + record("PP_R", "", r, [](double x) { return x; }) + "</PP_MESH>\n";
  text += record("PP_LOCAL", "", r, [&](double x) { return 2 * p.local(x); });
  text += "<PP_NONLOCAL>\n";
  for (std::size_t n = 0; n < betas.size(); ++n)
    text += record(fmt::format("PP_BETA.{}", n + 1),
                   fmt::format("angular_momentum=\"{}\" cutoff_radius_index=\"0\"", betas[n].first), r,
                   [&](double x) { return x * p.projector(betas[n].first, betas[n].second, x); });
  text += "<PP_DIJ>";
  for (const auto& [l, i] : betas)
    for (const auto& [m, j] : betas) text += fmt::format(" {:.10E}", l == m ? 2 * p.coupling(l, i, j) : 0.0);
  text += "</PP_DIJ>\n</PP_NONLOCAL>\n";
  return text + record("PP_RHOATOM", "", r, [&](double x) { return 12.56 * x * x * p.start_density(x); }) + "</UPF>\n";
}

}  // namespace

Family make_family() {
  std::vector<double> uniform, growing;
  for (int i = 0; i < 20; ++i) uniform.push_back(0.1 * i);
  for (int i = 0; i < 24; ++i) growing.push_back(1e-3 * std::pow(2.5e3, i / 23.0));
  Family family;
  family.name = "upf";
  family.samples = {{"upf", upf_of(*tddft::goedecker("H"), uniform), 0},
                    {"upf", upf_of(*tddft::goedecker("C"), growing), 700}};
  family.words = {"<",
                  ">",
                  "</",
                  "/>",
                  "<!--",
                  "-->",
                  "<![CDATA[",
                  "]]>",
                  "&",
                  "&#x41;",
                  "&#xffffffff;",
                  "<?xml",
                  "\"",
                  "'",
                  "=",
                  "<UPF version=\"2.0.1\">",
                  "</UPF>",
                  "<PP_INFO>",
                  "</PP_INFO>",
                  "<PP_BETA.1",
                  "<PP_DIJ>",
                  "<PP_RHOATOM>",
                  "<PP_NLCC>",
                  "mesh_size=\"",
                  "number_of_proj=\"2\"",
                  "size=\"16\"",
                  "angular_momentum=\"3\"",
                  "cutoff_radius_index=\"17\"",
                  "z_valence=\"",
                  "1.0D+02",
                  "1e-400",
                  " , ",
                  "\n",
                  "\xff",
                  std::string(1, '\0')};
  read_with(family, tddft::read_upf);
  return family;
}

}  // namespace halocline::fuzz
