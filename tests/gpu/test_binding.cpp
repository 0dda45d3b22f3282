// SPDX-License-Identifier: Apache-2.0
//
// The place of a GPU in its machine, from made-up folders of sysfs: two sockets, GPUs and interfaces on both.

#include "halocline/gpu/binding.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "halocline/gpu/detail/runtime.hpp"

using namespace halocline;
namespace fs = std::filesystem;

namespace {

class Sysfs {
public:
  Sysfs() : root_(fs::temp_directory_path() / ("halocline-sysfs-" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  Sysfs(const Sysfs&) = delete;
  Sysfs& operator=(const Sysfs&) = delete;
  ~Sysfs() { fs::remove_all(root_); }

  const fs::path& root() const { return root_; }
  /// A device below some bridges. @param path  "pci0000:00/0000:00:01.0/0000:3b:00.0"
  fs::path device(const std::string& path, const std::string& node, const std::string& cpus) {
    const fs::path folder = root_ / "devices" / path;
    fs::create_directories(folder);
    std::ofstream(folder / "numa_node") << node << "\n";
    std::ofstream(folder / "local_cpulist") << cpus << "\n";
    fs::create_directories(root_ / "bus/pci/devices");
    fs::create_symlink(folder, root_ / "bus/pci/devices" / folder.filename());
    return folder;
  }
  void interface(const std::string& kind, const std::string& name, const fs::path& device) {
    const fs::path folder = device / kind / name;
    fs::create_directories(folder);
    fs::create_symlink(device, folder / "device");
    fs::create_directories(root_ / "class" / kind);
    fs::create_symlink(folder, root_ / "class" / kind / name);
  }

private:
  fs::path root_;
};

}  // namespace

TEST_CASE("binding: addresses are those of sysfs") {
  CHECK(gpu::detail::pci_address(0, 0x3b, 0) == "0000:3b:00.0");
  CHECK(gpu::detail::pci_address(0x10, 0xb1, 0x1f) == "0010:b1:1f.0");
}

TEST_CASE("binding: lists of CPUs") {
  CHECK(gpu::numbers_of("0-3,8") == std::vector{0, 1, 2, 3, 8});
  CHECK(gpu::numbers_of("5\n") == std::vector{5});
  for (const char* odd : {"", "\n", "a", "3-1", "1,", ",1", "1-", "-1", "0-99999999", "1 2", "0x3"}) {
    CAPTURE(odd);
    CHECK(gpu::numbers_of(odd).empty());
  }
  CHECK(gpu::list_of(std::vector{0, 1, 2, 3, 8, 10, 11}) == "0-3, 8, 10-11");
  CHECK(gpu::list_of({}).empty());
}

TEST_CASE("binding: a GPU has the interface of its bridge, else of its node") {
  Sysfs sysfs;
  sysfs.device("pci0000:00/0000:00:01.0/0000:17:00.0", "0", "0-15,32-47");
  sysfs.device("pci0000:80/0000:80:01.0/0000:98:00.0", "1", "16-31,48-63");
  sysfs.device("pci0000:80/0000:80:03.0/0000:b1:00.0", "1", "16-31,48-63");
  sysfs.interface("net", "eth0", sysfs.device("pci0000:00/0000:00:1f.6", "0", "0-15"));
  sysfs.interface("infiniband", "mlx5_0", sysfs.device("pci0000:00/0000:00:01.0/0000:18:00.0", "0", "0-15"));
  sysfs.interface("infiniband", "mlx5_1", sysfs.device("pci0000:80/0000:80:03.0/0000:b2:00.0", "1", "16-31"));
  fs::create_directories(sysfs.root() / "class/net/lo");  // has no device

  const auto at = [&](const char* address) { return gpu::describe(gpu::binding_of(address, sysfs.root())); };
  CHECK(at("0000:17:00.0") == "PCI 0000:17:00.0, NUMA node 0 with CPUs 0-15, 32-47, nearest network interface mlx5_0");
  CHECK(at("0000:98:00.0") == "PCI 0000:98:00.0, NUMA node 1 with CPUs 16-31, 48-63, nearest network interface mlx5_1");
  CHECK(at("0000:b1:00.0").find("mlx5_1") != std::string::npos);
}

TEST_CASE("binding: what the machine does not tell is left out") {
  Sysfs sysfs;
  sysfs.device("pci0000:00/0000:00:05.0", "-1", "0-3");
  CHECK(gpu::describe(gpu::binding_of("0000:00:05.0", sysfs.root())) == "PCI 0000:00:05.0");
  CHECK(gpu::far_from(gpu::binding_of("0000:00:05.0", sysfs.root()), std::vector{9}).empty());
  sysfs.device("pci0000:00/0000:00:06.0", "one", "0-3");
  CHECK(gpu::binding_of("0000:00:06.0", sysfs.root()).numa_node == -1);
  sysfs.device("pci0000:00/0000:00:07.0", "0", "nonsense");
  CHECK(gpu::describe(gpu::binding_of("0000:00:07.0", sysfs.root())) == "PCI 0000:00:07.0, NUMA node 0");
  CHECK(gpu::describe(gpu::binding_of("0000:ff:00.0", sysfs.root())) == "PCI 0000:ff:00.0");
  CHECK(gpu::describe(gpu::binding_of("0000:ff:00.0", sysfs.root() / "missing")) == "PCI 0000:ff:00.0");
  CHECK(gpu::describe(gpu::binding_of("")).empty());
}

TEST_CASE("binding: a process far from its GPU is told, with the cure") {
  const gpu::Binding binding{"0000:98:00.0", 1, {16, 17, 18, 19}, ""};
  CHECK(gpu::far_from(binding, std::vector{0, 1, 16}).empty());
  CHECK(gpu::far_from(binding, {}).empty());
  const std::string told = gpu::far_from(binding, std::vector{0, 1, 2});
  CHECK(told.find("CPUs 0-2 only") != std::string::npos);
  CHECK(told.find("NUMA node 1 with CPUs 16-19") != std::string::npos);
  CHECK(told.find("numactl --cpunodebind=1") != std::string::npos);
  CHECK_FALSE(gpu::allowed_cpus().empty());
}

TEST_CASE("binding: processes that crowd on one GPU are told while others are free") {
  using Names = std::vector<std::string>;
  const Names crowded{"a", "a", "b"}, spread{"a", "b", "c", "d"}, four{"d", "c", "b", "a", "a"};
  CHECK(gpu::shared_while_others_are_free("a", crowded, four)
            .find("2 processes of this machine share this GPU while 2 of its 4 GPUs are free") == 0);
  CHECK(gpu::shared_while_others_are_free("a", crowded, Names{"a", "b", "c"}).find("1 of its 3 GPUs is free") !=
        std::string::npos);
  CHECK(gpu::shared_while_others_are_free("b", crowded, four).empty());
  CHECK(gpu::shared_while_others_are_free("a", crowded, Names{"a", "b"}).empty());
  CHECK(gpu::shared_while_others_are_free("a", spread, four).empty());
  CHECK(gpu::shared_while_others_are_free("", Names{"", ""}, four).empty());
  // Two processes see a and b, two see c and d.
  CHECK_FALSE(gpu::shared_while_others_are_free("a", Names{"a", "a", "c", "c"}, four).empty());
}
