// SPDX-License-Identifier: Apache-2.0
/// @file
/// Persistent MPI requests as put + flag.

#include "halocline/comm/transports/mpi_persistent/mpi_persistent.hpp"

#include "halocline/comm/mpi/end.hpp"
#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/comm/transports/boxes.hpp"
#include "halocline/core/error.hpp"

#include <chrono>
#include <climits>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace halocline::comm {
namespace {

/// The receive of a slot.
struct Receive {
  MPI_Request request = MPI_REQUEST_NULL;
  bool running = false;
  std::uint64_t flag = 0;  // of the message that arrived last
};

/// The sends of a slot, one request a length; at most one of them is running.
struct Send {
  struct Length {
    std::size_t bytes;
    MPI_Request request;
  };
  std::vector<Length> lengths;
  MPI_Request* running = nullptr;
};

/// How long a destructor waits for its neighbours to finish before it leaves the messages to MPI.
constexpr std::chrono::seconds patience{1};

}  // namespace

struct MpiPersistentTransport::State {
  PersistentCalls calls{};
  detail::Boxes boxes;
  int slots = 0;
  int rank = 0;
  bool abandoned = false;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> neighbours;              // shape (faces,)
  std::vector<Send> sends;                  // shape (faces, slots)
  std::vector<Receive> receives;            // shape (faces, slots)
  std::vector<std::uint64_t> acknowledged;  // shape (faces,); only where a process is its own neighbour

  std::size_t at(int face, int slot) const noexcept {
    return static_cast<std::size_t>(face) * static_cast<std::size_t>(slots) + static_cast<std::size_t>(slot);
  }
  void start(MPI_Request& request) { check_mpi(calls.start(&request), "the start of a persistent request", rank); }
  bool test(MPI_Request& request) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test", rank);
    return done != 0;
  }
  MPI_Request& request(Send& send, int face, int slot, std::size_t bytes);
  bool finished(Send& send) {
    if (send.running != nullptr && test(*send.running)) send.running = nullptr;
    return send.running == nullptr;
  }
};

namespace {

std::size_t flag_place(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }
std::size_t message_bytes(std::size_t bytes) noexcept { return flag_place(bytes) + sizeof(std::uint64_t); }

/// Frees the request. False when it did not complete in time, or MPI failed. Called by the destructor only, so it
/// does not throw.
bool close_request(MPI_Request& request, bool running, bool cancel, std::chrono::steady_clock::time_point until) {
  if (request == MPI_REQUEST_NULL) return true;
  if (running && cancel) MPI_Cancel(&request);
  int done = running ? 0 : 1;
  while (done == 0) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done == 0 && std::chrono::steady_clock::now() > until) break;
    if (done == 0) std::this_thread::yield();
  }
  MPI_Request_free(&request);  // of a send under way: MPI frees it when it ends
  return done != 0;
}

}  // namespace

MPI_Request& MpiPersistentTransport::State::request(Send& send, int face, int slot, std::size_t bytes) {
  for (Send::Length& length : send.lengths) {
    if (length.bytes == bytes) return length.request;
  }
  MPI_Request made = MPI_REQUEST_NULL;
  const int tag_there = (face ^ 1) * slots + slot;
  check_mpi(calls.send_init(boxes.outbox(face, slot), static_cast<int>(message_bytes(bytes)),
                            neighbours[static_cast<std::size_t>(face)], tag_there, comm, &made),
            "the request of a persistent send", rank);
  send.lengths.push_back({bytes, made});  // this slot sends nothing now, so `running` holds no pointer into the array
  return send.lengths.back().request;
}

std::string mpi_persistent_unavailable_reason(const ProcessGrid* grid) {
  if (grid == nullptr || grid->size() == 1 || mpi_comm(grid->communicator()) != MPI_COMM_NULL) return {};
  return "needs a group that stands on MPI";
}

PersistentCalls standard_persistent_calls() noexcept {
  return {
      .transport = "mpi_persistent",
      .send_init = [](const void* buffer, int bytes, int to, int tag, MPI_Comm comm,
                      MPI_Request* request) { return MPI_Send_init(buffer, bytes, MPI_BYTE, to, tag, comm, request); },
      .receive_init =
          [](void* buffer, int bytes, int from, int tag, MPI_Comm comm, MPI_Request* request) {
            return MPI_Recv_init(buffer, bytes, MPI_BYTE, from, tag, comm, request);
          },
      .start = [](MPI_Request* request) { return MPI_Start(request); }};
}

MpiPersistentTransport::MpiPersistentTransport(const PersistentCalls& calls) : calls_(calls) {}

MpiPersistentTransport::~MpiPersistentTransport() {
  if (state_ == nullptr || state_->comm == MPI_COMM_NULL) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  const auto until = std::chrono::steady_clock::now() + patience;
  bool clean = !state_->abandoned;
  for (Send& send : state_->sends) {
    for (Send::Length& length : send.lengths) {
      clean = close_request(length.request, send.running == &length.request, false, until) && clean;
    }
  }
  for (Receive& receive : state_->receives)
    clean = close_request(receive.request, receive.running, true, until) && clean;
  if (clean) {
    MPI_Comm_free(&state_->comm);
  } else {
    // MPI may still read or write the boxes, so they are never freed. The communicator is not freed either: MPI would
    // give its context to the next communicator, which would then receive the messages that are still under way in
    // this one.
    [[maybe_unused]] State* const left_to_mpi = state_.release();
    detail::note_unfinished_requests();
  }
}

void MpiPersistentTransport::open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) {
  auto state = std::make_unique<State>();
  state->calls = calls_;
  state->rank = grid.rank();
  state->slots = slots;
  on_every_rank(grid.communicator(), [&] {
    if (const std::string why = mpi_persistent_unavailable_reason(&grid); !why.empty()) {
      throw core::InvalidArgument("transport " + std::string(name()) + " " + why + "; use comm::world()");
    }
    for (std::size_t face = 0; face < capacity.size(); ++face) {
      if (message_bytes(capacity[face]) > INT_MAX) {
        throw core::InvalidArgument("transport " + std::string(name()) + " carries at most 2 GiB a message, and face " +
                                    std::to_string(face) + " has " + std::to_string(capacity[face]) + " bytes");
      }
    }
    state->boxes = detail::Boxes(grid, capacity, slots);
  });
  const std::size_t lines = static_cast<std::size_t>(state->boxes.faces()) * static_cast<std::size_t>(slots);
  state->sends.resize(lines);
  state->receives.resize(lines);
  state->acknowledged.assign(capacity.size(), 0);
  for (int face = 0; face < state->boxes.faces(); ++face) {
    state->neighbours.push_back(grid.neighbour(Face::from_index(face)));
  }
  state_ = std::move(state);
  State& s = *state_;
  if (grid.size() == 1) return;

  check_mpi(MPI_Comm_dup(mpi_comm(grid.communicator()), &s.comm), "MPI_Comm_dup", s.rank);
  for (int face = 0; face < s.boxes.faces(); ++face) {
    if (!s.boxes.active(face) || s.boxes.to_self(face)) continue;
    const int bytes = static_cast<int>(message_bytes(capacity[static_cast<std::size_t>(face)]));
    for (int slot = 0; slot < slots; ++slot) {
      const int tag_here = face * slots + slot;
      Receive& receive = s.receives[s.at(face, slot)];
      check_mpi(s.calls.receive_init(s.boxes.inbox(face, slot), bytes, s.neighbours[static_cast<std::size_t>(face)],
                                     tag_here, s.comm, &receive.request),
                "the request of a persistent receive", s.rank);
      s.start(receive.request);
      receive.running = true;
    }
  }
}

std::byte* MpiPersistentTransport::outbox(int face, int slot, std::size_t) noexcept {
  return state_->boxes.outbox(face, slot);
}

const std::byte* MpiPersistentTransport::inbox(int face, int slot, std::size_t) const noexcept {
  return state_->boxes.inbox(face, slot);
}

void MpiPersistentTransport::put(int face, int slot, std::size_t bytes, std::uint64_t flag) {
  State& s = *state_;
  std::memcpy(s.boxes.outbox(face, slot) + flag_place(bytes), &flag, sizeof(flag));
  if (s.boxes.to_self(face)) {
    s.receives[s.at(face ^ 1, slot)].flag = flag;
    return;
  }
  Send& send = s.sends[s.at(face, slot)];
  MPI_Request& request = s.request(send, face, slot, bytes);
  s.start(request);
  send.running = &request;
}

std::uint64_t MpiPersistentTransport::arrived_flag(int face, int slot, std::size_t bytes) {
  State& s = *state_;
  Receive& receive = s.receives[s.at(face, slot)];
  if (receive.running && s.test(receive.request)) {
    receive.running = false;
    std::memcpy(&receive.flag, s.boxes.inbox(face, slot) + flag_place(bytes), sizeof(receive.flag));
  }
  return receive.flag;
}

void MpiPersistentTransport::release(int face, int slot) {
  State& s = *state_;
  if (s.boxes.to_self(face)) return;
  Receive& receive = s.receives[s.at(face, slot)];
  s.start(receive.request);
  receive.running = true;
}

bool MpiPersistentTransport::sent(int face, int slot) {
  State& s = *state_;
  return s.boxes.to_self(face) || s.finished(s.sends[s.at(face, slot)]);
}

void MpiPersistentTransport::acknowledge(int face, std::uint64_t count) {
  state_->acknowledged[static_cast<std::size_t>(face ^ 1)] = count;
}

std::uint64_t MpiPersistentTransport::acknowledged(int face) {
  return state_->acknowledged[static_cast<std::size_t>(face)];
}

bool MpiPersistentTransport::paced(int face) const noexcept { return !state_->boxes.to_self(face); }
bool MpiPersistentTransport::direct(int face) const noexcept { return state_->boxes.to_self(face); }

void MpiPersistentTransport::abandon() noexcept {
  if (state_ != nullptr) state_->abandoned = true;
}

TransportKind mpi_persistent_transport() {
  return {
      .name = "mpi_persistent",
      .unavailable_reason = mpi_persistent_unavailable_reason,
      .make = [](const TransportOptions&) { return std::make_unique<MpiPersistentTransport>(); },
  };
}

}  // namespace halocline::comm
