// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/base/elements.hpp"

#include <algorithm>
#include <array>

namespace halocline::tddft {

namespace {

constexpr std::array<std::string_view, 103> symbols{
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl", "Ar",
    "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr",
    "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe",
    "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf",
    "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th",
    "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr"};

}  // namespace

std::string symbol_of(int number) {
  if (number < 1 || number > static_cast<int>(symbols.size())) return {};
  return std::string(symbols[static_cast<std::size_t>(number - 1)]);
}

int atomic_number_of(std::string_view symbol) {
  const auto found = std::ranges::find(symbols, symbol);
  return found == symbols.end() ? 0 : static_cast<int>(found - symbols.begin()) + 1;
}

}  // namespace halocline::tddft
