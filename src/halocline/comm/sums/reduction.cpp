// SPDX-License-Identifier: Apache-2.0
/// @file
/// The quick way through the slots of a node. detail/reduction_state.cpp has the rest.

#include "halocline/comm/sums/reduction.hpp"

#include "halocline/comm/sums/detail/reduction_state.hpp"
#include "halocline/core/error.hpp"

#include <string>
#include <utility>

namespace halocline::comm {

using namespace detail::slots;

namespace {
constexpr std::array<std::string_view, 4> way_names{"ordered", "mpi", "mpi-split", "auto"};
}  // namespace

std::string_view name(SumWay way) noexcept { return way_names[static_cast<std::size_t>(way)]; }

SumWay sum_way_named(std::string_view wanted) {
  for (std::size_t i = 0; i < way_names.size(); ++i)
    if (way_names[i] == wanted) return static_cast<SumWay>(i);
  throw core::InvalidArgument("sums by the way \"" + std::string(wanted) +
                              "\" were asked for; give ordered, mpi, mpi-split or auto");
}

Reduction::Reduction(Communicator group, const ReductionOptions& options)
    : state_(std::make_unique<State>(std::move(group), options)) {}
Reduction::Reduction(Reduction&&) noexcept = default;
Reduction& Reduction::operator=(Reduction&&) noexcept = default;
Reduction::~Reduction() = default;

/// The quick way. It writes our slot and reads the slots of all ranks in rank order, so that the additions of one
/// rank's values run while the next rank's line is on its way. Transfers: 1 line out, local ranks - 1 lines in.
/// Flops: local ranks - 1 for each value.
template <std::size_t N>
void Reduction::sum_in_place(double* values) {
  State& s = *state_;
  if (N > s.quick) [[unlikely]] {
    if (s.way_of(N) != SumWay::ordered) return s.sum_by_library({values, N});
    s.begin({values, N});
    s.finish();
    return s.put_back(values);
  }
  const std::uint64_t label = label_of(++s.number, N);
  const std::size_t turn = s.turn();
  show(s.mine->mine[turn], values, N, label);
  Places* const* const places = s.places.data();
  const auto shown_by = [&](int rank) -> const Slot& {
    const Slot& slot = places[rank]->mine[turn];
    for (int looks = s.hasty; label_in(slot) != label;) {
      if (--looks > 0) continue;
      s.await(rank, N);
      break;
    }
    return slot;
  };
  const Slot& first = shown_by(0);
  double total[N];
  for (std::size_t i = 0; i < N; ++i) total[i] = value_in(first, i);
  const int ranks = s.local_ranks;
  for (int rank = 1; rank < ranks; ++rank) {
    const Slot& slot = shown_by(rank);
    for (std::size_t i = 0; i < N; ++i) total[i] += value_in(slot, i);
  }
  for (std::size_t i = 0; i < N; ++i) values[i] = total[i];
}

template void Reduction::sum_in_place<1>(double*);
template void Reduction::sum_in_place<2>(double*);
template void Reduction::sum_in_place<3>(double*);
template void Reduction::sum_in_place<4>(double*);
template void Reduction::sum_in_place<5>(double*);
template void Reduction::sum_in_place<6>(double*);
template void Reduction::sum_in_place<7>(double*);
template void Reduction::sum_in_place<8>(double*);

void Reduction::sum(std::span<double> values) {
  switch (values.size()) {
  case 1:
    return sum_in_place<1>(values.data());
  case 2:
    return sum_in_place<2>(values.data());
  case 3:
    return sum_in_place<3>(values.data());
  case 4:
    return sum_in_place<4>(values.data());
  case 5:
    return sum_in_place<5>(values.data());
  case 6:
    return sum_in_place<6>(values.data());
  case 7:
    return sum_in_place<7>(values.data());
  case 8:
    return sum_in_place<8>(values.data());
  default:
    if (!values.empty() && state_->way_of(values.size()) != SumWay::ordered) return state_->sum_by_library(values);
    state_->begin(values);  // throws where this number of values is wrong
    state_->finish();
    return state_->put_back(values.data());
  }
}

void Reduction::begin(std::span<double> values) {
  state_->begin(values);
  state_->target = values;
}

bool Reduction::test() {
  State& s = *state_;
  s.refuse_after_failure();
  if (s.target.empty()) throw core::InvalidArgument("reduction tested, but none has begun; call begin() first");
  try {
    return s.advance();
  } catch (...) {
    s.fail(-1);
    throw;
  }
}

void Reduction::wait() {
  State& s = *state_;
  s.refuse_after_failure();
  if (s.target.empty()) throw core::InvalidArgument("reduction waited for, but none has begun; call begin() first");
  s.finish();
  s.put_back(s.target.data());
  s.target = {};
}

void Reduction::set_time_limit(double seconds) {
  detail::check_sum_time_limit(seconds);
  state_->options.time_limit = seconds;
}

double Reduction::time_limit() const noexcept { return state_->options.time_limit; }
const Communicator& Reduction::communicator() const noexcept { return state_->group; }
std::size_t Reduction::longest() const noexcept { return state_->options.longest; }
bool Reduction::shared_memory() const noexcept { return state_->segment != nullptr; }
int Reduction::nodes() const noexcept { return state_->nodes; }
SumWay Reduction::way(std::size_t values) const noexcept { return state_->way_of(values); }

}  // namespace halocline::comm
