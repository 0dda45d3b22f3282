// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/staggered/staggered.hpp"

#include <fmt/format.h>

#include <utility>

#include "halocline/core/error.hpp"

namespace halocline::qcd {
namespace {

void require_whole_links(int stored_reals) {
  if (stored_reals != link_reals)
    throw core::InvalidArgument(fmt::format(
        "links of {} reals were asked for; fat links are not unitary, and staggered quarks need all 18", stored_reals));
}

}  // namespace

StaggeredSetup::StaggeredSetup(const GaugeField& gauge, const StaggeredAction& action, int lanes, std::string transport)
    : action_((action.validate(), action)),
      links_(gauge::staggered_links(gauge, action)),
      neighbours_(lattice::TileLayout::best(gauge.geometry_ptr(), lanes, action.reach()), action.reach(), 0),
      transport_(std::move(transport)) {}

std::unique_ptr<DiracOperator<float>> StaggeredSetup::in_float(int columns, int stored_reals) const {
  require_whole_links(stored_reals);
  return std::make_unique<Staggered<float>>(*this, columns);
}
std::unique_ptr<DiracOperator<double>> StaggeredSetup::in_double(int columns, int stored_reals) const {
  require_whole_links(stored_reals);
  return std::make_unique<Staggered<double>>(*this, columns);
}

template <class T>
Staggered<T>::Staggered(const StaggeredSetup& setup, int columns)
    : hopping_(setup.neighbours().in<T>(), setup.links(), setup.action(), columns, setup.transport()),
      mass_(setup.action().mass) {}

template <class T>
Staggered<T>::Staggered(const Staggered& other, int columns) : hopping_(other.hopping_, columns), mass_(other.mass_) {}

template <class T>
std::unique_ptr<DiracOperator<T>> Staggered<T>::with_columns(int columns) const {
  return std::make_unique<Staggered>(*this, columns);
}

template <class T>
void Staggered<T>::hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) const {
  if (terms.hop_term != nullptr || terms.add_term != nullptr)
    throw core::InvalidArgument("a staggered hop was given blocks of sites, which it does not have; give numbers");
  hopping_.apply(out.parity(target_parity), in.parity(1 - target_parity), target_parity, dagger,
                 {.hop_scale = static_cast<T>(terms.hop_scale),
                  .add = terms.add != nullptr ? terms.add->parity(target_parity) : nullptr,
                  .add_scale = static_cast<T>(terms.add_scale)});
}

template class Staggered<float>;
template class Staggered<double>;

}  // namespace halocline::qcd
