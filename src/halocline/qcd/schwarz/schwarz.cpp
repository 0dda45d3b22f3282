// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/schwarz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/core/half.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/schwarz/detail/matrix.hpp"
#include "halocline/qcd/schwarz/detail/sweeps.hpp"

namespace halocline::qcd::schwarz {

using lattice::DomainLayout;

void Parameters::validate() const {
  if (nsap < 0 || nsap > 100) throw core::InvalidArgument(fmt::format("nsap is {}; give 0 to 100", nsap));
  if (inner != "jacobi" && inner != "minres")
    throw core::InvalidArgument(
        fmt::format("the solver inside the domains is \"{}\"; give one of jacobi, minres", inner));
  if (steps < 1 || steps > 100)
    throw core::InvalidArgument(fmt::format("{} steps inside the domains were asked for; give 1 to 100", steps));
  if (storage != "float" && storage != "half")
    throw core::InvalidArgument(
        fmt::format("the preconditioner's storage is \"{}\"; give one of float, half", storage));
  if (arithmetic != "auto" && arithmetic != "float" && arithmetic != "half")
    throw core::InvalidArgument(
        fmt::format("the preconditioner's arithmetic is \"{}\"; give one of auto, float, half", arithmetic));
  if (arithmetic == "half" && storage != "half")
    throw core::InvalidArgument(
        "arithmetic in half was asked for fields that are stored in float; store them in half, or compute in float");
  if (link_reals != 18 && link_reals != 12)
    throw core::InvalidArgument(fmt::format("links of {} reals were asked for; give 18 or 12", link_reals));
  if (lanes < 0 || lanes > DomainLayout::max_lanes || (lanes & (lanes - 1)) != 0)
    throw core::InvalidArgument(
        fmt::format("{} lanes were asked for; give 1, 2, 4, 8, 16, or 0 for a register", lanes));
}

struct Schwarz::Implementation {
  Implementation(const Matrix& matrix, int columns_given, const std::string& transport)
      : parameters(matrix.parameters()), columns(columns_given) {
    const Matrix mine = matrix.for_columns(columns);
    const auto& numbers = *mine.implementation_;
    layout = numbers.layout;
    single.emplace(layout, numbers.single, numbers.action, parameters, columns, transport);
    if (numbers.half) {
      half.emplace(layout, numbers.half, numbers.action, parameters, columns, transport);
      half_in = half->create();
      half_out = half->create();
    }
  }

  /// A power of two for each column that brings its largest number to at most 16, from 8 up; 1 for a column of zeros.
  std::vector<float> scales(const Field& in) const {
    std::vector<double> largest(static_cast<std::size_t>(columns), 0.0);
    const std::int64_t stride = in.column_stride();
    const std::int64_t tiles = in.size() / in.tile_stride();
#pragma omp parallel
    {
      std::vector<float> mine(static_cast<std::size_t>(columns), 0.0f);
#pragma omp for schedule(static)
      for (std::int64_t tile = 0; tile < tiles; ++tile)
        for (int c = 0; c < columns; ++c) {
          const float* numbers = in.data() + (tile * columns + c) * stride;
          float most = mine[static_cast<std::size_t>(c)];
          for (std::int64_t n = 0; n < stride; ++n) most = std::max(most, std::abs(numbers[n]));
          mine[static_cast<std::size_t>(c)] = most;
        }
#pragma omp critical
      for (int c = 0; c < columns; ++c)
        largest[static_cast<std::size_t>(c)] =
            std::max(largest[static_cast<std::size_t>(c)], double{mine[static_cast<std::size_t>(c)]});
    }
    layout->geometry().communicator().max(largest);
    std::vector<float> out;
    for (const double value : largest) {
      int exponent = 0;
      const bool usable = value > 0 && std::isfinite(value);
      if (usable) std::frexp(value, &exponent);
      out.push_back(usable ? std::ldexp(1.0f, 4 - exponent) : 1.0f);
    }
    return out;
  }

  void demote(lattice::DomainField<core::Half>& to, const Field& from, const std::vector<float>& scale) const {
    const std::int64_t stride = from.column_stride();
    const std::int64_t rows = from.size() / stride;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
      const float factor = scale[static_cast<std::size_t>(row % columns)];
      convert(to.data() + row * stride, from.data() + row * stride, stride, factor);
    }
  }
  void promote(Field& to, const lattice::DomainField<core::Half>& from, const std::vector<float>& scale) const {
    const std::int64_t stride = to.column_stride();
    const std::int64_t rows = to.size() / stride;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
      const float factor = 1.0f / scale[static_cast<std::size_t>(row % columns)];
      convert(to.data() + row * stride, from.data() + row * stride, stride, factor);
    }
  }

  template <class To, class From>
  static void convert(To* to, const From* from, std::int64_t count, float factor) {
    // A column of a tile is a whole number of registers: half fields fill theirs (tile_passes_half.cpp).
    constexpr int width = core::native_lanes<float>;
    using Real = core::Number<float, width>;
    const Real by(factor);
    for (std::int64_t n = 0; n < count; n += width)
      core::Stored<To, Real>::store(to + n, by * core::Stored<From, Real>::load(from + n));
  }

  void precondition(Field& out, const Field& in) {
    if (!half) return single->sweep(in, &out, nullptr);
    const auto scale = scales(in);
    demote(half_in, in, scale);
    half->sweep(half_in, &half_out, nullptr);
    promote(out, half_out, scale);
  }

  Parameters parameters;
  int columns;
  std::shared_ptr<const DomainLayout> layout;
  std::optional<Sweeps<float>> single;
  std::optional<Sweeps<core::Half>> half;
  lattice::DomainField<core::Half> half_in, half_out;
};

Schwarz::Schwarz(const GaugeField& gauge, const ActionParameters& action, const Parameters& parameters, int columns,
                 const std::string& transport)
    : Schwarz(Matrix(gauge, action, parameters, columns), columns, transport) {}
Schwarz::Schwarz(const Matrix& matrix, int columns, const std::string& transport)
    : implementation_(std::make_unique<Implementation>(matrix, columns, transport)) {}
Schwarz::~Schwarz() = default;
Schwarz::Schwarz(Schwarz&&) noexcept = default;

const Parameters& Schwarz::parameters() const noexcept { return implementation_->parameters; }
const std::shared_ptr<const DomainLayout>& Schwarz::layout() const noexcept { return implementation_->layout; }
int Schwarz::columns() const noexcept { return implementation_->columns; }
Schwarz::Field Schwarz::create() const { return implementation_->single->create(); }
bool Schwarz::linear() const noexcept { return !implementation_->half && parameters().inner == "jacobi"; }

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
  implementation_->single->full(out, in);
}
void Schwarz::precondition(Field& out, const Field& in) {
  require(*this, out, in);
  implementation_->precondition(out, in);
}
void Schwarz::apply_preconditioned(Field& out, const Field& in) {
  require(*this, out, in);
  if (linear()) return implementation_->single->sweep(in, nullptr, &out);
  auto between = create();
  implementation_->precondition(between, in);
  implementation_->single->full(out, between);
}
void Schwarz::apply_inside(Field& out, const Field& in, int colour) {
  require(*this, out, in);
  implementation_->single->inside(out, in, colour);
}
void Schwarz::invert_inside(Field& out, const Field& in, int colour) {
  require(*this, out, in);
  implementation_->single->invert(out, in, colour);
}
void Schwarz::multiply_inverse_clover(Field& v) {
  require_field(*this, v);
  implementation_->single->multiply_inverse(v);
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
