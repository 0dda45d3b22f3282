// SPDX-License-Identifier: Apache-2.0
/// @file
/// The slots of a node, the quick way through them, and the same in steps that can be polled.

#include "halocline/comm/sums/reduction.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/patience.hpp"
#include "halocline/comm/group/text.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/sums/detail/message_sum.hpp"
#include "halocline/comm/sums/detail/slots.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace halocline::comm {
namespace {

using namespace detail::slots;

/// "0.25 s"
std::string seconds_text(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

void check_time_limit(double seconds) {
  if (seconds > 0) return;
  throw core::InvalidArgument("a time limit of " + seconds_text(seconds) + " given; give a positive number of seconds");
}

/// How often a label is read before the clock is used. There is no pause between these reads, because a pause would
/// delay a label that is about to come.
constexpr int hasty_looks = 256;

}  // namespace

struct Reduction::State {
  enum class Stage { idle, slots, messages, total, failed };

  State(Communicator communicator, const ReductionOptions& chosen);

  void check_options() const;
  void find_nodes();
  void share();
  void open_messages();

  void await(int local, std::size_t values);
  void begin(std::span<const double> values);
  bool advance();
  bool messages_here();
  void finish();
  void put_back(double* values) noexcept;

  bool here(int local) const;
  bool add_slots();
  bool take_total();
  void show_total();

  std::vector<int> missing_locals() const;
  bool hopeless() const;
  [[noreturn]] void give_up(detail::Waited why);
  void fail(int missing) noexcept;
  void refuse_after_failure() const;
  std::string head() const {
    return "rank " + std::to_string(group.rank()) + ": sum " + std::to_string(number) + " of this reduction: ";
  }

  std::size_t turn() const noexcept { return number & 1; }
  static std::uint64_t code_of(std::size_t values) noexcept { return values > most ? many : values; }
  std::uint64_t label() const noexcept { return label_of(number, code_of(count)); }
  void show_values(Slot& slot, double* behind, const double* values) noexcept;
  const double* values_of(const Slot& slot, const double* behind) noexcept;

  // The members that a quick sum touches come first.
  bool quick = false;  ///< every rank reads all slots, no sum is under way and none has failed
  int hasty = 1;
  int local_ranks = 1;
  std::uint64_t number = 0;  ///< of the sum begun last
  Places* mine = nullptr;
  std::vector<Places*> places;  ///< shape (local ranks,)
  std::vector<LongPlaces> long_places;

  Stage stage = Stage::idle;
  int local_rank = 0;
  int next = 0;               ///< slots of the local ranks below have been seen
  std::size_t count = 0;      ///< values of the sum under way
  std::vector<double> total;  ///< shape (longest,)
  std::span<double> target;   ///< of begin()

  Communicator group;
  ReductionOptions options;
  bool by_nodes = false;  ///< false: every rank counts as a node
  int nodes = 1;
  bool reads_all = false;
  std::shared_ptr<detail::Backend> node;
  std::unique_ptr<detail::SharedSegment> segment;
  std::unique_ptr<Places> alone;  ///< instead of a segment, for the only rank of a node
  std::vector<double> long_alone;
  std::array<double, most> short_values{};  ///< of the slot read last
  std::unique_ptr<detail::MessageSum> messages;
  std::vector<int> rank_of_local;        ///< shape (local ranks,): their ranks in the group
  std::vector<int> rank_of_participant;  ///< of the messages: its rank in the group
};

// ---- making one -------------------------------------------------------------------------------------------------

Reduction::State::State(Communicator communicator, const ReductionOptions& chosen)
    : group(std::move(communicator)), options(chosen) {
  check_options();
  total.resize(options.longest);
  find_nodes();
  share();
  if (nodes > 1) open_messages();
  reads_all = nodes == 1 && local_ranks <= options.gather_above;
  quick = reads_all;
  hasty = std::clamp(group.backend().spins(), 1, hasty_looks);
}

void Reduction::State::check_options() const {
  on_every_rank(group, [&] {
    if (options.gather_above < 1) {
      throw core::InvalidArgument("gather_above is " + std::to_string(options.gather_above) +
                                  "; give a number of ranks, at least 1");
    }
    check_time_limit(options.time_limit);
    if (options.longest < most)
      throw core::InvalidArgument("sums of up to " + std::to_string(options.longest) +
                                  " doubles were asked for; give at least 8");
  });
  std::array<double, 4> low{options.shared_memory ? 1.0 : 0.0, static_cast<double>(options.gather_above),
                            options.time_limit, static_cast<double>(options.longest)};
  std::array<double, 4> high = low;
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

void Reduction::State::begin(std::span<const double> values) {
  refuse_after_failure();
  if (values.empty() || values.size() > options.longest) {
    throw core::InvalidArgument("reduction of " + std::to_string(values.size()) + " doubles, expected 1 to " +
                                std::to_string(options.longest) + "; Communicator::sum takes more");
  }
  if (stage != Stage::idle || !target.empty())
    throw core::InvalidArgument("reduction begun while another is under way; call wait() first");
  ++number;
  count = values.size();
  next = 0;
  quick = false;
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
  quick = reads_all;
}

// ---- failure ----------------------------------------------------------------------------------------------------

/// The local ranks that have not published their values. If only the total is missing: the rank that adds.
std::vector<int> Reduction::State::missing_locals() const {
  std::vector<int> locals;
  if (stage == Stage::messages) return locals;
  for (int r = 0; r < local_ranks; ++r) {
    if (label_in(places[static_cast<std::size_t>(r)]->mine[turn()]) >> label_shift != number) locals.push_back(r);
  }
  if (locals.empty() && stage == Stage::total) locals.push_back(0);
  return locals;
}

/// True when an awaited rank has ended.
bool Reduction::State::hopeless() const {
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
  if (awaited) {
    const double rank = missing;
    show(mine->total[turn()], &rank, 1, label_of(number, gave_up));
  }
  if (messages != nullptr) messages->abandon();
  stage = Stage::failed;
  quick = false;
}

void Reduction::State::refuse_after_failure() const {
  if (stage != Stage::failed) return;
  throw core::Error("rank " + std::to_string(group.rank()) + ": this reduction failed at sum " +
                        std::to_string(number) + " and cannot be used further; make a new one",
                    group.rank());
}

// ---- the class --------------------------------------------------------------------------------------------------

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
  if (!s.quick) [[unlikely]] {
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
  check_time_limit(seconds);
  state_->options.time_limit = seconds;
}

double Reduction::time_limit() const noexcept { return state_->options.time_limit; }
const Communicator& Reduction::communicator() const noexcept { return state_->group; }
std::size_t Reduction::longest() const noexcept { return state_->options.longest; }
bool Reduction::shared_memory() const noexcept { return state_->segment != nullptr; }
int Reduction::nodes() const noexcept { return state_->nodes; }

}  // namespace halocline::comm
