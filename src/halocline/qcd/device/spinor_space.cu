// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/device/spinor_space.cuh"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "halocline/comm/sums/solver_reduction.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/detail/spinor_algebra.cuh"
#include "halocline/qcd/device/field_checks.hpp"

namespace halocline::qcd::device {

using solve::Scalar;

namespace detail {

SumPool::SumPool(const Context& context, std::int64_t sites, int columns)
    : device_(context.device),
      sites_(sites),
      columns_(columns),
      reduction_(comm::solver_reduction(context.geometry->communicator())) {}

int SumPool::take() {
  const auto free = std::ranges::find(busy_, false);
  const auto number = static_cast<std::size_t>(free - busy_.begin());
  if (free == busy_.end()) {
    buffers_.push_back(std::make_unique<gpu::SumBuffer>(device_, most_sums, sites_, columns_));
    busy_.push_back(true);
  }
  busy_[number] = true;
  return static_cast<int>(number);
}

std::int64_t SumPool::bytes(std::int64_t sites, int columns) {
  return gpu::SumBuffer::bytes(most_sums, sites, columns);
}

/// Collects the updates, dot products and coefficients of one launch, as many as fit.
template <class S>
class ListBuilder {
public:
  /// @param memory  of the recursion that the updates belong to; null for none
  ListBuilder(const VectorShape& shape, const solve::RecursionMemory* memory, bool behind_last) {
    list_.shape = shape;
    if (memory == nullptr) return;
    list_.stored = memory->stored;
    list_.stop = memory->stop + (behind_last ? 0 : 1);
  }

  /// Returns false if this launch has no room for the update.
  bool add(const solve::Update<DeviceSpinor<S>>& update, const Operand<S>& target,
           std::span<const Operand<S>> vectors) {
    using enum solve::StoredCoefficient;
    const auto terms = update.terms();
    const bool stored = update.stored_scale != given;
    const bool scaled = !update.overwrite && !stored && !update.scale.empty();
    int entries = scaled ? 1 : 0;
    for (const auto& term : terms) entries += term.coefficient.empty() ? 0 : 1;
    // An update that only adds to the target of the previous update becomes part of it.
    const bool joined = list_.updates > 0 && !update.overwrite && !scaled && !stored &&
                        list_.update[list_.updates - 1].target.data == target.data;
    if ((!joined && list_.updates == most_updates) || terms_ + static_cast<int>(terms.size()) > most_terms ||
        (entries_ + entries) * list_.shape.columns > most_coefficients)
      return false;
    if (!joined)
      list_.update[list_.updates++] = {target, terms_, 0,
                                       stored   ? List::entry_of(update.stored_scale)
                                       : scaled ? entry(update.scale)
                                                : List::one,
                                       !update.overwrite};
    auto& current = list_.update[list_.updates - 1];
    for (std::size_t t = 0; t < terms.size(); ++t) {
      list_.term[terms_++] = {vectors[t], terms[t].stored != given       ? List::entry_of(terms[t].stored)
                                          : terms[t].coefficient.empty() ? List::one
                                                                         : entry(terms[t].coefficient)};
      ++current.terms;
    }
    return true;
  }
  bool add(const Operand<S>& left, const Operand<S>& right) {
    if (list_.dots == dots_of_launch<S>) return false;
    list_.dot[list_.dots++] = {left, right};
    return true;
  }

  bool has_updates() const noexcept { return list_.updates > 0; }
  const AlgebraList<S>& list() const noexcept { return list_; }
  void clear() {
    list_.updates = list_.dots = 0;
    terms_ = entries_ = 0;
  }

private:
  using List = AlgebraList<S>;
  int entry(std::span<const Scalar> values) {
    using Real = RealOf<S>;
    for (int column = 0; column < list_.shape.columns; ++column) {
      const Scalar& value = values[static_cast<std::size_t>(column)];
      list_.coefficient[entries_ * list_.shape.columns + column] = {static_cast<Real>(value.real()),
                                                                    static_cast<Real>(value.imag())};
    }
    return entries_++;
  }

  AlgebraList<S> list_{};
  int terms_ = 0, entries_ = 0;
};

namespace {

template <class S, int dots>
void run_with_sums(gpu::Stream& stream, std::int64_t elements, const AlgebraList<S>& list, gpu::SumBuffer& sums,
                   const solve::RecursionStep& step) {
  gpu::launch_sum<2 * dots>(stream, "spinor algebra with sums", elements, list.shape.columns, sums, 0,
                            Algebra<S, dots>{list}, {gpu::sum_group, 1, 1}, step);
}

template <class S>
void run_list(gpu::Stream& stream, std::int64_t elements, const AlgebraList<S>& list, gpu::SumBuffer* sums,
              const solve::RecursionStep& step = {}) {
  if (list.dots == 0)
    gpu::launch(stream, "spinor algebra", {elements, list.shape.columns, 1}, {256, 1, 1}, Algebra<S, 0>{list});
  else if (Storage<S>::scaled)
    run_with_sums<S, 2>(stream, elements, list, *sums, step);
  else if constexpr (!Storage<S>::scaled) {
    if (list.dots == 1)
      run_with_sums<S, 1>(stream, elements, list, *sums, step);
    else if (list.dots == 2)
      run_with_sums<S, 2>(stream, elements, list, *sums, step);
    else
      run_with_sums<S, 4>(stream, elements, list, *sums, step);
  }
}

template <class S>
int first_parity(const DeviceSpinor<S>& v) {
  return v.subset() == lattice::Subset::odd ? 1 : 0;
}

/// The address of a vector. Kernels write only to targets, which the caller passed as mutable.
template <class S>
Operand<S> operand(const DeviceSpinor<S>& v) {
  const auto reader = v.reader(first_parity(v));
  return {const_cast<typename Storage<S>::Word*>(reader.data), const_cast<float*>(reader.scale)};
}

template <class S>
VectorShape shape_of(const DeviceSpinor<S>& v, int points) {
  const auto first = v.reader(first_parity(v));
  VectorShape shape{.sites = v.sites(),
                    .stride = first.stride,
                    .elements = Place<S>::elements(std::int64_t{v.sites()} * points),
                    .columns = v.columns() / points,
                    .points = points};
  if (v.subset() != lattice::Subset::full) return shape;
  const auto second = v.reader(1);
  shape.second = second.data - first.data;
  if (first.scale != nullptr) shape.second_scale = second.scale - first.scale;
  return shape;
}

}  // namespace
}  // namespace detail

struct PendingSums::State {
  struct Batch {
    int buffer;  ///< -1 when its sums have arrived
    int sums;
    std::vector<Recipe> recipes;
    std::vector<double> arrived;  ///< [sum][column]
  };

  explicit State(std::shared_ptr<detail::SumPool> of) : pool(std::move(of)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  /// Gives back the buffers of sums for which the caller never waited. That is safe, because the next launch that
  /// writes them comes later in the stream.
  ~State() {
    for (const Batch& batch : batches)
      if (batch.buffer >= 0) pool->give_back(batch.buffer);
  }

  void settle(Batch& batch) {
    if (batch.buffer < 0) return;
    const auto sums = pool->buffer(batch.buffer).wait();
    batch.arrived.assign(sums.begin(), sums.begin() + batch.sums * pool->columns());
    pool->give_back(std::exchange(batch.buffer, -1));
  }

  void finish() {
    const auto columns = static_cast<std::size_t>(pool->columns());
    std::vector<double> local;
    for (Batch& batch : batches) {
      settle(batch);
      for (const Recipe& recipe : batch.recipes)
        for (std::size_t c = 0; c < columns; ++c) {
          const auto of = [&](int sum) {
            const auto at = [&](int s) { return batch.arrived[static_cast<std::size_t>(s) * columns + c]; };
            return recipe.second > 0 ? at(sum) + at(sum + recipe.second) : at(sum);
          };
          local.push_back(of(recipe.re));
          if (recipe.im >= 0) local.push_back(recipe.sign * of(recipe.im));
        }
    }
    for (std::size_t begin = 0; begin < local.size(); begin += comm::Reduction::most)
      pool->reduction().sum(std::span(local).subspan(begin, std::min(comm::Reduction::most, local.size() - begin)));
    auto next = local.begin();
    for (const Batch& batch : batches)
      for (const Recipe& recipe : batch.recipes)
        for (std::size_t c = 0; c < columns; ++c) {
          const double re = *next++;
          values.emplace_back(re, recipe.im >= 0 ? *next++ : 0.0);
        }
    finished = true;
  }

  std::shared_ptr<detail::SumPool> pool;
  std::vector<Batch> batches;
  solve::Scalars values;
  bool finished = false;
};

PendingSums::PendingSums(std::shared_ptr<detail::SumPool> pool) : state_(std::make_shared<State>(std::move(pool))) {}

void PendingSums::add(gpu::Stream& stream, int buffer, int sums, std::span<const Recipe> recipes) {
  state_->pool->buffer(buffer).fetch(stream, sums);
  state_->batches.push_back({buffer, sums, {recipes.begin(), recipes.end()}, {}});
  // A long list alternates between two buffers: wait for the sums of the last batch but one.
  if (state_->batches.size() > 1) state_->settle(state_->batches[state_->batches.size() - 2]);
}

std::span<const Scalar> PendingSums::wait() const {
  if (!state_) return {};
  if (!state_->finished) state_->finish();
  return state_->values;
}

namespace {
/// The operator adds over sites (gpu::launch_sum), the algebra over elements.
std::int64_t most_summed(const Box& box, std::int64_t elements) { return std::max<std::int64_t>(box.sites, elements); }
}  // namespace

template <class S>
std::int64_t SpinorSpace<S>::elements(const Box& box, lattice::Subset subset, int points, int components) {
  return detail::Place<S>::elements(std::int64_t{box.sites} * components / spinor_components * points) *
         (subset == lattice::Subset::full ? 2 : 1);
}

template <class S>
SpinorSpace<S>::SpinorSpace(ContextPtr context, lattice::Subset subset, int columns, int points, int components)
    : context_(std::move(context)),
      subset_(subset),
      columns_(columns / points),
      points_(points),
      components_(components) {
  detail::require_components(components, context_->box);
  if (columns_ < 1 || columns_ > 32 || columns % points != 0)
    throw core::InvalidArgument(std::to_string(columns) + " columns, in vectors of " + std::to_string(points) +
                                ", were asked for on a device; give columns for 1 to 32 vectors");
  sums_ = std::make_shared<detail::SumPool>(*context_, most_summed(context_->box, elements()), columns_);
}

template <class S>
std::int64_t SpinorSpace<S>::bytes(const Box& box, lattice::Subset subset, int columns, int points, int components) {
  return 2 * detail::SumPool::bytes(most_summed(box, elements(box, subset, points, components)), columns);
}

template <class S>
DeviceSpinor<S> SpinorSpace<S>::create() const {
  Vector v(context_, subset_, columns_ * points_, components_);
  set_zero(v);
  return v;
}

template <class S>
void SpinorSpace<S>::copy(Vector& out, const Vector& in) const {
  if (out.subset() != in.subset() || out.columns() != in.columns() || out.components() != in.components() ||
      out.context() != in.context())
    throw core::InvalidArgument(
        "a copy was asked between device fields of different boxes, subsets or columns; create both alike");
  context_->stream.copy_on_device(out.memory().data(), in.memory().data(), in.memory().bytes());
}

template <class S>
void SpinorSpace<S>::set_zero(Vector& v) const {
  context_->stream.set_zero(v.memory().data(), v.memory().bytes());
}

template <class S>
void SpinorSpace<S>::axpy(std::span<const Scalar> a, const Vector& x, Vector& y) const {
  const std::array updates{solve::add(y, a, x)};
  update_and_reduce(updates, {});
}

template <class S>
void SpinorSpace<S>::scale(std::span<const Scalar> a, Vector& y) const {
  const std::array updates{solve::scale(y, a)};
  update_and_reduce(updates, {});
}

template <class S>
void SpinorSpace<S>::dot(std::span<Scalar> out, const Vector& x, const Vector& y) const {
  const std::array dots{solve::Dot<Vector>{&x, &y}};
  const auto sums = update_and_reduce({}, dots);
  std::ranges::copy(sums.wait(), out.begin());
}

template <class S>
void SpinorSpace<S>::check(std::span<const solve::Update<Vector>> updates,
                           std::span<const solve::Dot<Vector>> dots) const {
  const auto check = [&](const Vector& v) {
    if (v.subset() != subset_ || v.columns() != columns_ * points_ || v.components() != components_ ||
        v.context() != context_)
      throw core::InvalidArgument(
          "a device field of another box, subset or number of columns was given to a vector space; give fields that "
          "its create() has made");
  };
  const auto check_coefficients = [&](std::span<const Scalar> a) {
    if (!a.empty() && a.size() < static_cast<std::size_t>(columns_))
      throw core::InvalidArgument(std::to_string(a.size()) + " coefficients were given for device fields of " +
                                  std::to_string(columns_) + " columns; give one a column");
  };
  for (const auto& update : updates) {
    check(*update.target);
    check_coefficients(update.scale);
    for (const auto& term : update.terms()) {
      check(*term.vector);
      check_coefficients(term.coefficient);
    }
  }
  for (const auto& dot : dots) {
    check(*dot.left);
    check(*dot.right);
  }
}

/// Enqueues all updates but those of the last launch, which stay in the builder.
template <class S>
void SpinorSpace<S>::enqueue(detail::ListBuilder<S>& builder, std::span<const solve::Update<Vector>> updates) const {
  for (const auto& update : updates) {
    const auto terms = update.terms();
    std::array<detail::Operand<S>, 2> vectors{};
    for (std::size_t t = 0; t < terms.size(); ++t) vectors[t] = detail::operand(*terms[t].vector);
    const auto target = detail::operand(*update.target);
    if (builder.add(update, target, vectors)) continue;
    detail::run_list(context_->stream, elements(), builder.list(), nullptr);
    builder.clear();
    builder.add(update, target, vectors);
  }
}

template <class S>
PendingSums SpinorSpace<S>::update_and_reduce(std::span<const solve::Update<Vector>> updates,
                                              std::span<const solve::Dot<Vector>> dots) const {
  if (updates.empty() && dots.empty()) return {};
  check(updates, dots);
  auto& stream = context_->stream;
  const std::int64_t count = elements();
  detail::ListBuilder<S> builder(
      detail::shape_of(updates.empty() ? *dots.front().left : *updates.front().target, points_), nullptr, false);
  enqueue(builder, updates);
  PendingSums pending;
  if (!dots.empty()) pending = PendingSums(sums_);
  std::size_t next = 0;
  while (next < dots.size()) {
    std::vector<PendingSums::Recipe> recipes;
    while (next < dots.size() && builder.add(detail::operand(*dots[next].left), detail::operand(*dots[next].right))) {
      const int sum = 2 * static_cast<int>(recipes.size());
      recipes.push_back({.re = sum, .im = dots[next].is_norm() ? -1 : sum + 1});
      ++next;
    }
    const int buffer = sums_->take();
    detail::run_list(stream, count, builder.list(), &sums_->buffer(buffer));
    pending.add(stream, buffer, 2 * static_cast<int>(recipes.size()), recipes);
    builder.clear();
  }
  if (builder.has_updates()) detail::run_list(stream, count, builder.list(), nullptr);
  return pending;
}

template <class S>
void SpinorSpace<S>::update_and_step(std::span<const solve::Update<Vector>> updates,
                                     std::span<const solve::Dot<Vector>> dots, solve::RecursionStep step) const {
  check(updates, dots);
  if (dots.size() > 2)
    throw core::InvalidArgument(std::to_string(dots.size()) + " dot products were given to a step; give up to two");
  auto& stream = context_->stream;
  const std::int64_t count = elements();
  const bool behind_last = dots.empty();
  detail::ListBuilder<S> builder(
      detail::shape_of(updates.empty() ? *dots.front().left : *updates.front().target, points_), &step.memory,
      behind_last);
  enqueue(builder, updates);
  if (dots.empty()) return detail::run_list(stream, count, builder.list(), nullptr);
  for (std::size_t i = 0; i < dots.size(); ++i) {
    builder.add(detail::operand(*dots[i].left), detail::operand(*dots[i].right));
    const int sum = 2 * static_cast<int>(i);
    step.place[i] = {.re = sum, .im = dots[i].is_norm() ? -1 : sum + 1};
  }
  // The buffer's scratch space serves one launch after the other, so it need not stay taken.
  const int buffer = sums_->take();
  sums_->give_back(buffer);
  detail::run_list(stream, count, builder.list(), &sums_->buffer(buffer), step);
}

template <class S>
std::vector<double> norms(const SpinorSpace<S>& space, const DeviceSpinor<S>& v) {
  const std::array dots{solve::Dot<DeviceSpinor<S>>{&v, &v}};
  const auto pending = space.update_and_reduce({}, dots);
  std::vector<double> out;
  for (const Scalar& sum : pending.wait()) out.push_back(std::sqrt(sum.real()));
  return out;
}

template <class S>
void assign_parity(DeviceSpinor<S>& out, double factor, const DeviceSpinor<S>& in, int parity) {
  if (out.columns() != in.columns() || out.components() != in.components() || out.context() != in.context())
    throw core::InvalidArgument("device fields of different boxes or columns were given; create both alike");
  const auto from = in.reader(parity);
  const SpinorWriter<S> source{const_cast<typename Storage<S>::Word*>(from.data), const_cast<float*>(from.scale),
                               from.stride, from.columns};
  const detail::AssignParity<S> functor{out.writer(parity), source, static_cast<RealOf<S>>(factor)};
  gpu::launch(in.context()->stream, "assign a parity", {in.sites(), in.columns(), 1}, {256, 1, 1}, functor);
}

void write_canonical(std::complex<double>* out, const DeviceSpinor<double>& in, int column, int exponent, Spins spins) {
  if (in.subset() != lattice::Subset::full || column < 0 || column >= in.columns())
    throw core::InvalidArgument("column " + std::to_string(column) + " of a device field of " +
                                std::to_string(in.columns()) + " columns was asked for; give a full field that has it");
  const detail::WriteCanonical functor{in.context()->box,
                                       {in.reader(0), in.reader(1)},
                                       reinterpret_cast<double*>(out),
                                       column,
                                       spinor_components / in.components(),
                                       spins == Spins::lower ? 2 : 0,
                                       spins == Spins::upper ? 2 : 4,
                                       std::ldexp(1.0, exponent)};
  gpu::launch(in.context()->stream, "write canonical order", {in.sites(), 2, 1}, {256, 1, 1}, functor);
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template class SpinorSpace<S>;                                                                                       \
  template std::vector<double> norms(const SpinorSpace<S>&, const DeviceSpinor<S>&);                                   \
  template void assign_parity(DeviceSpinor<S>&, double, const DeviceSpinor<S>&, int);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device
