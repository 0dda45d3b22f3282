// SPDX-License-Identifier: Apache-2.0
/// @file
/// Persistent MPI requests as put + flag.

#include "halocline/comm/mpi_persistent.hpp"

#if HALOCLINE_HAVE_MPI

#include "halocline/comm/detail/boxes.hpp"
#include "halocline/comm/mpi.hpp"
#include "halocline/core/error.hpp"

#include <chrono>
#include <climits>
#include <string>
#include <thread>
#include <vector>

namespace halocline::comm {
namespace {

/// A persistent request, and whether it is under way.
struct Line {
  MPI_Request request = MPI_REQUEST_NULL;
  bool running = false;
  std::uint64_t flag = 0;  // of an inbox: what arrived last
};

/// How long a destructor helps its neighbours to finish before it leaves them to MPI.
constexpr std::chrono::seconds patience{1};

}  // namespace

struct MpiPersistentTransport::State {
  detail::Boxes boxes;
  int slots = 0;
  int rank = 0;
  bool abandoned = false;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Line> sends, receives;  // shape (faces, slots)

  Line& line(std::vector<Line>& lines, int face, int slot) {
    return lines[static_cast<std::size_t>(face) * static_cast<std::size_t>(slots) + static_cast<std::size_t>(slot)];
  }
  void start(Line& line) {
    check_mpi(MPI_Start(&line.request), "MPI_Start", rank);
    line.running = true;
  }
  /// True once the request is not under way.
  bool finished(Line& line) {
    if (!line.running) return true;
    int done = 0;
    check_mpi(MPI_Test(&line.request, &done, MPI_STATUS_IGNORE), "MPI_Test", rank);
    if (done != 0) line.running = false;
    return done != 0;
  }
  bool close(Line& line, bool cancel, std::chrono::steady_clock::time_point until);
};

/// Frees the request; false when a neighbour has not played its part in time. Called by the destructor only, so a
/// failing MPI call is taken as an end.
bool MpiPersistentTransport::State::close(Line& line, bool cancel, std::chrono::steady_clock::time_point until) {
  if (line.request == MPI_REQUEST_NULL) return true;
  if (line.running && cancel) MPI_Cancel(&line.request);
  int done = line.running ? 0 : 1;
  while (done == 0) {
    if (MPI_Test(&line.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done == 0 && std::chrono::steady_clock::now() > until) break;
    if (done == 0) std::this_thread::yield();
  }
  MPI_Request_free(&line.request);  // of a send under way: MPI frees it when it ends
  return done != 0;
}

MpiPersistentTransport::MpiPersistentTransport() = default;

MpiPersistentTransport::~MpiPersistentTransport() {
  if (state_ == nullptr || state_->comm == MPI_COMM_NULL) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  const auto until = std::chrono::steady_clock::now() + patience;
  bool clean = !state_->abandoned;
  for (Line& line : state_->sends) clean = state_->close(line, false, until) && clean;
  for (Line& line : state_->receives) clean = state_->close(line, true, until) && clean;
  if (clean) {
    MPI_Comm_free(&state_->comm);
  } else {
    // MPI may still read or write the boxes, so they are given away. The communicator is not freed either: MPI would
    // give its context to the next one, which then received what is still under way in this one.
    [[maybe_unused]] State* const left_to_mpi = state_.release();
  }
}

void MpiPersistentTransport::open(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, int slots) {
  auto state = std::make_unique<State>();
  state->rank = grid.rank();
  state->slots = slots;
  on_every_rank(grid.communicator(), [&] {
    state->boxes = detail::Boxes(grid, face_bytes, slots);
    if (grid.size() > 1 && mpi_comm(grid.communicator()) == MPI_COMM_NULL) {
      throw core::InvalidArgument("transport mpi_persistent needs a group that stands on MPI; use comm::world()");
    }
    for (int face = 0; face < state->boxes.faces(); ++face) {
      if (state->boxes.active(face) && state->boxes.message_bytes(face) > INT_MAX) {
        throw core::InvalidArgument("transport mpi_persistent carries at most 2 GiB a message, and face " +
                                    std::to_string(face) + " has " +
                                    std::to_string(face_bytes[static_cast<std::size_t>(face)]) + " bytes");
      }
    }
  });
  const std::size_t lines = static_cast<std::size_t>(state->boxes.faces()) * static_cast<std::size_t>(slots);
  state->sends.resize(lines);
  state->receives.resize(lines);
  state_ = std::move(state);
  State& s = *state_;
  if (grid.size() == 1) return;

  check_mpi(MPI_Comm_dup(mpi_comm(grid.communicator()), &s.comm), "MPI_Comm_dup", s.rank);
  for (int face = 0; face < s.boxes.faces(); ++face) {
    if (!s.boxes.active(face) || s.boxes.to_self(face)) continue;
    const int neighbour = grid.neighbour(Face::from_index(face));
    const int bytes = static_cast<int>(s.boxes.message_bytes(face));
    for (int slot = 0; slot < slots; ++slot) {
      const int tag_there = (face ^ 1) * slots + slot, tag_here = face * slots + slot;
      check_mpi(MPI_Send_init(s.boxes.outbox(face, slot), bytes, MPI_BYTE, neighbour, tag_there, s.comm,
                              &s.line(s.sends, face, slot).request),
                "MPI_Send_init", s.rank);
      Line& receive = s.line(s.receives, face, slot);
      check_mpi(
          MPI_Recv_init(s.boxes.inbox(face, slot), bytes, MPI_BYTE, neighbour, tag_here, s.comm, &receive.request),
          "MPI_Recv_init", s.rank);
      s.start(receive);
    }
  }
}

std::byte* MpiPersistentTransport::outbox(int face, int slot) noexcept { return state_->boxes.outbox(face, slot); }

const std::byte* MpiPersistentTransport::inbox(int face, int slot) const noexcept {
  return state_->boxes.inbox(face, slot);
}

void MpiPersistentTransport::put(int face, int slot, std::uint64_t flag) {
  State& s = *state_;
  s.boxes.set_flag(s.boxes.outbox(face, slot), face, flag);
  if (!s.boxes.to_self(face)) s.start(s.line(s.sends, face, slot));
}

std::uint64_t MpiPersistentTransport::arrived_flag(int face, int slot) {
  State& s = *state_;
  const std::byte* box = s.boxes.inbox(face, slot);
  if (s.boxes.to_self(face)) return s.boxes.flag(box, face);
  Line& receive = s.line(s.receives, face, slot);
  if (receive.running && s.finished(receive)) receive.flag = s.boxes.flag(box, face);
  return receive.flag;
}

void MpiPersistentTransport::release(int face, int slot) {
  State& s = *state_;
  if (!s.boxes.to_self(face)) s.start(s.line(s.receives, face, slot));
}

bool MpiPersistentTransport::sent(int face, int slot) {
  State& s = *state_;
  return s.boxes.to_self(face) || s.finished(s.line(s.sends, face, slot));
}

void MpiPersistentTransport::abandon() noexcept {
  if (state_ != nullptr) state_->abandoned = true;
}

}  // namespace halocline::comm

#endif
