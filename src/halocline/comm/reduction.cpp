// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gather to all, add in rank order.

#include "halocline/comm/reduction.hpp"

#include "halocline/comm/detail/backend.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace halocline::comm {

Reduction::Reduction(Communicator group)
    : group_(std::move(group)),
      mine_(std::make_unique<std::array<double, most>>()),
      all_(most * static_cast<std::size_t>(group_.size())) {}

Reduction::Reduction(Reduction&&) noexcept = default;

Reduction& Reduction::operator=(Reduction&& other) noexcept {
  gather_.reset();  // ends what is under way while its buffers still stand
  group_ = std::move(other.group_);
  mine_ = std::move(other.mine_);
  all_ = std::move(other.all_);
  under_way_ = std::exchange(other.under_way_, {});
  gather_ = std::move(other.gather_);
  return *this;
}

Reduction::~Reduction() = default;

void Reduction::take(std::span<const double> values) {
  if (values.empty() || values.size() > most) {
    throw core::InvalidArgument("reduction of " + std::to_string(values.size()) +
                                " doubles, expected 1 to 8; Communicator::sum takes more");
  }
  if (!under_way_.empty()) throw core::InvalidArgument("reduction begun while another is under way; call wait() first");
  std::copy(values.begin(), values.end(), mine_->begin());
}

void Reduction::add_up(std::span<double> values) const {
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) {
    double sum = all_[i];
    for (std::size_t rank = 1; rank < static_cast<std::size_t>(group_.size()); ++rank) sum += all_[rank * n + i];
    values[i] = sum;
  }
}

void Reduction::sum(std::span<double> values) {
  take(values);
  if (group_.size() == 1) return;
  const std::size_t ranks = static_cast<std::size_t>(group_.size());
  group_.backend().all_gather(std::as_bytes(std::span(*mine_).first(values.size())),
                              std::as_writable_bytes(std::span(all_).first(values.size() * ranks)));
  add_up(values);
}

void Reduction::begin(std::span<double> values) {
  take(values);
  const std::size_t ranks = static_cast<std::size_t>(group_.size());
  gather_ = group_.backend().begin_all_gather(std::as_bytes(std::span(*mine_).first(values.size())),
                                              std::as_writable_bytes(std::span(all_).first(values.size() * ranks)));
  under_way_ = values;
}

void Reduction::wait() {
  if (under_way_.empty()) throw core::InvalidArgument("reduction waited for, but none has begun; call begin() first");
  gather_->wait();
  add_up(under_way_);
  under_way_ = {};
}

}  // namespace halocline::comm
