// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/goedecker.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/detail/gth_library.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halocline::tddft {

using detail::GaussianParameters;

std::shared_ptr<const Pseudopotential> goedecker(std::string_view symbol, int valence, std::string_view functional) {
  for (const GaussianParameters& entry : detail::gth_library(functional))
    if (detail::lower(entry.symbol) == detail::lower(symbol) && (valence == 0 || entry.valence == valence))
      return detail::make_gaussian(entry);
  const auto valences = goedecker_valences(symbol, functional);
  if (!valences.empty())
    throw core::InvalidArgument(fmt::format("no built-in {} pseudopotential of {} has {} electrons; {} exist",
                                            functional, symbol, valence, fmt::join(valences, " and ")));
  throw core::InvalidArgument(
      fmt::format("no built-in {} pseudopotential for element \"{}\"; there are {}; for others name a file", functional,
                  symbol, fmt::join(goedecker_symbols(functional), ", ")));
}

std::vector<std::string> goedecker_symbols(std::string_view functional) {
  std::vector<std::string> symbols;
  for (const GaussianParameters& entry : detail::gth_library(functional))
    if (symbols.empty() || symbols.back() != entry.symbol) symbols.emplace_back(entry.symbol);
  return symbols;
}

std::vector<int> goedecker_valences(std::string_view symbol, std::string_view functional) {
  std::vector<int> valences;
  for (const GaussianParameters& entry : detail::gth_library(functional))
    if (detail::lower(entry.symbol) == detail::lower(symbol)) valences.push_back(static_cast<int>(entry.valence));
  return valences;
}

}  // namespace halocline::tddft
