// SPDX-License-Identifier: Apache-2.0
/// @file
/// Making a reduction, its sums in steps, and its failures.

#include "halocline/comm/sums/detail/reduction_state.hpp"

#include "halocline/comm/group/text.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/sums/sum_choice.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace halocline::comm {

using namespace detail::slots;

namespace {

/// "0.25 s"
std::string seconds_text(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

/// How often a label is read before the clock is used. There is no pause between these reads, because a pause would
/// delay a label that is about to come.
constexpr int hasty_looks = 256;

}  // namespace

void detail::check_sum_time_limit(double seconds) {
  if (seconds > 0) return;
  throw core::InvalidArgument("a time limit of " + seconds_text(seconds) + " given; give a positive number of seconds");
}

// ---- making one -------------------------------------------------------------------------------------------------

Reduction::State::State(Communicator communicator, const ReductionOptions& chosen)
    : group(std::move(communicator)), options(chosen) {
  check_options();
  total.resize(options.longest);
  if (group.size() > 1 && options.way != SumWay::ordered) open_library();
  if (short_way == SumWay::ordered || long_way == SumWay::ordered) {
    find_nodes();
    share();
    if (nodes > 1) open_messages();
  } else {
    rank_of_local = {group.rank()};
    nodes = group.size();
    static_cast<void>(group.backend().split_by_node());  // so that it knows which ranks are alive
  }
  reads_all = nodes == 1 && local_ranks <= options.gather_above;
  quick = quick_sums();
  hasty = std::clamp(group.backend().spins(), 1, hasty_looks);
}

/// Decides on the ways of MPI. Collective over the group.
void Reduction::State::open_library() {
  short_way = long_way = options.way;
  if (options.way == SumWay::automatic) std::tie(short_way, long_way) = choose_sum_ways(group, options);
  if (short_way == SumWay::mpi_split) short_way = SumWay::mpi;  // a single piece
  if (short_way == SumWay::ordered && long_way == SumWay::ordered) return;
  library = group.backend().library_sum(options.longest);
  if (library != nullptr) return;
  throw core::InvalidArgument("sums by the way " + std::string(name(options.way)) +
                              " were asked for, but this group does not stand on MPI; ask for ordered sums");
}

/// The longest sum that takes the quick way.
std::size_t Reduction::State::quick_sums() const noexcept {
  if (!reads_all || short_way != SumWay::ordered) return 0;
  return long_way == SumWay::ordered ? most : std::min(most, options.piece);
}

void Reduction::State::check_options() const {
  on_every_rank(group, [&] {
    if (options.gather_above < 1) {
      throw core::InvalidArgument("gather_above is " + std::to_string(options.gather_above) +
                                  "; give a number of ranks, at least 1");
    }
    detail::check_sum_time_limit(options.time_limit);
    if (options.longest < most)
      throw core::InvalidArgument("sums of up to " + std::to_string(options.longest) +
                                  " doubles were asked for; give at least 8");
    if (options.piece < 1) throw core::InvalidArgument("pieces of 0 values were asked for; give at least 1");
  });
  std::array<double, 6> low{options.shared_memory ? 1.0 : 0.0,
                            static_cast<double>(options.gather_above),
                            options.time_limit,
                            static_cast<double>(options.longest),
                            static_cast<double>(options.way),
                            static_cast<double>(options.piece)};
  std::array<double, 6> high = low;
  group.min(low);
  group.max(high);
  if (low != high) throw core::InvalidArgument("the ranks chose different options for a reduction; give all the same");
}

void Reduction::State::find_nodes() {
  const int me = group.rank(), ranks = group.size();
  rank_of_local = {me};
  by_nodes = options.shared_memory;
  nodes = ranks;
  if (!by_nodes || ranks == 1) return;
  node = group.backend().split_by_node();
  local_ranks = node->size();
  local_rank = node->rank();
  rank_of_local.resize(static_cast<std::size_t>(local_ranks));
  node->all_gather(std::as_bytes(std::span(&me, 1)), std::as_writable_bytes(std::span(rank_of_local)));
  std::vector<int> lowest(static_cast<std::size_t>(ranks));
  group.backend().all_gather(std::as_bytes(std::span(rank_of_local).first(1)),
                             std::as_writable_bytes(std::span(lowest)));
  std::sort(lowest.begin(), lowest.end());
  nodes = static_cast<int>(std::unique(lowest.begin(), lowest.end()) - lowest.begin());
}

/// Makes the slots. If one node cannot share memory, no node does.
void Reduction::State::share() {
  bool refused = false;
  try {
    const std::size_t behind = options.longest > most ? 4 * options.longest * sizeof(double) : 0;
    if (local_ranks > 1) segment = node->share(part_bytes + behind);
  } catch (const core::Error&) {
    if (gave_up_waiting()) throw;
    refused = true;
  }
  if (by_nodes && group.any(refused)) {
    segment.reset();
    by_nodes = false;
    nodes = group.size();
    local_ranks = 1;
    local_rank = 0;
    rank_of_local = {group.rank()};
  }
  if (segment == nullptr) {
    alone = std::make_unique<Places>();
    places = {alone.get()};
    if (options.longest > most) long_alone.resize(4 * options.longest);
    long_places = {long_places_in(reinterpret_cast<std::byte*>(long_alone.data()), options.longest)};
  } else {
    for (int r = 0; r < local_ranks; ++r) {
      places.push_back(places_in(segment->part(r), r));
      long_places.push_back(long_places_in(segment->part(r) + part_bytes, options.longest));
    }
  }
  mine = places[static_cast<std::size_t>(local_rank)];
}

/// Makes a group of the ranks that exchange messages, the lowest of each node. Collective over the group.
void Reduction::State::open_messages() {
  const int me = group.rank();
  const bool takes_part = local_rank == 0;
  std::shared_ptr<detail::Backend> participants = group.backend().split(takes_part ? 0 : 1, me);
  if (!takes_part) return;
  if (!by_nodes) static_cast<void>(participants->split_by_node());  // so that it knows which ranks are alive
  rank_of_participant.resize(static_cast<std::size_t>(nodes));
  participants->all_gather(std::as_bytes(std::span(&me, 1)), std::as_writable_bytes(std::span(rank_of_participant)));
  messages = std::make_unique<detail::MessageSum>(std::move(participants), !by_nodes, options.longest);
}

// ---- a sum in steps ---------------------------------------------------------------------------------------------

/// Says why a sum of so many values cannot begin.
void Reduction::State::refuse_number(std::size_t values) const {
  refuse_after_failure();
  if (values == 0 || values > options.longest) {
    throw core::InvalidArgument("reduction of " + std::to_string(values) + " doubles, expected 1 to " +
                                std::to_string(options.longest) + "; Communicator::sum takes more");
  }
  throw core::InvalidArgument("reduction begun while another is under way; call wait() first");
}

/// A blocking sum by MPI, whole or in pieces.
void Reduction::State::sum_by_library(std::span<double> values) {
  begin_number(values.size());
  try {
    if (way_of(count) == SumWay::mpi) [[likely]]
      return library->sum(values);
    for (std::size_t at = 0; at < count; at += options.piece)
      library->sum(values.subspan(at, std::min(options.piece, count - at)));
  } catch (...) {
    fail(-1);
    throw;
  }
}

void Reduction::State::begin(std::span<const double> values) {
  begin_number(values.size());
  quick = 0;
  if (way_of(count) != SumWay::ordered) {
    try {
      library->begin(values);
    } catch (...) {
      fail(-1);
      throw;
    }
    stage = Stage::library;
    return;
  }
  next = 0;
  show_values(mine->mine[turn()], long_places[static_cast<std::size_t>(local_rank)].mine[turn()], values.data());
  stage = reads_all || local_rank == 0 ? Stage::slots : Stage::total;
}

/// Whether the messages have brought the sum, or show that they cannot.
bool Reduction::State::messages_here() {
  try {
    return messages->test();
  } catch (const core::Error& error) {
    // Long sums of different lengths are messages of different lengths, which the layer below refuses.
    throw core::Error(head() + "no message of " + std::to_string(count) +
                          " values came, as when ranks add different numbers of values (" + error.what() + ")",
                      group.rank());
  }
}

/// Goes on as far as it can without waiting. @return true when the sum is complete, in `total`
bool Reduction::State::advance() {
  if (stage == Stage::library) {
    if (!library->test()) return false;
    std::ranges::copy(library->result(), total.begin());
    stage = Stage::idle;
    return true;
  }
  if (stage == Stage::slots) {
    if (!add_slots()) return false;
    if (nodes > 1) {
      messages->begin(number, std::span(total).first(count));
      stage = Stage::messages;
    } else {
      show_total();
      stage = Stage::idle;
    }
  }
  if (stage == Stage::messages) {
    if (!messages_here()) return false;
    if (const int other = messages->mismatched(); other >= 0) {
      throw core::Error(head() + "rank " + std::to_string(rank_of_participant[static_cast<std::size_t>(other)]) +
                            " is in another sum, or adds another number of values; all ranks make the same sums",
                        group.rank());
    }
    std::copy_n(messages->sums().begin(), count, total.begin());
    show_total();
    stage = Stage::idle;
  }
  if (stage == Stage::total) {
    if (!take_total()) return false;
    stage = Stage::idle;
  }
  return true;
}

/// Publishes `count` values. @param behind  where more than eight of them stand
void Reduction::State::show_values(Slot& slot, double* behind, const double* values) noexcept {
  if (count <= most) return show(slot, values, count, label());
  std::copy_n(values, count, behind);
  const auto length = static_cast<double>(count);
  show(slot, &length, 1, label());
}

/// The values of a slot whose label has been seen. Valid until the next call.
const double* Reduction::State::values_of(const Slot& slot, const double* behind) noexcept {
  if (count > most) return behind;
  for (std::size_t i = 0; i < count; ++i) short_values[i] = value_in(slot, i);
  return short_values.data();
}

/// True when the slot of a local rank holds its values of this sum.
bool Reduction::State::here(int local) const {
  const Slot& slot = places[static_cast<std::size_t>(local)]->mine[turn()];
  const std::uint64_t theirs = label_in(slot);
  if (theirs >> label_shift != number) return false;
  const std::uint64_t code = theirs - label_of(number, 0);
  const auto length = code == many ? static_cast<std::size_t>(slot.values[0]) : static_cast<std::size_t>(code);
  if (length == count) return true;
  throw core::Error(head() + "rank " + std::to_string(rank_of_local[static_cast<std::size_t>(local)]) + " adds " +
                        std::to_string(length) + " values and this rank " + std::to_string(count) +
                        "; give the same number on every rank",
                    group.rank());
}

bool Reduction::State::add_slots() {
  for (; next < local_ranks; ++next) {
    if (!here(next)) return false;
    const auto at = static_cast<std::size_t>(next);
    const double* values = values_of(places[at]->mine[turn()], long_places[at].mine[turn()]);
    if (next == 0)
      std::copy_n(values, count, total.begin());
    else
      for (std::size_t i = 0; i < count; ++i) total[i] += values[i];
  }
  return true;
}

/// Publishes the total for the other ranks of the node, if they wait for it.
void Reduction::State::show_total() {
  if (!reads_all && local_ranks > 1) show_values(mine->total[turn()], long_places[0].total[turn()], total.data());
}

bool Reduction::State::take_total() {
  const Slot& slot = places[0]->total[turn()];
  const std::uint64_t theirs = label_in(slot);
  if (theirs == label_of(number, gave_up)) {
    const auto missing = static_cast<int>(slot.values[0]);
    if (missing >= 0) group.backend().give_up();
    throw core::Error(head() + "rank " + std::to_string(rank_of_local[0]) + ", which adds for this node, gave up" +
                          (missing < 0 ? "" : " waiting for rank " + std::to_string(missing)),
                      group.rank());
  }
  if (theirs != label()) return false;
  std::copy_n(values_of(slot, long_places[0].total[turn()]), count, total.begin());
  return true;
}

/// Continues the quick way when a label does not come soon.
void Reduction::State::await(int local, std::size_t values) {
  count = values;
  stage = Stage::slots;
  detail::Waited waited;
  try {
    waited = detail::wait_until(
        group.backend(), options.time_limit, [&] { return here(local); }, [this] { return hopeless(); });
  } catch (...) {
    fail(-1);
    throw;
  }
  if (waited != detail::Waited::ready) give_up(waited);
  stage = Stage::idle;
}

void Reduction::State::finish() {
  detail::Waited waited;
  try {
    waited = detail::wait_until(
        group.backend(), options.time_limit, [this] { return advance(); }, [this] { return hopeless(); });
  } catch (...) {
    fail(-1);
    throw;
  }
  if (waited != detail::Waited::ready) give_up(waited);
}

void Reduction::State::put_back(double* values) noexcept {
  std::copy_n(total.begin(), count, values);
  quick = quick_sums();
}

// ---- failure ----------------------------------------------------------------------------------------------------

/// The local ranks that have not published their values. If only the total is missing: the rank that adds.
std::vector<int> Reduction::State::missing_locals() const {
  std::vector<int> locals;
  if (stage == Stage::messages || stage == Stage::library) return locals;
  for (int r = 0; r < local_ranks; ++r) {
    if (label_in(places[static_cast<std::size_t>(r)]->mine[turn()]) >> label_shift != number) locals.push_back(r);
  }
  if (locals.empty() && stage == Stage::total) locals.push_back(0);
  return locals;
}

/// True when an awaited rank has ended.
bool Reduction::State::hopeless() const {
  if (stage == Stage::library) {
    for (int rank = 0; rank < group.size(); ++rank)
      if (!group.backend().alive(rank)) return true;
    return false;
  }
  if (stage == Stage::messages) {
    const std::vector<int> missing = messages->missing();
    return std::any_of(missing.begin(), missing.end(), [&](int r) { return !messages->participants().alive(r); });
  }
  if (node == nullptr) return false;
  const std::vector<int> missing = missing_locals();
  return std::any_of(missing.begin(), missing.end(), [&](int r) { return !node->alive(r); }) ||
         (stage == Stage::total && !node->alive(0));
}

void Reduction::State::give_up(detail::Waited why) {
  if (stage == Stage::library) {
    const std::string problem = why == detail::Waited::hopeless
                                    ? "a rank has ended without giving its values"
                                    : "not all ranks have given their values within " +
                                          seconds_text(options.time_limit) + "; one is stalled or adds elsewhere";
    fail(-1);
    group.backend().give_up();
    throw core::Error(head() + problem, group.rank());
  }
  const bool between = stage == Stage::messages;
  std::vector<int> missing = between ? messages->missing() : missing_locals();
  if (why == detail::Waited::hopeless) {
    const auto alive = [&](int r) { return between ? messages->participants().alive(r) : node->alive(r); };
    std::erase_if(missing, alive);
    if (missing.empty()) missing = {0};  // the rank that adds for the node
  }
  for (int& rank : missing) rank = (between ? rank_of_participant : rank_of_local)[static_cast<std::size_t>(rank)];
  const std::string who =
      (missing.size() > 1 ? "ranks " : "rank ") + detail::joined(std::span<const int>(missing), ", ");
  const std::string sentence = head() + (why == detail::Waited::hopeless ? who + " has ended without giving its values"
                                                                         : "nothing has come from " + who + " within " +
                                                                               seconds_text(options.time_limit) +
                                                                               "; it is stalled or adds elsewhere");
  fail(missing.empty() ? -1 : missing.front());
  group.backend().give_up();
  throw core::Error(sentence, group.rank());
}

/// Tells the ranks that wait for our total, and abandons messages under way.
void Reduction::State::fail(int missing) noexcept {
  const bool awaited = !reads_all && local_rank == 0 && local_ranks > 1;
  if (library != nullptr) library->abandon();
  if (awaited) {
    const double rank = missing;
    show(mine->total[turn()], &rank, 1, label_of(number, gave_up));
  }
  if (messages != nullptr) messages->abandon();
  stage = Stage::failed;
  quick = 0;
}

void Reduction::State::refuse_after_failure() const {
  if (stage != Stage::failed) return;
  throw core::Error("rank " + std::to_string(group.rank()) + ": this reduction failed at sum " +
                        std::to_string(number) + " and cannot be used further; make a new one",
                    group.rank());
}

}  // namespace halocline::comm
