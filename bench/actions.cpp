// SPDX-License-Identifier: Apache-2.0
#include "bench/actions.hpp"

#include <fmt/format.h>

#include "halocline/core/error.hpp"

namespace halocline::bench {

bool has_walls(const std::string& name) { return name == "domain-wall" || name == "mobius"; }
int columns_of_one(const std::string& name, int ls) { return has_walls(name) ? ls : name == "doublet" ? 2 : 1; }
bool is_staggered(const std::string& name) { return name == "one-link" || name == "asqtad" || name == "hisq"; }

qcd::Action action_of(const ActionWords& words) {
  if (is_staggered(words.name)) {
    qcd::StaggeredAction action{.mass = words.mass, .kind = qcd::staggered_kind(words.name)};
    action.boundary = words.boundary;
    return action;
  }
  if (has_walls(words.name)) {
    qcd::DomainWallAction action{.mass = words.mass, .m5 = 1.8, .ls = words.ls};
    if (words.name == "mobius") {
      action.b = {1.5};
      action.c = {0.5};
    }
    action.boundary = words.boundary;
    return action;
  }
  qcd::WilsonCloverAction action{.mass = words.mass, .csw = words.csw};
  action.boundary = words.boundary;
  if (words.name == "wilson") return action;
  if (words.name == "twisted") return qcd::TwistedCloverAction{action, words.mu};
  if (words.name == "doublet") return qcd::TwistedDoubletAction{action, words.mu, words.mu / 2};
  throw core::InvalidArgument(
      fmt::format("the action is \"{}\"; give wilson, twisted, doublet, domain-wall, mobius, one-link, asqtad or hisq",
                  words.name));
}

template <class T>
Cost action_cost(const qcd::DiracOperator<T>& d, const qcd::Action& action, const std::string& form, int link_reals) {
  const bool schur = form == "schur" || form == "schur-asymmetric";
  if (const auto* staggered = std::get_if<qcd::StaggeredAction>(&action)) {
    const Cost hop = staggered_hopping_cost(staggered->has_long_links() ? 16 : 8), sum{12, 6, 0};
    return form == "hopping" ? hop : hop * (schur ? 2 : 1) + sum;
  }
  const Cost hop = hopping_cost(link_reals);
  if (form == "hopping") return hop;
  if (std::holds_alternative<qcd::DomainWallAction>(action)) {
    const Cost sum{48, spinor_reals, 0};
    const Cost a{d.site(0, false)->fifth->flops(), 0, 0}, inverse{d.inverse_site(0, false)->fifth->flops(), 0, 0};
    if (form == "schur") return (hop + inverse) * 2 + sum;
    if (schur) return hop * 2 + inverse + a + sum;
    return hop + a + sum;
  }
  const bool clover = qcd::hopping_part(action).has_clover();
  if (qcd::flavours(action) == 2) {
    // A block, or a number, and the matrices of flavour, two products and sums for each number; B of an inverse before.
    const Cost sum{48, spinor_reals, 0}, a{(clover ? clover_cost.flops : 24) + 96, 0, clover ? clover_reals : 0};
    const Cost inverse = clover ? a + Cost{clover_cost.flops, 0, clover_reals} : a;
    if (form == "schur") return (hop + inverse) * 2 + sum;
    if (schur) return hop * 2 + inverse + a + sum;
    return hop + a + sum;
  }
  const bool full = clover && qcd::twisted_mass(action) != 0;  // the inverse of the term of sites
  if (schur && full)
    return (hop + Cost{full_block_cost.flops, 0, full_block_cost.shared}) * 2 + Cost{48, spinor_reals, 0};
  if (schur) return schur_cost(clover, link_reals);
  if (form == "clover-inverse" && full) return full_block_cost;
  return form == "clover-inverse" ? clover_cost : wilson_cost(clover, link_reals);
}

template Cost action_cost(const qcd::DiracOperator<float>&, const qcd::Action&, const std::string&, int);
template Cost action_cost(const qcd::DiracOperator<double>&, const qcd::Action&, const std::string&, int);

}  // namespace halocline::bench
