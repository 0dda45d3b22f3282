// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/vector_length.hpp"

#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"

#include <array>
#include <cstring>
#include <map>

#include <fmt/format.h>

namespace halocline::comm {
namespace {

/// "ranks 0, 1, 2 and 509 others", or "rank 3"
std::string ranks_text(const std::vector<int>& ranks) {
  constexpr std::size_t most = 4;
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t i = 0; i < ranks.size() && i < most; ++i) text += fmt::format("{} {}", i == 0 ? "" : ",", ranks[i]);
  if (ranks.size() > most) text += fmt::format(" and {} more", ranks.size() - most);
  return text;
}

}  // namespace

void check_vector_lengths(const Communicator& group, int bits, int compiled) {
  const std::array<std::int32_t, 2> mine{bits, compiled};
  const auto bytes = group.allgather(std::as_bytes(std::span(mine)));
  std::map<int, std::vector<int>> ranks_of;
  bool right = true;
  for (int rank = 0; rank < group.size(); ++rank) {
    std::array<std::int32_t, 2> theirs{};
    std::memcpy(theirs.data(), bytes.data() + static_cast<std::size_t>(rank) * sizeof(theirs), sizeof(theirs));
    ranks_of[theirs[0]].push_back(rank);
    right = right && theirs[0] == theirs[1];
  }
  if (ranks_of.size() == 1 && right) return;
  std::string lengths;
  for (const auto& [length, ranks] : ranks_of)
    lengths += fmt::format("{}{} bits on {}", lengths.empty() ? "" : ", ", length, ranks_text(ranks));
  throw core::InvalidArgument(fmt::format(
      "this Halocline is compiled for SVE registers of {} bits, and they have {}; start it on machines whose "
      "registers have the compiled length, or build it with -DHALOCLINE_ISA=portable",
      compiled, lengths));
}

void check_vector_lengths(const Communicator& group) {
  if constexpr (core::sve_bits > 0) check_vector_lengths(group, core::sve_register_bits(), core::sve_bits);
}

}  // namespace halocline::comm
