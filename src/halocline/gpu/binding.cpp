// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/binding.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <tuple>

namespace halocline::gpu {
namespace {

namespace fs = std::filesystem;

constexpr int most_cpus = 1 << 16;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int node_of(const fs::path& device) { return whole_number(first_line(device / "numa_node")).value_or(-1); }

/// The folder of a device behind its links; empty if there is none.
fs::path resolved(const fs::path& link) {
  std::error_code error;
  fs::path found = fs::canonical(link, error);
  return error ? fs::path() : found;
}

/// Number of leading folders that two paths share.
int common_parts(const fs::path& a, const fs::path& b) {
  int count = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end() && *i == *j; ++i, ++j) ++count;
  return count;
}

std::string nearest_interface(const fs::path& gpu, int node, const fs::path& sysfs) {
  using Rank = std::tuple<int, bool, bool>;  // shared folders, same node, of a kind for high speed
  std::string best;
  Rank best_rank{-1, false, false};
  for (const char* kind : {"infiniband", "net"}) {
    std::set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator i(sysfs / "class" / kind, error), end; !error && i != end; i.increment(error))
      names.insert(i->path().filename().string());
    for (const std::string& name : names) {
      const fs::path device = resolved(sysfs / "class" / kind / name / "device");
      if (device.empty() || device.string().find("/pci") == std::string::npos) continue;  // loopback, bridges
      const Rank rank{common_parts(gpu, device), node >= 0 && node_of(device) == node,
                      kind == std::string("infiniband")};
      if (rank <= best_rank) continue;
      best = name;
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace

std::vector<int> numbers_of(std::string_view list) {
  while (!list.empty() && (list.back() == '\n' || list.back() == ' ')) list.remove_suffix(1);
  std::set<int> found;
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view part = list.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = whole_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= most_cpus) return {};
    for (int i = *first; i <= *last; ++i) found.insert(i);
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
    if (list.empty()) return {};
  }
  return {found.begin(), found.end()};
}

std::string list_of(std::span<const int> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += text.empty() ? "" : ", ";
    text += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

Binding binding_of(const std::string& pci_address, const fs::path& sysfs) {
  Binding out;
  if (pci_address.empty()) return out;
  out.pci_address = pci_address;
  const fs::path device = resolved(sysfs / "bus/pci/devices" / pci_address);
  if (device.empty()) return out;
  out.numa_node = node_of(device);
  if (out.numa_node >= 0) out.cpus = numbers_of(first_line(device / "local_cpulist"));
  out.nearest_interface = nearest_interface(device, out.numa_node, sysfs);
  return out;
}

std::vector<int> allowed_cpus() {
  std::vector<int> found;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return found;  // more CPUs than the set holds
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) found.push_back(cpu);
  return found;
}

std::string describe(const Binding& binding) {
  if (binding.pci_address.empty()) return "";
  std::string text = "PCI " + binding.pci_address;
  if (binding.numa_node >= 0) text += fmt::format(", NUMA node {}", binding.numa_node);
  if (!binding.cpus.empty()) text += " with CPUs " + list_of(binding.cpus);
  if (!binding.nearest_interface.empty()) text += ", nearest network interface " + binding.nearest_interface;
  return text;
}

std::string far_from(const Binding& binding, std::span<const int> allowed) {
  if (binding.cpus.empty() || allowed.empty()) return "";
  const bool near = std::any_of(allowed.begin(), allowed.end(), [&](int cpu) {
    return std::binary_search(binding.cpus.begin(), binding.cpus.end(), cpu);
  });
  if (near) return "";
  return fmt::format(
      "this process may run on CPUs {} only, and its GPU is beside NUMA node {} with CPUs {}, so all traffic between "
      "them takes a detour; start it with numactl --cpunodebind={}, or let the launcher bind it to this node",
      list_of(allowed), binding.numa_node, list_of(binding.cpus), binding.numa_node);
}

std::string shared_while_others_are_free(const std::string& own, std::span<const std::string> all,
                                         std::span<const std::string> there) {
  if (own.empty()) return "";
  const auto sharing = std::count(all.begin(), all.end(), own);
  std::set<std::string> seen(there.begin(), there.end());
  seen.erase("");
  const auto free = std::count_if(seen.begin(), seen.end(),
                                  [&](const auto& gpu) { return std::find(all.begin(), all.end(), gpu) == all.end(); });
  if (sharing < 2 || free < 1) return "";
  return fmt::format("{} processes of this machine share this GPU while {} of its {} GPUs {} free; give device = "
                     "\"cuda\", which deals "
                     "the GPUs out, or set CUDA_VISIBLE_DEVICES for each process",
                     sharing, free, seen.size(), free == 1 ? "is" : "are");
}

}  // namespace halocline::gpu
