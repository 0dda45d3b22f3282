// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where a GPU is in its machine: its NUMA node, the CPUs beside it, the network interface beside it. From sysfs.
///
/// A process on the wrong socket reaches its GPU through the link between sockets, and so does a message from a GPU to
/// an interface of the other socket. Nothing fails then, so Halocline says it.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::gpu {

struct Binding {
  std::string pci_address;        ///< "0000:3b:00.0"
  int numa_node = -1;             ///< -1: the machine does not tell
  std::vector<int> cpus;          ///< of that node, ascending; empty: the machine does not tell
  std::string nearest_interface;  ///< "mlx5_1"; empty: none is known
};

/// The numbers of a list such as "0-3,8", ascending; empty for anything else.
std::vector<int> numbers_of(std::string_view list);
/// "0-3, 8"
std::string list_of(std::span<const int> numbers);

/// What sysfs tells about a device at this PCI address. The nearest interface is the one that shares most bridges with
/// it, of those the one on its NUMA node, of those the first by name. Files that are missing or odd tell nothing.
/// @param sysfs  for tests: another folder than /sys
Binding binding_of(const std::string& pci_address, const std::filesystem::path& sysfs = "/sys");

/// The CPUs on which this process may run.
std::vector<int> allowed_cpus();

/// "PCI 0000:3b:00.0, NUMA node 1 with CPUs 16-31, nearest network interface mlx5_1"; empty without an address.
std::string describe(const Binding& binding);
/// A sentence if none of the CPUs on which a process may run is beside its GPU; empty otherwise, or if unknown.
std::string far_from(const Binding& binding, std::span<const int> allowed);
/// A sentence if several processes of a machine have this GPU while others of it are free; empty otherwise.
/// @param own    UUID of this process's GPU; @param all  of those of all processes of the machine; empty: no GPU
/// @param there  UUIDs of the GPUs that these processes see, in any order and number
std::string shared_while_others_are_free(const std::string& own, std::span<const std::string> all,
                                         std::span<const std::string> there);

}  // namespace halocline::gpu
