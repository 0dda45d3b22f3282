// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a reduction is made of: the slots of a node, messages between nodes, the sums of the library below, and the
/// state machine that a sum in steps goes through.

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/patience.hpp"
#include "halocline/comm/sums/detail/message_sum.hpp"
#include "halocline/comm/sums/detail/slots.hpp"
#include "halocline/comm/sums/reduction.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halocline::comm {
namespace detail {
/// @throws InvalidArgument  unless the time is positive
void check_sum_time_limit(double seconds);
}  // namespace detail

struct Reduction::State {
  enum class Stage { idle, slots, messages, total, library, failed };

  State(Communicator communicator, const ReductionOptions& chosen);

  void check_options() const;
  void find_nodes();
  void share();
  void open_messages();
  void open_library();

  SumWay way_of(std::size_t values) const noexcept { return values <= options.piece ? short_way : long_way; }
  std::size_t quick_sums() const noexcept;
  void sum_by_library(std::span<double> values);
  void await(int local, std::size_t values);
  /// Gives a sum of so many values its number. In line, because a short sum takes as long as a few calls.
  void begin_number(std::size_t values) {
    if (stage != Stage::idle || !target.empty() || values == 0 || values > options.longest) [[unlikely]]
      refuse_number(values);
    ++number;
    count = values;
  }
  [[noreturn]] void refuse_number(std::size_t values) const;
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
  static std::uint64_t code_of(std::size_t values) noexcept { return values > most ? detail::slots::many : values; }
  std::uint64_t label() const noexcept { return detail::slots::label_of(number, code_of(count)); }
  void show_values(detail::slots::Slot& slot, double* behind, const double* values) noexcept;
  const double* values_of(const detail::slots::Slot& slot, const double* behind) noexcept;

  // The members that a quick sum touches come first.
  std::size_t quick = 0;  ///< sums of up to so many values: every rank reads all slots, and none is under way or failed
  int hasty = 1;
  int local_ranks = 1;
  std::uint64_t number = 0;  ///< of the sum begun last
  detail::slots::Places* mine = nullptr;
  std::vector<detail::slots::Places*> places;  ///< shape (local ranks,)
  std::vector<detail::slots::LongPlaces> long_places;

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
  std::unique_ptr<detail::slots::Places> alone;  ///< instead of a segment, for the only rank of a node
  std::vector<double> long_alone;
  std::array<double, most> short_values{};  ///< of the slot read last
  std::unique_ptr<detail::MessageSum> messages;
  std::unique_ptr<detail::LibrarySum> library;
  SumWay short_way = SumWay::ordered, long_way = SumWay::ordered;  ///< of up to `piece` values, of more
  std::vector<int> rank_of_local;                                  ///< shape (local ranks,): their ranks in the group
  std::vector<int> rank_of_participant;                            ///< of the messages: its rank in the group
};

}  // namespace halocline::comm
