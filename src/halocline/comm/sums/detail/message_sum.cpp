// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/sums/detail/message_sum.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <utility>

namespace halocline::comm::detail {

namespace {
/// Number of the sum and of its values.
std::uint64_t label_of(std::uint64_t number, std::size_t values) noexcept { return number << 16 | values; }
}  // namespace

MessageSum::MessageSum(std::shared_ptr<Backend> participants, bool keep_order, std::size_t longest)
    : participants_(std::move(participants)),
      way_(participants_->size() <= most_direct ? Way::direct : (keep_order ? Way::gathered : Way::doubling)),
      rank_(participants_->rank()),
      size_(participants_->size()),
      power_(static_cast<int>(std::bit_floor(static_cast<unsigned>(size_)))),
      buffers_(std::make_unique<Buffers>()),
      pending_(way_ == Way::direct ? static_cast<std::size_t>(size_) : 1),
      total_(longest) {
  buffers_->mine.resize(longest + 1);
  buffers_->theirs.resize((longest + 1) * (way_ == Way::doubling ? 1 : static_cast<std::size_t>(size_)));
}

void MessageSum::begin(std::uint64_t number, std::span<const double> values) {
  count_ = values.size();
  words_ = 1 + std::max(count_, short_values);
  label_ = label_of(number, count_);
  buffers_->mine[0] = std::bit_cast<double>(label_);
  std::copy(values.begin(), values.end(), buffers_->mine.begin() + 1);
  if (way_ == Way::direct) {
    for (int partner = 0; partner < size_; ++partner) {
      if (partner != rank_) swap_with(partner, 0);
    }
  } else if (way_ == Way::gathered) {
    pending_[0] = participants_->begin_all_gather(
        std::as_bytes(std::span(buffers_->mine).first(words_)),
        std::as_writable_bytes(std::span(buffers_->theirs).first(words_ * static_cast<std::size_t>(size_))));
  } else {
    step_ = 0;
    partner_ = -1;
    std::copy(values.begin(), values.end(), total_.begin());
    next_step();
  }
}

bool MessageSum::test() {
  if (way_ == Way::direct) return finish_direct();
  return way_ == Way::gathered ? finish_gathered() : finish_doubling();
}

void MessageSum::swap_with(int partner, int tag) {
  pending_[way_ == Way::direct ? static_cast<std::size_t>(partner) : 0] =
      participants_->begin_swap(std::as_bytes(std::span(buffers_->mine).first(words_)),
                                std::as_writable_bytes(std::span(message_of(partner), words_)), partner, tag);
}

bool MessageSum::matches(int participant) noexcept {
  const bool same = std::bit_cast<std::uint64_t>(message_of(participant)[0]) == label_;
  if (!same) mismatched_ = participant;
  return same;
}

void MessageSum::add(const double* message) {
  for (std::size_t i = 0; i < count_; ++i) total_[i] += message[1 + i];
}

void MessageSum::add_in_order() {
  std::copy_n(message_of(0) + 1, count_, total_.begin());
  for (int i = 0; i < size_; ++i) {
    if (matches(i) && i > 0) add(message_of(i));
  }
}

bool MessageSum::finish_direct() {
  bool all_here = true;  // polls all of them, so that missing() knows which have not come
  for (std::unique_ptr<Pending>& one : pending_) {
    if (one == nullptr) continue;
    if (one->test()) {
      one.reset();
    } else {
      all_here = false;
    }
  }
  if (!all_here) return false;
  std::copy_n(buffers_->mine.begin(), words_, message_of(rank_));
  add_in_order();
  return true;
}

bool MessageSum::finish_gathered() {
  if (!pending_[0]->test()) return false;
  pending_[0].reset();
  add_in_order();
  return true;
}

/// Step 0 takes in the participants beyond the power of two. Steps 1, 2, ... double. The last step hands the sum back
/// to the participants beyond. A step in which this participant has no partner is skipped; after the last, partner_
/// is -1.
void MessageSum::next_step() {
  const int doublings = std::bit_width(static_cast<unsigned>(power_)) - 1;
  const bool extra = rank_ >= power_;
  for (; step_ <= doublings + 1; ++step_) {
    const bool outer = step_ == 0 || step_ == doublings + 1;
    if (outer && extra) partner_ = rank_ - power_;
    if (outer && !extra) partner_ = rank_ + power_ < size_ ? rank_ + power_ : -1;
    if (!outer) partner_ = extra ? -1 : rank_ ^ (1 << (step_ - 1));
    if (partner_ < 0) continue;
    std::copy_n(total_.begin(), count_, buffers_->mine.begin() + 1);
    return swap_with(partner_, step_);
  }
}

bool MessageSum::finish_doubling() {
  const int doublings = std::bit_width(static_cast<unsigned>(power_)) - 1;
  while (partner_ >= 0) {
    if (!pending_[0]->test()) return false;
    pending_[0].reset();
    if (!matches(partner_)) return true;
    if (step_ <= doublings) {
      add(message_of(partner_));
    } else if (rank_ >= power_) {
      std::copy_n(message_of(partner_) + 1, count_, total_.begin());
    }
    partner_ = -1;
    ++step_;
    next_step();
  }
  return true;
}

std::vector<int> MessageSum::missing() const {
  std::vector<int> ranks;
  if (way_ == Way::direct) {
    for (int i = 0; i < size_; ++i) {
      if (pending_[static_cast<std::size_t>(i)] != nullptr) ranks.push_back(i);
    }
  } else if (way_ == Way::doubling) {
    if (partner_ >= 0) ranks.push_back(partner_);
  } else if (pending_[0] != nullptr) {
    for (int i = 0; i < size_; ++i) {
      if (i != rank_) ranks.push_back(i);
    }
  }
  return ranks;
}

void MessageSum::abandon() noexcept {
  bool under_way = false;
  for (std::unique_ptr<Pending>& one : pending_) {
    if (one == nullptr) continue;
    under_way = true;
    one->abandon();
    one.reset();
  }
  if (!under_way) return;
  static_cast<void>(buffers_.release());
  static_cast<void>(new (std::nothrow)
                        std::shared_ptr<Backend>(participants_));  // MPI could give its context to the next group
}

}  // namespace halocline::comm::detail
