// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/twisted/twisted_doublet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"

namespace halocline::qcd {
namespace {

constexpr std::size_t numbers_of_flavour = spinor_components;

void require_length(std::size_t length, std::int64_t sites) {
  const std::size_t expected = 2 * numbers_of_flavour * static_cast<std::size_t>(sites);
  if (length != expected)
    throw core::InvalidArgument(
        fmt::format("an array of {} complex numbers was given for a twisted doublet on a local box of {} sites; give "
                    "[t][z][y][x][flavour][spin][colour], {} numbers",
                    length, sites, expected));
}

}  // namespace

TwistedDoubletSetup::TwistedDoubletSetup(const GaugeField& gauge, const TwistedDoubletAction& action, int lanes,
                                         std::string transport)
    : HoppingSetup(gauge, (action.validate(), action.wilson), twisted_square(action), lanes, std::move(transport), 2),
      action_(action) {
  const double d = wilson().diagonal();
  if (!blocks() && d * d + *twisted_square(action_) == 0)
    throw core::InvalidArgument(
        fmt::format("the site term of the twisted doublet is singular: d^2 + mu^2 - epsilon^2 is zero for d = {}, mu = "
                    "{} and epsilon = {}; give another mass, mu or epsilon",
                    d, action_.mu, action_.epsilon));
}

std::unique_ptr<DiracOperator<float>> TwistedDoubletSetup::in_float(int columns, int stored_reals) const {
  return std::make_unique<TwistedDoublet<float>>(*this, columns, stored_reals);
}
std::unique_ptr<DiracOperator<double>> TwistedDoubletSetup::in_double(int columns, int stored_reals) const {
  return std::make_unique<TwistedDoublet<double>>(*this, columns, stored_reals);
}

template <class T>
TwistedDoublet<T>::TwistedDoublet(const TwistedDoubletSetup& setup, int columns, int stored_reals)
    : wilson::HoppingOperator<T>(setup, columns, stored_reals) {
  require_columns();
  const auto& action = setup.action();
  const double d = this->diagonal(), square = d * d + *twisted_square(action);
  for (int parity = 0; parity < 2; ++parity) {
    const T* a = this->blocks(parity);
    for (const bool dagger : {false, true}) {
      const double mu = dagger ? -action.mu : action.mu, epsilon = action.epsilon;
      const auto term = [&](const T* first, double constant, double sign) {
        return SiteTerm<T>{.first = first,
                           .second = a,
                           .constant = static_cast<T>(constant),
                           .twist = static_cast<T>(sign * mu),
                           .doublet = true,
                           .split = static_cast<T>(sign * epsilon)};
      };
      if (a != nullptr)
        this->set_terms(parity, dagger, term(nullptr, 1, 1), term(this->inverse_blocks(parity), 1, -1));
      else
        this->set_terms(parity, dagger, term(nullptr, d, 1), term(nullptr, d / square, -1 / square));
    }
  }
}

template <class T>
TwistedDoublet<T>::TwistedDoublet(const TwistedDoublet& other, int columns)
    : wilson::HoppingOperator<T>(other, columns) {
  require_columns();
}

template <class T>
std::unique_ptr<DiracOperator<T>> TwistedDoublet<T>::with_columns(int columns) const {
  return std::make_unique<TwistedDoublet>(*this, columns);
}

template <class T>
void TwistedDoublet<T>::require_columns() const {
  if (this->columns() % 2 != 0)
    throw core::InvalidArgument(
        fmt::format("an operator of a twisted doublet was asked for {} columns; give two for each right-hand side",
                    this->columns()));
}

template <class T>
void TwistedDoublet<T>::load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) const {
  std::ranges::fill(b.span(), T(0));
  const std::int64_t sites = this->layout()->geometry().local_volume();
  std::vector<std::complex<double>> one(numbers_of_flavour * static_cast<std::size_t>(sites));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    require_length(sources[i].size(), sites);
    for (std::size_t flavour = 0; flavour < 2; ++flavour) {
      for (std::size_t site = 0; site < static_cast<std::size_t>(sites); ++site)
        std::copy_n(sources[i].begin() + static_cast<std::ptrdiff_t>((2 * site + flavour) * numbers_of_flavour),
                    numbers_of_flavour, one.begin() + static_cast<std::ptrdiff_t>(site * numbers_of_flavour));
      from_canonical<T>(b, static_cast<int>(2 * i + flavour), one);
    }
  }
}

template <class T>
void TwistedDoublet<T>::unload_quark(std::span<std::complex<double>> quark, const Field& x, int number) const {
  const std::int64_t sites = this->layout()->geometry().local_volume();
  require_length(quark.size(), sites);
  std::vector<std::complex<double>> one(numbers_of_flavour * static_cast<std::size_t>(sites));
  for (std::size_t flavour = 0; flavour < 2; ++flavour) {
    to_canonical<T>(one, x, 2 * number + static_cast<int>(flavour));
    for (std::size_t site = 0; site < static_cast<std::size_t>(sites); ++site)
      std::copy_n(one.begin() + static_cast<std::ptrdiff_t>(site * numbers_of_flavour), numbers_of_flavour,
                  quark.begin() + static_cast<std::ptrdiff_t>((2 * site + flavour) * numbers_of_flavour));
  }
}

template class TwistedDoublet<float>;
template class TwistedDoublet<double>;

}  // namespace halocline::qcd
