// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <fmt/format.h>

namespace halocline::tddft {

std::optional<std::string> functional_warning(const Pseudopotential& pseudopotential, std::string_view xc) {
  const std::string made_for = pseudopotential.functional();
  if (made_for.empty() || made_for == xc) return std::nullopt;
  const auto is_lda = [](std::string_view name) { return name == "pz" || name == "pw" || name == "pade"; };
  const char* const weight =
      is_lda(made_for) && is_lda(xc)
          ? "both fit the same electron gas, so that energies move by some millihartree an electron"
          : "energies and geometries will be wrong by what the two differ in the core";
  return fmt::format("the pseudopotential of {} ({}) was made for the functional {}, and the calculation uses {}: {}; "
                     "take xc = \"{}\" or another pseudopotential",
                     pseudopotential.symbol(), pseudopotential.origin(), made_for, xc, weight, made_for);
}

}  // namespace halocline::tddft
