// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `mpi_persistent`: MPI requests that are made once and started every step.
///
/// The flag is the last word of the message. A receive stands ready in every slot: release() starts the next one, a
/// whole step before its message can come, so no message is ever unexpected and large ones go straight to their place.
/// Each transport has its own duplicate of the communicator; the tag is the receiver's face and slot. Where a process
/// is its own neighbour, nothing goes through MPI.

#include "halocline/core/config.hpp"

#if HALOCLINE_HAVE_MPI

#include "halocline/comm/transport.hpp"

#include <memory>

namespace halocline::comm {

class MpiPersistentTransport final : public Transport {
public:
  MpiPersistentTransport();
  ~MpiPersistentTransport() override;

  std::string_view name() const noexcept override { return "mpi_persistent"; }
  /// @throws InvalidArgument  a message above 2 GiB, or several processes that do not stand on MPI
  void open(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, int slots) override;
  std::byte* outbox(int face, int slot) noexcept override;
  const std::byte* inbox(int face, int slot) const noexcept override;
  void put(int face, int slot, std::uint64_t flag) override;
  std::uint64_t arrived_flag(int face, int slot) override;
  void release(int face, int slot) override;
  bool sent(int face, int slot) override;
  void abandon() noexcept override;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::comm

#endif
