// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/schwarz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/core/half.hpp"
#include "halocline/qcd/schwarz/detail/half_border.hpp"
#include "halocline/qcd/schwarz/detail/matrix.hpp"
#include "halocline/qcd/schwarz/detail/sweeps.hpp"

namespace halocline::qcd::schwarz {

using lattice::DomainLayout;

namespace {

constexpr std::array inverse_names{"jacobi", "even-odd", "minres"};
constexpr std::array storage_names{"float", "half"};
constexpr std::array arithmetic_names{"auto", "float", "half"};

void require_one_of(const char* what, const std::string& given, std::span<const char* const> known) {
  if (std::ranges::find(known, given) == known.end())
    throw core::InvalidArgument(fmt::format("{} is \"{}\"; give one of {}", what, given, fmt::join(known, ", ")));
}

}  // namespace

std::span<const char* const> inverses() noexcept { return inverse_names; }
std::span<const char* const> storages() noexcept { return storage_names; }
std::span<const char* const> arithmetics() noexcept { return arithmetic_names; }

void Parameters::validate() const {
  if (nsap < 0 || nsap > 100) throw core::InvalidArgument(fmt::format("nsap is {}; give 0 to 100", nsap));
  require_one_of("the solver inside the domains", inner, inverses());
  if (steps < 1 || steps > 100)
    throw core::InvalidArgument(fmt::format("{} steps inside the domains were asked for; give 1 to 100", steps));
  require_one_of("the preconditioner's storage", storage, storages());
  require_one_of("the preconditioner's arithmetic", arithmetic, arithmetics());
  if (arithmetic == "half" && storage != "half")
    throw core::InvalidArgument(
        "arithmetic in half was asked for fields that are stored in float; store them in half, or compute in float");
  if (link_reals != 18 && link_reals != 12)
    throw core::InvalidArgument(fmt::format("links of {} reals were asked for; give 18 or 12", link_reals));
  if (lanes < 0 || lanes > DomainLayout::max_lanes || (lanes & (lanes - 1)) != 0)
    throw core::InvalidArgument(
        fmt::format("{} lanes were asked for; give 1, 2, 4, 8, 16, or 0 for a register", lanes));
  if (prefetch < -1 || prefetch > 64)
    throw core::InvalidArgument(
        fmt::format("a prefetch of {} tiles was asked for; give 0 to 64, or -1 to have it tried out", prefetch));
  if (pieces[0] < 0 || pieces[1] < 0 || (pieces[0] == 0) != (pieces[1] == 0))
    throw core::InvalidArgument(
        fmt::format("domains in {} x {} pieces were asked for; give two numbers from 1, or 0 0 to have them tried out",
                    pieces[0], pieces[1]));
}

struct Schwarz::State {
  State(const Matrix& matrix, int columns_given, const std::string& transport)
      : parameters(matrix.parameters()), columns(columns_given) {
    const Matrix mine = matrix.for_columns(columns);
    const auto& numbers = *mine.state_;
    layout = numbers.layout;
    single.emplace(ArithmeticChoice{Arithmetic::single, layout}, numbers.single, numbers.action, parameters, columns,
                   transport);
    arithmetic = mine.arithmetic();
    if (numbers.half) {
      half.emplace(numbers.inner, numbers.half, numbers.action, parameters, columns, transport);
      border.emplace(layout, numbers.inner);
      half_in = half->create();
      half_out = half->create();
    }
  }

  void precondition(Field& out, const Field& in) {
    if (!half) return single->sweep(in, &out, nullptr);
    const auto scale = border->scales(in);
    border->demote(half_in, in, scale);
    half->sweep(half_in, &half_out, nullptr);
    border->promote(out, half_out, scale);
  }

  Parameters parameters;
  int columns;
  std::shared_ptr<const DomainLayout> layout;
  std::optional<Sweeps<float>> single;
  std::optional<Sweeps<core::Half>> half;
  std::optional<HalfBorder> border;
  std::string_view arithmetic;
  lattice::DomainField<core::Half> half_in, half_out;
};

Schwarz::Schwarz(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters, int columns,
                 const std::string& transport)
    : Schwarz(Matrix(gauge, action, parameters, columns), columns, transport) {}
Schwarz::Schwarz(const Matrix& matrix, int columns, const std::string& transport)
    : state_(std::make_unique<State>(matrix, columns, transport)) {}
Schwarz::~Schwarz() = default;
Schwarz::Schwarz(Schwarz&&) noexcept = default;

const Parameters& Schwarz::parameters() const noexcept { return state_->parameters; }
const std::shared_ptr<const DomainLayout>& Schwarz::layout() const noexcept { return state_->layout; }
std::string_view Schwarz::arithmetic() const noexcept { return state_->arithmetic; }
int Schwarz::columns() const noexcept { return state_->columns; }
const comm::HaloExchange* Schwarz::exchange() const noexcept {
  return state_->half ? state_->half->exchange() : state_->single->exchange();
}
int Schwarz::prefetch() const noexcept { return state_->half ? state_->half->prefetch() : state_->single->prefetch(); }
std::array<int, 2> Schwarz::pieces() const noexcept {
  return state_->half ? state_->half->pieces() : state_->single->pieces();
}
Schwarz::Field Schwarz::create() const { return state_->single->create(); }
bool Schwarz::linear() const noexcept { return !state_->half && parameters().inner != "minres"; }

namespace {
void require_field(const Schwarz& schwarz, const Schwarz::Field& field) {
  if (field.layout_ptr() != schwarz.layout() || field.columns() != schwarz.columns() || field.components() != 24)
    throw core::InvalidArgument(
        "a Schwarz operator was given fields of another layout or number of columns; make them by its create()");
}
void require(const Schwarz& schwarz, const Schwarz::Field& out, const Schwarz::Field& in) {
  require_field(schwarz, out);
  require_field(schwarz, in);
  if (out.data() == in.data())
    throw core::InvalidArgument("a Schwarz operator needs two different fields, and was given one");
}
}  // namespace

void Schwarz::apply(Field& out, const Field& in) {
  require(*this, out, in);
  state_->single->full(out, in);
}
void Schwarz::precondition(Field& out, const Field& in) {
  require(*this, out, in);
  state_->precondition(out, in);
}
void Schwarz::apply_preconditioned(Field& out, const Field& in) {
  require(*this, out, in);
  if (linear()) return state_->single->sweep(in, nullptr, &out);
  auto between = create();
  state_->precondition(between, in);
  state_->single->full(out, between);
}
void Schwarz::apply_inside(Field& out, const Field& in, int colour) {
  require(*this, out, in);
  state_->single->inside(out, in, colour);
}
void Schwarz::invert_inside(Field& out, const Field& in, int colour) {
  require(*this, out, in);
  state_->single->invert(out, in, colour);
}
void Schwarz::multiply_inverse_clover(Field& v) {
  require_field(*this, v);
  state_->single->multiply_inverse(v);
}

namespace {
template <class Visit>
void for_each_site(const lattice::DomainField<float>& field, int column, std::size_t given, Visit visit) {
  const auto& layout = field.layout();
  const auto volume = layout.geometry().local_volume();
  if (given != static_cast<std::size_t>(12 * volume))
    throw core::InvalidArgument(fmt::format("a spinor field of {} sites has {} complex numbers, and {} were given",
                                            volume, 12 * volume, given));
  if (column < 0 || column >= field.columns())
    throw core::InvalidArgument(fmt::format("column {} was asked of a field of {}", column, field.columns()));
  const std::int64_t all_tiles = std::int64_t{layout.domains()} * layout.tiles();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < all_tiles; ++i)
    for (int lane = 0; lane < layout.lanes(); ++lane) {
      const auto x = layout.coordinates(
          {static_cast<std::int32_t>(i / layout.tiles()), static_cast<std::int32_t>(i % layout.tiles()), lane});
      visit(i * field.tile_stride() + column * field.column_stride() + lane,
            12 * lattice::linear_index<4>(x, layout.geometry().local()));
    }
}
}  // namespace

void from_canonical(lattice::DomainField<float>& field, int column, std::span<const std::complex<double>> canonical) {
  const int lanes = field.layout().lanes();
  for_each_site(field, column, canonical.size(), [&](std::int64_t to, std::int64_t from) {
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour) {
        const auto& value = canonical[static_cast<std::size_t>(from + 3 * spin + colour)];
        float* at = field.data() + to + 2 * (4 * colour + spin) * lanes;
        at[0] = static_cast<float>(value.real());
        at[lanes] = static_cast<float>(value.imag());
      }
  });
}

void to_canonical(std::span<std::complex<double>> canonical, const lattice::DomainField<float>& field, int column) {
  const int lanes = field.layout().lanes();
  for_each_site(field, column, canonical.size(), [&](std::int64_t from, std::int64_t to) {
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour) {
        const float* at = field.data() + from + 2 * (4 * colour + spin) * lanes;
        canonical[static_cast<std::size_t>(to + 3 * spin + colour)] = {at[0], at[lanes]};
      }
  });
}

}  // namespace halocline::qcd::schwarz
