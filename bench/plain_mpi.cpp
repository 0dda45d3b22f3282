// SPDX-License-Identifier: Apache-2.0
#include "bench/plain_mpi.hpp"

#include <vector>

#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"

#if HALOCLINE_HAVE_MPI

namespace halocline::bench {

using comm::Face;
using comm::FaceMask;

struct PlainMpi::State {
  MPI_Comm mpi = MPI_COMM_NULL;
  int rank = 0;
  std::vector<int> neighbours;     ///< shape (2 ndim,)
  std::vector<std::size_t> bytes;  ///< shape (2 ndim,)
  std::vector<core::AlignedArray<std::byte>> in, out;
  std::vector<MPI_Request> receives, sends;

  std::size_t at(Face face) const noexcept { return static_cast<std::size_t>(face.index()); }
  bool to_self(std::size_t face) const noexcept { return neighbours[face] == rank; }
};

namespace {

bool contains(FaceMask faces, std::size_t face) noexcept { return (faces >> face & 1u) != 0; }

}  // namespace

std::string PlainMpi::unavailable_reason(const comm::ProcessGrid& grid) {
  return comm::mpi_comm(grid.communicator()) == MPI_COMM_NULL ? "the group of processes does not stand on MPI" : "";
}

PlainMpi::PlainMpi(const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes)
    : state_(std::make_unique<State>()) {
  if (const std::string why = unavailable_reason(grid); !why.empty()) throw core::InvalidArgument("plain MPI: " + why);
  State& s = *state_;
  s.mpi = comm::mpi_comm(grid.communicator());
  s.rank = grid.rank();
  for (int index = 0; index < 2 * grid.ndim(); ++index) {
    const Face face = Face::from_index(index);
    s.neighbours.push_back(grid.neighbour(face));
    const std::size_t bytes = s.neighbours.back() < 0 ? 0 : face_bytes[static_cast<std::size_t>(face.axis)];
    s.bytes.push_back(bytes);
    s.in.emplace_back(static_cast<std::int64_t>(bytes));
    s.out.emplace_back(static_cast<std::int64_t>(s.to_self(s.at(face)) ? 0 : bytes));
  }
  s.receives.assign(s.bytes.size(), MPI_REQUEST_NULL);
  s.sends.assign(s.bytes.size(), MPI_REQUEST_NULL);
}
PlainMpi::PlainMpi(PlainMpi&&) noexcept = default;
PlainMpi::~PlainMpi() = default;

bool PlainMpi::active(Face face) const noexcept { return state_->bytes[state_->at(face)] > 0; }

std::span<std::byte> PlainMpi::send_buffer(Face face) noexcept {
  State& s = *state_;
  auto& box = s.to_self(s.at(face)) ? s.in[s.at(face.opposite())] : s.out[s.at(face)];
  return {box.data(), s.bytes[s.at(face)]};
}

std::span<const std::byte> PlainMpi::recv_buffer(Face face) const noexcept {
  const State& s = *state_;
  return {s.in[s.at(face)].data(), s.bytes[s.at(face)]};
}

// The tag is the sender's face. With two processes along an axis both faces have the same neighbour.

void PlainMpi::receive(FaceMask faces) {
  State& s = *state_;
  for (std::size_t face = 0; face < s.bytes.size(); ++face) {
    const std::size_t from = face ^ 1;
    if (!contains(faces, from) || s.bytes[face] == 0 || s.to_self(face)) continue;
    comm::check_mpi(MPI_Irecv(s.in[face].data(), static_cast<int>(s.bytes[face]), MPI_BYTE, s.neighbours[face],
                              static_cast<int>(from), s.mpi, &s.receives[face]),
                    "MPI_Irecv", s.rank);
  }
}

void PlainMpi::post(FaceMask faces) {
  State& s = *state_;
  for (std::size_t face = 0; face < s.bytes.size(); ++face) {
    if (!contains(faces, face) || s.bytes[face] == 0 || s.to_self(face)) continue;
    comm::check_mpi(MPI_Isend(s.out[face].data(), static_cast<int>(s.bytes[face]), MPI_BYTE, s.neighbours[face],
                              static_cast<int>(face), s.mpi, &s.sends[face]),
                    "MPI_Isend", s.rank);
  }
}

void PlainMpi::wait(Face face) {
  comm::check_mpi(MPI_Wait(&state_->receives[state_->at(face)], MPI_STATUS_IGNORE), "MPI_Wait", state_->rank);
}

void PlainMpi::wait_all(FaceMask faces) {
  State& s = *state_;
  if (faces == comm::all_faces) {
    comm::check_mpi(MPI_Waitall(static_cast<int>(s.receives.size()), s.receives.data(), MPI_STATUSES_IGNORE),
                    "MPI_Waitall", s.rank);
    return;
  }
  for (std::size_t face = 0; face < s.bytes.size(); ++face)
    if (contains(faces, face)) wait(Face::from_index(static_cast<int>(face)));
}

void PlainMpi::wait_sent() {
  comm::check_mpi(MPI_Waitall(static_cast<int>(state_->sends.size()), state_->sends.data(), MPI_STATUSES_IGNORE),
                  "MPI_Waitall", state_->rank);
}

}  // namespace halocline::bench

#else

namespace halocline::bench {

struct PlainMpi::State {};

namespace {
constexpr const char* absent = "this Halocline is built without MPI";
}

std::string PlainMpi::unavailable_reason(const comm::ProcessGrid&) { return absent; }
PlainMpi::PlainMpi(const comm::ProcessGrid&, std::span<const std::size_t>) {
  throw core::InvalidArgument(std::string("plain MPI: ") + absent);
}
PlainMpi::PlainMpi(PlainMpi&&) noexcept = default;
PlainMpi::~PlainMpi() = default;
bool PlainMpi::active(comm::Face) const noexcept { return false; }
std::span<std::byte> PlainMpi::send_buffer(comm::Face) noexcept { return {}; }
std::span<const std::byte> PlainMpi::recv_buffer(comm::Face) const noexcept { return {}; }
void PlainMpi::receive(comm::FaceMask) {}
void PlainMpi::post(comm::FaceMask) {}
void PlainMpi::wait(comm::Face) {}
void PlainMpi::wait_all(comm::FaceMask) {}
void PlainMpi::wait_sent() {}

}  // namespace halocline::bench

#endif
