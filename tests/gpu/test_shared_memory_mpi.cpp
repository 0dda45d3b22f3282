// SPDX-License-Identifier: Apache-2.0
#include "halocline/gpu/detail/shared_memory.hpp"

#include "gpu/devices.hpp"
#include "halocline/comm/group/communicator.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

using namespace halocline;
using gpu::detail::MappedMemory;
using gpu::detail::MemoryHandle;
using gpu::detail::SharedMemory;

namespace {

/// The handles of all ranks.
std::vector<MemoryHandle> gather(const comm::Communicator& node, const MemoryHandle& mine) {
  std::vector<MemoryHandle> all(static_cast<std::size_t>(node.size()));
  for (int rank = 0; rank < node.size(); ++rank) {
    MemoryHandle& handle = all[static_cast<std::size_t>(rank)];
    if (rank == node.rank()) handle = mine;
    node.broadcast(std::as_writable_bytes(std::span(&handle, 1)), rank);
  }
  return all;
}

/// Names of segments in /dev/shm that were made by this process.
int names_left() {
  const std::string mine = "halocline-" + std::to_string(getpid()) + "-";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    count += entry.path().filename().string().starts_with(mine);
  return count;
}

}  // namespace

TEST_CASE("shared memory: what a neighbour stores is found by the owner, and the other way round") {
  const comm::Communicator node = comm::world().split_by_node();
  const int me = node.rank(), n = node.size();
  const int names = names_left();
  for (const gpu::Device& device : testing::memory_devices(me)) {
    CAPTURE(device.describe());
    gpu::Stream stream(device);
    const auto count = static_cast<std::size_t>(n);
    SharedMemory own(device, count * sizeof(double));
    CHECK(reinterpret_cast<std::uintptr_t>(own.data()) % 256 == 0);
    CHECK(device.memory().ours == static_cast<std::int64_t>(count * sizeof(double)));
    std::vector<MappedMemory> mapped;
    for (const MemoryHandle& handle : gather(node, own.handle())) mapped.emplace_back(device, handle);
    CHECK(mapped[static_cast<std::size_t>(me)].data() == own.data());
    node.barrier();
    own.seal();
    CHECK(names_left() == names);  // a process that is killed now leaves nothing
    CHECK_THROWS_AS(own.handle(), core::InvalidArgument);

    for (int rank = 0; rank < n; ++rank) {  // place `me` of everybody's memory
      const double value = 100.0 * me + rank;
      stream.copy_to_device(mapped[static_cast<std::size_t>(rank)].data() +
                                static_cast<std::size_t>(me) * sizeof(double),
                            &value, sizeof value);
      stream.synchronize();
    }
    node.barrier();
    for (int rank = 0; rank < n; ++rank) {
      std::vector<double> there(count);
      stream.copy_to_host(there.data(), mapped[static_cast<std::size_t>(rank)].data(), count * sizeof(double));
      stream.synchronize();
      for (int writer = 0; writer < n; ++writer)
        CHECK(there[static_cast<std::size_t>(writer)] == 100.0 * writer + rank);
    }
    node.barrier();
    mapped.clear();
    node.barrier();
    own = SharedMemory();
    CHECK(device.memory().ours == 0);
  }
}

TEST_CASE("shared memory: a name lives as long as the memory, and no longer") {
  const comm::Communicator node = comm::world().split_by_node();
  const gpu::Device device = gpu::Device::host_executor();
  const int names = names_left();
  MemoryHandle handle;
  {
    const SharedMemory memory(device, 1000);
    handle = memory.handle();
    CHECK(names_left() == names + 1);
  }
  CHECK(names_left() == names);
  const auto all = gather(node, handle);
  if (node.size() > 1)
    CHECK_THROWS_WITH_AS(MappedMemory(device, all[static_cast<std::size_t>((node.rank() + 1) % node.size())]),
                         doctest::Contains("shm_open"), core::Error);
}

TEST_CASE("shared memory: no bytes, and memory of another kind of device, are refused") {
  const gpu::Device device = gpu::Device::host_executor();
  CHECK_THROWS_AS((void)SharedMemory(device, 0).handle(), core::InvalidArgument);
  SharedMemory memory(device, 10);
  MemoryHandle handle = memory.handle();
  handle.backend = static_cast<std::int32_t>(gpu::Backend::cuda);
  CHECK_THROWS_WITH_AS(MappedMemory(device, handle), doctest::Contains("same kind of device"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(SharedMemory(device, std::size_t{1} << 50), doctest::Contains("out of memory"), core::Error);
}
