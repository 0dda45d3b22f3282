// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/functional_name.hpp"

#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace halocline::tddft::detail {

namespace {

using Pair = std::array<std::string_view, 2>;

// Their name, ours. Quantum ESPRESSO's are four words: exchange, correlation and the two gradient corrections.
constexpr Pair words_known[] = {
    {"pz", "pz"},
    {"lda", "pz"},
    {"sla pz nogx nogc", "pz"},
    {"sla pz", "pz"},
    {"pw", "pw"},
    {"pw92", "pw"},
    {"sla pw", "pw"},
    {"sla pw nogx nogc", "pw"},
    {"pade", "pade"},
    {"goedecker", "pade"},
    {"pbe", "pbe"},
    {"sla pw pbx pbc", "pbe"},
    {"sla pw pbe pbe", "pbe"},
    {"pbesol", "pbesol"},
    {"sla pw psx psc", "pbesol"},
    {"revpbe", "revpbe"},
    {"sla pw revx pbc", "revpbe"},
    {"sla pw rev pbc", "revpbe"},
    {"rpbe", "gga_x_rpbe+gga_c_pbe"},
    {"sla pw rpb pbc", "gga_x_rpbe+gga_c_pbe"},
    {"blyp", "blyp"},
    {"sla lyp b88 blyp", "blyp"},
    {"sla b88 lyp blyp", "blyp"},
    {"b88 lyp", "blyp"},
    {"bp", "gga_x_b88+gga_c_p86"},
    {"bp86", "gga_x_b88+gga_c_p86"},
    {"sla pz b88 p86", "gga_x_b88+gga_c_p86"},
    {"sla pw pw91 pw91", "gga_x_pw91+gga_c_pw91"},
    {"sla pw ggx ggc", "gga_x_pw91+gga_c_pw91"},
    {"wc", "gga_x_wc+gga_c_pbe"},
    {"sla pw wcx pbc", "gga_x_wc+gga_c_pbe"},
    {"sla pw tpss tpss", "tpss"},
};

struct Numbered {
  int ixc;
  std::string_view name;
};

// The numbers of the documentation of abinit's ixc. Pairs of libxc: 1 Slater, 9 PZ, 12 PW, 13 PW (modified constants),
// 20 Teter 93, 101 and 130 PBE, 102 and 130 revPBE, 116 and 133 PBEsol, 106 and 131 BLYP, 117 RPBE, 118 Wu and Cohen.
constexpr Numbered numbers_known[] = {{1, "pade"},
                                      {2, "pz"},
                                      {7, "pw"},
                                      {8, "x"},
                                      {11, "pbe"},
                                      {14, "revpbe"},
                                      {15, "gga_x_rpbe+gga_c_pbe"},
                                      {18, "blyp"},
                                      {19, "gga_x_b88+gga_c_p86"},
                                      {23, "gga_x_wc+gga_c_pbe"},
                                      {-20, "pade"},
                                      {-1009, "pz"},
                                      {-1012, "pw"},
                                      {-1013, "pw"},
                                      {-9001, "pz"},
                                      {-12001, "pw"},
                                      {-13001, "pw"},
                                      {-101130, "pbe"},
                                      {-130101, "pbe"},
                                      {-102130, "revpbe"},
                                      {-116133, "pbesol"},
                                      {-133116, "pbesol"},
                                      {-106131, "blyp"},
                                      {-131106, "blyp"},
                                      {-117130, "gga_x_rpbe+gga_c_pbe"},
                                      {-118130, "gga_x_wc+gga_c_pbe"}};

}  // namespace

std::string functional_of_words(std::string_view text) {
  std::string plain(text), name;
  std::ranges::replace_if(plain, [](char c) { return c == '-' || c == '+'; }, ' ');
  Words words(plain);
  for (std::string_view word = words.next(); !word.empty(); word = words.next())
    name += (name.empty() ? "" : " ") + lower(word);
  for (const auto& [theirs, ours] : words_known)
    if (name == theirs) return std::string(ours);
  return name;
}

std::string functional_of_abinit(int ixc) {
  if (ixc == 0) return {};
  for (const Numbered& known : numbers_known)
    if (known.ixc == ixc) return std::string(known.name);
  return ixc > 0 ? fmt::format("abinit's ixc {}", ixc) : fmt::format("libxc's {}", -ixc);
}

}  // namespace halocline::tddft::detail
