// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Results of one process, for tests that compare the ranks with it.

#include <cstdint>
#include <span>
#include <utility>

#include "halocline/comm/group/communicator.hpp"

namespace halocline::test {

/// What `make()` returns, a vector of plain numbers. The first rank alone makes it, for the others would take its core.
template <class Make>
auto of_first_rank(const comm::Communicator& world, const Make& make) {
  decltype(make()) numbers;
  if (world.rank() == 0) numbers = make();
  auto count = static_cast<std::int64_t>(numbers.size());
  world.broadcast(std::as_writable_bytes(std::span(&count, 1)), 0);
  numbers.resize(static_cast<std::size_t>(count));
  world.broadcast(std::as_writable_bytes(std::span(numbers)), 0);
  return numbers;
}

}  // namespace halocline::test
