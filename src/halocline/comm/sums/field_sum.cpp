// SPDX-License-Identifier: Apache-2.0
/// @file
/// The phases of a sum as lists of messages and, once they are there, additions.
///
/// The field is filled up with zeros to P equal pieces. Member c of a row owns part c of A, which is B pieces; member d
/// of a column owns piece d of these. All messages of a phase are equally long.

#include "halocline/comm/sums/field_sum.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace halocline::comm {
namespace {

/// Processes in a row: the smallest number that divides all of them and is not below their square root.
int row_of(int processes) {
  if (processes <= FieldSum::most_in_a_row) return processes;
  int row = processes;
  for (int a = processes; a * a >= processes; --a)
    if (processes % a == 0) row = a;
  return row;
}

}  // namespace

struct FieldSum::State {
  enum class Phase { none, add_row, add_column, gather_column, gather_row, done };

  /// What messages read and write.
  struct Buffers {
    std::vector<double> field;     ///< in pieces; at the end the sums
    std::vector<double> received;  ///< a part from each member of the row, or a piece from each of the column
  };

  State(const Communicator& all, std::size_t length)
      : group(all.split(0, all.rank())),
        values(length),
        across(row_of(group.size())),
        rows(group.size() / across),
        piece((length + static_cast<std::size_t>(group.size()) - 1) / static_cast<std::size_t>(group.size())),
        buffers(std::make_unique<Buffers>()) {
    buffers->field.resize(piece * static_cast<std::size_t>(group.size()));
    buffers->received.resize(part() * static_cast<std::size_t>(across));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { abandon(); }

  std::size_t part() const noexcept { return piece * static_cast<std::size_t>(rows); }
  int place() const noexcept { return group.rank() % across; }
  int row() const noexcept { return group.rank() / across; }

  /// The others in this row or column, in the order in which to address them: everyone begins behind itself, so that
  /// not all send to the same one first.
  template <class Action>
  void with_others(bool in_row, Action&& action) const {
    const int members = in_row ? across : rows, own = in_row ? place() : row();
    for (int i = 1; i < members; ++i) {
      const int other = (own + i) % members;
      action(static_cast<std::size_t>(other), in_row ? row() * across + other : other * across + place());
    }
  }

  std::span<double> own_part() const { return std::span(buffers->field).subspan(part() * count(place()), part()); }
  std::span<double> own_piece() const { return own_part().subspan(piece * count(row()), piece); }

  void post(std::span<const double> mine, std::span<double> theirs, int other) {
    const int tag = static_cast<int>(phase);
    detail::Backend& backend = group.backend();
    messages.push_back(backend.begin_receive(std::as_writable_bytes(theirs), other, tag));
    messages.push_back(backend.begin_send(std::as_bytes(mine), other, tag));
  }

  /// Posts the messages of the phase.
  void begin_phase(Phase next) {
    phase = next;
    const bool adds = phase == Phase::add_row || phase == Phase::add_column;
    const bool in_row = phase == Phase::add_row || phase == Phase::gather_row;
    // In a row the whole field is divided into parts, in a column a part into pieces.
    const std::span<double> whole = in_row ? std::span(buffers->field) : own_part();
    const std::size_t length = in_row ? part() : piece;
    const std::span<double> own = in_row ? own_part() : own_piece();
    with_others(in_row, [&](std::size_t member, int rank) {
      const std::span<double> of_member = whole.subspan(length * member, length);
      if (adds)
        post(of_member, std::span(buffers->received).subspan(length * member, length), rank);
      else
        post(own, of_member, rank);
    });
  }

  /// Replaces the own part of a row, or the own piece of a column, by the sum of what came and itself, in the order of
  /// the members.
  void add(bool in_row) {
    const std::span<double> own = in_row ? own_part() : own_piece();
    const auto members = static_cast<std::size_t>(in_row ? across : rows);
    const auto me = static_cast<std::size_t>(in_row ? place() : row());
    double* received = buffers->received.data();
    std::ranges::copy(own, received + own.size() * me);
    std::copy_n(received, own.size(), own.begin());
    for (std::size_t member = 1; member < members; ++member)
      for (std::size_t i = 0; i < own.size(); ++i) own[i] += received[own.size() * member + i];
  }

  /// Ends a phase whose messages are there, and begins the next one.
  void next_phase() {
    messages.clear();
    switch (phase) {
    case Phase::add_row:
      add(true);
      return begin_phase(Phase::add_column);
    case Phase::add_column:
      add(false);
      return begin_phase(Phase::gather_column);
    case Phase::gather_column:
      return begin_phase(Phase::gather_row);
    default:
      phase = Phase::done;
    }
  }

  bool under_way() const noexcept { return phase != Phase::none && phase != Phase::done; }

  /// Leaves messages under way and their memory to the layer below, which may still store into it.
  void abandon() noexcept {
    if (messages.empty()) return;
    for (std::unique_ptr<detail::Pending>& message : messages) message->abandon();
    messages.clear();
    static_cast<void>(buffers.release());
    // MPI could give the context of this group to the next one.
    static_cast<void>(new (std::nothrow) Communicator(group));
  }

  static std::size_t count(int n) noexcept { return static_cast<std::size_t>(n); }

  Communicator group;
  std::size_t values;
  int across, rows;
  std::size_t piece;
  Phase phase = Phase::none;
  std::unique_ptr<Buffers> buffers;
  std::vector<std::unique_ptr<detail::Pending>> messages;
};

FieldSum::FieldSum(const Communicator& group, std::size_t values) : state_(std::make_unique<State>(group, values)) {}
FieldSum::FieldSum(FieldSum&&) noexcept = default;
FieldSum& FieldSum::operator=(FieldSum&&) noexcept = default;
FieldSum::~FieldSum() = default;

bool FieldSum::under_way() const noexcept { return state_->phase != State::Phase::none; }
std::array<int, 2> FieldSum::shape() const noexcept { return {state_->across, state_->rows}; }

void FieldSum::begin(std::span<const double> field) {
  State& state = *state_;
  if (state.buffers == nullptr)
    throw core::Error("rank " + std::to_string(state.group.rank()) +
                          ": a sum was begun after an earlier one failed; end the run",
                      state.group.rank());
  if (field.size() != state.values)
    throw core::InvalidArgument("a sum of " + std::to_string(field.size()) + " values was begun where fields have " +
                                std::to_string(state.values));
  if (under_way()) throw core::InvalidArgument("a sum was begun while another is under way; wait() for it first");
  std::ranges::copy(field, state.buffers->field.begin());
  std::fill(state.buffers->field.begin() + static_cast<std::ptrdiff_t>(field.size()), state.buffers->field.end(), 0.0);
  state.begin_phase(State::Phase::add_row);
}

bool FieldSum::advance() {
  State& state = *state_;
  while (state.under_way()) {
    // All are asked: the answer for one drives the others.
    bool all = true;
    for (const std::unique_ptr<detail::Pending>& message : state.messages) all = message->test() && all;
    if (!all) return false;
    state.next_phase();
  }
  return true;
}

void FieldSum::wait(std::span<double> field) {
  State& state = *state_;
  if (!under_way()) return;
  if (field.size() != state.values)
    throw core::InvalidArgument("the sum of " + std::to_string(state.values) + " values was to go where " +
                                std::to_string(field.size()) + " have room");
  try {
    while (state.under_way()) {
      for (const std::unique_ptr<detail::Pending>& message : state.messages) message->wait();
      state.next_phase();
    }
  } catch (...) {
    state.abandon();
    throw;
  }
  std::copy_n(state.buffers->field.begin(), field.size(), field.begin());
  state.phase = State::Phase::none;
}

}  // namespace halocline::comm
