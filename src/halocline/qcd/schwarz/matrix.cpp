// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/matrix.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "halocline/core/cpu.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/schwarz/detail/matrix.hpp"

namespace halocline::qcd::schwarz {
namespace {

using lattice::Coordinates;
using lattice::DomainLayout;
using lattice::Geometry4;

/// Bytes of a site in the passes over a domain: links, blocks and four fields.
std::int64_t site_bytes(const Parameters& parameters, int columns) {
  return (4 * parameters.link_reals + 72 + 4 * 24 * columns) * (parameters.storage == "half" ? 2 : 4);
}

/// The layout of the domains, with lanes that kernels compute as whole packs. An even-odd inverse passes over tiles of
/// one parity.
std::shared_ptr<const DomainLayout> layout_of(const std::shared_ptr<const Geometry4>& geometry,
                                              const Coordinates<4>& blocks, const Parameters& parameters) {
  const int lanes = parameters.lanes > 0 ? parameters.lanes : core::native_lanes<float>;
  auto layout = DomainLayout::best(geometry, blocks, lanes, parameters.inner == "even-odd");
  if (const int whole = core::whole_pack_lanes<float>(layout->lanes()); whole < layout->lanes())
    layout = DomainLayout::best(geometry, blocks, whole, parameters.inner == "even-odd");
  return layout;
}

/// Two halves along x, or along the first axis that can be halved. While a domain takes more than three times the
/// second-level cache, domains are halved along their longest side, down to 4 sites, as long as all lanes stay filled.
/// Collective: yes.
Coordinates<4> automatic_blocks(const std::shared_ptr<const Geometry4>& geometry, const Parameters& parameters,
                                int columns) {
  const auto& local = geometry->local();
  Coordinates<4> blocks{1, 1, 1, 1};
  for (int axis = 0; axis < 4; ++axis)
    if (local[axis] % 2 == 0) {
      blocks[axis] = 2;
      break;
    }
  const auto lanes_of = [&](const Coordinates<4>& cut) {
    return preconditioner_lanes(parameters, *layout_of(geometry, cut, parameters));
  };
  const int lanes = lanes_of(blocks);
  // The smallest cache of any process, because all must cut alike.
  std::array<double, 1> cache{static_cast<double>(core::second_level_cache_bytes())};
  geometry->communicator().min(cache);
  for (;;) {
    const std::int64_t sites = geometry->local_volume() / lattice::product<4>(blocks);
    if (static_cast<double>(sites * site_bytes(parameters, columns)) <= 3 * cache[0]) return blocks;
    Coordinates<4> finer = blocks;
    std::int64_t longest = 7;
    for (int axis = 0; axis < 4; ++axis) {
      const std::int64_t side = local[axis] / blocks[axis];
      if (side <= longest || side % 2 != 0) continue;
      Coordinates<4> halved = blocks;
      halved[axis] *= 2;
      if (lanes_of(halved) < lanes) continue;
      longest = side;
      finer = halved;
    }
    if (finer == blocks) return blocks;
    blocks = finer;
  }
}

Coordinates<4> blocks_of(const std::shared_ptr<const Geometry4>& geometry, const Parameters& parameters, int columns) {
  if (columns < 1) throw core::InvalidArgument(fmt::format("{} columns were asked for; give at least 1", columns));
  const bool automatic = parameters.blocks == Coordinates<4>{0, 0, 0, 0};
  return automatic ? automatic_blocks(geometry, parameters, columns) : parameters.blocks;
}

/// Links can be stored without their third row only if the first two rows determine it.
void require_unitary(const GaugeField& gauge) {
  const double violation = gauge.unitarity_violation();
  if (!(violation < 1e-5))
    throw core::InvalidArgument(fmt::format(
        "links of 12 reals need SU(3) matrices, and these miss unitarity by {:.1e}; take 18 reals a link", violation));
}

}  // namespace

Matrix::State::State(const GaugeField& gauge, const WilsonCloverAction& action_given, const Parameters& given,
                     int columns, const std::vector<double>* term)
    : action((action_given.validate(), action_given)),
      parameters((given.validate(), given)),
      layout(layout_of(gauge.geometry_ptr(), blocks_of(gauge.geometry_ptr(), parameters, columns), parameters)),
      inner(choose_arithmetic(parameters, layout)) {
  if (parameters.link_reals == 12) require_unitary(gauge);
  std::vector<double> inverse;
  if (action.has_clover())
    inverse =
        clover::canonical_inverse(gauge.geometry(), term != nullptr ? *term : clover::canonical_term(gauge, action));
  const auto* blocks = inverse.empty() ? nullptr : &inverse;
  single = std::make_shared<const Coefficients<float>>(*layout, gauge, action, blocks, parameters.link_reals);
  if (parameters.storage == "half")
    half = std::make_shared<const Coefficients<core::Half>>(*inner.layout, gauge, action, blocks, parameters.link_reals,
                                                            inner.arithmetic);
}

Matrix::State::State(const State& other, std::shared_ptr<const DomainLayout> layout_given)
    : action(other.action),
      parameters(other.parameters),
      layout(std::move(layout_given)),
      inner(choose_arithmetic(parameters, layout)) {
  single = std::make_shared<const Coefficients<float>>(*layout, *other.single, *other.layout);
  if (other.half)
    half = std::make_shared<const Coefficients<core::Half>>(*inner.layout, *other.half, *other.inner.layout);
}

Matrix::Matrix(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters, int columns,
               const std::vector<double>* term)
    : state_(std::make_shared<const State>(gauge, action, parameters, columns, term)) {}
Matrix::Matrix(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Matrix::~Matrix() = default;
Matrix::Matrix(Matrix&&) noexcept = default;

Matrix Matrix::for_columns(int columns) const {
  const auto& mine = *state_;
  const auto& geometry = mine.layout->geometry_ptr();
  const auto blocks = blocks_of(geometry, mine.parameters, columns);
  if (blocks == mine.layout->blocks()) return Matrix(state_);
  // All automatic domains fill the lanes of the first choice, so links are stored in the same number of reals.
  return Matrix(std::make_shared<const State>(mine, layout_of(geometry, blocks, mine.parameters)));
}

const WilsonCloverAction& Matrix::action() const noexcept { return state_->action; }
const Parameters& Matrix::parameters() const noexcept { return state_->parameters; }
std::string_view Matrix::arithmetic() const noexcept {
  return state_->inner.arithmetic == Arithmetic::half ? "half" : "float";
}
const std::shared_ptr<const DomainLayout>& Matrix::layout() const noexcept { return state_->layout; }
std::span<const float> Matrix::half_inverse_clover() const noexcept { return state_->single->blocks.span(); }
bool Matrix::shares_with(const Matrix& other) const noexcept { return state_ == other.state_; }

}  // namespace halocline::qcd::schwarz
