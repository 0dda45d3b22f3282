// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/bindings/handles.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "halocline/core/error.hpp"

namespace halocline::qcd::bindings {

Turn::Turn(Context& context, const char* call, For purpose) : context_(context) {
  if (context.busy.exchange(true, std::memory_order_acquire))
    throw core::InvalidArgument(
        fmt::format("{}: another call on the same lattice has not returned yet; call from one thread at a time, and "
                    "not from a progress function",
                    call));
  if (!context.failed || purpose == For::reading) return;
  context.busy.store(false, std::memory_order_release);
  throw core::Error(fmt::format("{}: the lattice cannot be used any more, because an earlier call failed ({}); destroy "
                                "it, or end the run",
                                call, context.failure));
}

Digest& Digest::word(std::uint64_t bits) noexcept {
  for (int byte = 0; byte < 8; ++byte) {
    value_ ^= (bits >> (8 * byte)) & 0xff;
    value_ *= 0x100000001b3u;
  }
  return *this;
}

Digest& Digest::operator()(std::string_view text) noexcept {
  word(text.size());
  for (const char letter : text) word(static_cast<unsigned char>(letter));
  return *this;
}

void detail::compare(const comm::Communicator& group, const char* call, const std::exception* failure,
                     std::uint64_t digest) {
  constexpr std::uint64_t mistake = 1, no_memory = 2;
  const bool memory = dynamic_cast<const std::bad_alloc*>(failure) != nullptr;
  if (group.size() == 1) {
    if (memory) throw NoMemory(0);
    return comm::raise_everywhere(group, failure);
  }
  const std::array<std::uint64_t, 2> mine{failure == nullptr ? 0 : memory ? no_memory : mistake, digest};
  const auto bytes = group.allgather(std::as_bytes(std::span(mine)));
  std::vector<std::array<std::uint64_t, 2>> all(static_cast<std::size_t>(group.size()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank][0] == no_memory) throw NoMemory(static_cast<int>(rank));
  for (const auto& one : all)
    if (one[0] != 0) return comm::raise_everywhere(group, failure);
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank][1] != all[0][1])
      throw core::InvalidArgument(fmt::format(
          "{}: rank {} gave other values than rank 0, or made another call; call the same function with the same "
          "objects, names, numbers and counts on every rank",
          call, rank));
}

int detail::no_memory(const char* call, int rank) noexcept {
  std::array<char, 160> sentence{};
  std::snprintf(sentence.data(), sentence.size(), "%s: rank %d has no memory for it; nothing was changed", call, rank);
  return comm::bindings::failed(HALOCLINE_OUT_OF_MEMORY, sentence.data());
}

int detail::status_at_hand(Context& context) noexcept {
  const int status = comm::bindings::failure_at_hand();
  if (status != HALOCLINE_FAILED && status != HALOCLINE_OUT_OF_MEMORY) return status;
  try {
    throw;
  } catch (const core::NotFinite&) {
    return status;  // every rank has met it
  } catch (...) {
  }
  if (context.group().size() == 1 || context.failed) return status;
  try {
    context.failure = halocline_last_error();
  } catch (...) {
    context.failure = "out of memory";  // short enough to need none
  }
  context.failed = true;
  return status;
}

void same_lattice(const ContextPointer& one, const ContextPointer& other, const char* call) {
  if (one != other)
    throw core::InvalidArgument(
        fmt::format("{}: objects of two different lattices were given; make both on the same halocline_lattice", call));
}

void check_count(std::size_t count, std::size_t expected, const char* call, const char* of) {
  if (count != expected)
    throw core::InvalidArgument(
        fmt::format("{}: {} with {} real numbers given, expected {} for the local sites of this "
                    "process",
                    call, of, count, expected));
}

}  // namespace halocline::qcd::bindings

const halocline::qcd::GaugeField& halocline_gauge::present(const char* call) const {
  if (!links)
    throw halocline::core::InvalidArgument(
        fmt::format("{}: the gauge field has no links yet; call halocline_gauge_set, _load or _start first", call));
  return *links;
}
