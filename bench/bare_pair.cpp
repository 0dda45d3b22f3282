// SPDX-License-Identifier: Apache-2.0
#include "bench/bare_pair.hpp"

#include <sched.h>

#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pause.hpp"

namespace halocline::bench {

void BarePair::wait() noexcept {
  const std::uint64_t* from = flag(in_[slot(arrived_)]);
  // On a machine with fewer free cores than processes, the other process may need this core.
  for (int spins = 0; __atomic_load_n(from, __ATOMIC_ACQUIRE) != arrived_ + 1; ++spins) {
    // Without the pause, each look takes the flag and its neighbouring lines from the sender, which doubles the time at
    // 16 KiB.
    core::pause();
    if (spins > 20000) sched_yield();
  }
  ++arrived_;
}

#if HALOCLINE_HAVE_MPI

namespace {

constexpr std::size_t page = 4096;

std::byte* next_page(std::byte* from) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  return from + (page - address % page) % page;
}

}  // namespace

struct BarePair::Window {
  explicit Window(MPI_Comm comm) : mpi(comm) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (window != MPI_WIN_NULL && ended == 0) MPI_Win_free(&window);
  }
  MPI_Comm mpi;
  MPI_Win window = MPI_WIN_NULL;
};

std::string BarePair::unavailable_reason(const comm::Communicator& group) {
  if (group.size() != 2) return "it takes two processes";
  const MPI_Comm mpi = comm::mpi_comm(group);
  if (mpi == MPI_COMM_NULL) return "the group of processes does not stand on MPI";
  MPI_Comm node = MPI_COMM_NULL;
  comm::check_mpi(MPI_Comm_split_type(mpi, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type",
                  group.rank());
  int size = 0;
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return size == 2 ? "" : "the processes are not on one machine";
}

BarePair::BarePair(const comm::Communicator& group, std::size_t bytes) : bytes_(bytes) {
  if (const std::string why = unavailable_reason(group); !why.empty())
    throw core::InvalidArgument("a bare hand-over cannot be measured: " + why);
  window_ = std::make_unique<Window>(comm::mpi_comm(group));
  // Each box has its own pages, so that no line belongs to two boxes. MPI's windows begin at any address; the first
  // whole page of a part is the same one in both processes.
  const std::size_t box = (bytes + sizeof(std::uint64_t) + page - 1) / page * page;
  std::byte* mine = nullptr;
  const int rank = group.rank();
  comm::check_mpi(MPI_Win_allocate_shared(static_cast<MPI_Aint>(2 * box + page), 1, MPI_INFO_NULL, window_->mpi, &mine,
                                          &window_->window),
                  "MPI_Win_allocate_shared", rank);
  MPI_Aint size = 0;
  int unit = 0;
  std::byte* theirs = nullptr;
  comm::check_mpi(MPI_Win_shared_query(window_->window, 1 - rank, &size, &unit, &theirs), "MPI_Win_shared_query", rank);
  for (std::size_t slot = 0; slot < 2; ++slot) {
    in_[slot] = next_page(mine) + slot * box;
    out_[slot] = next_page(theirs) + slot * box;
    __atomic_store_n(flag(in_[slot]), 0, __ATOMIC_RELEASE);
  }
  group.barrier();
}

#else

struct BarePair::Window {};

std::string BarePair::unavailable_reason(const comm::Communicator&) { return "this Halocline is built without MPI"; }
BarePair::BarePair(const comm::Communicator& group, std::size_t bytes) : bytes_(bytes) {
  throw core::InvalidArgument("a bare hand-over cannot be measured: " + unavailable_reason(group));
}

#endif

BarePair::BarePair(BarePair&&) noexcept = default;
BarePair::~BarePair() = default;

}  // namespace halocline::bench
