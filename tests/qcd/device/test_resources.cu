// SPDX-License-Identifier: Apache-2.0
//
// Registers, stack and spills of the kernels of an iteration, as the compiler reports them for every architecture. The
// reports lie beside the objects of target `cuda` (cmake/Cuda.cmake); HALOCLINE_PTXAS_REPORTS says where.

#include <cxxabi.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace halocline::qcd::device {
namespace {

struct Kernel {
  std::string name, architecture;
  int stack, spilled, registers;
};

std::string demangled(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : symbol;
  std::free(text);
  // ", (detail::Read)1" is how all links but those past the cache are read.
  for (const std::string prefix : {"halocline::", "qcd::", "device::", "gpu::", ", (detail::Read)1"})
    for (auto at = name.find(prefix); at != std::string::npos; at = name.find(prefix)) name.erase(at, prefix.size());
  return name;
}

/// The kernels of a report whose names contain `part`.
std::vector<Kernel> kernels_of(const std::string& report, const std::string& part) {
  static const std::regex entry(
      "entry function '([^']+)' for '([^']+)'[^\\n]*\\n[^\\n]*Function properties[^\\n]*\\n *(\\d+) bytes stack frame, "
      "(\\d+) bytes spill stores, (\\d+) bytes spill loads[^\\n]*\\n[^\\n]*Used (\\d+) registers");
  std::vector<Kernel> kernels;
  for (std::sregex_iterator at(report.begin(), report.end(), entry), end; at != end; ++at) {
    const auto& m = *at;
    const std::string name = demangled(m[1]);
    if (name.find(part) == std::string::npos) continue;
    kernels.push_back({name, m[2], std::stoi(m[3]), std::stoi(m[4]) + std::stoi(m[5]), std::stoi(m[6])});
  }
  return kernels;
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// 65536 registers a multiprocessor: 80, 128, 168, 200 and 255 a thread leave 24, 16, 12, 10 and 8 warps.
int most_registers(const std::string& name) {
  if (name.find("<double") != std::string::npos) return 255;
  // 106 but on sm_80, where it takes 142.
  if (name.find("HopSite<Fixed16, 18, false, true, 1>") != std::string::npos) return 168;
  const bool three_blocks =
      name.find("HopSumSite") != std::string::npos || name.find("HopFifthSite") != std::string::npos;
  if (name.find(", 2>") != std::string::npos) return three_blocks ? 168 : 192;
  return 128;
}

/// Bytes stored and loaded. Sums with a hop, or with updates in fixed point, give up a few registers for one more
/// block. The step behind a sum is a function that the last block calls; it has the registers that its kernel leaves.
int most_spilled(const std::string& name) {
  // The compiler takes 128 registers for a hop with recursions along s, of one column.
  if (name.find("HopFifthSite<float, 12, 1>") != std::string::npos) return 64;
  const bool sums = name.find("sum_functor") != std::string::npos;
  if (sums && name.find("HopSumSite<double, 12") != std::string::npos) return 96;
  if (sums && name.find("HopSumSite") != std::string::npos) return 80;
  return sums ? 40 : 0;
}

/// Bytes of a thread in local memory, with the frame of that function.
int most_stack(const std::string& name) {
  const bool calls = name.find("RecursionStep") != std::string::npos && name.find("Algebra<") != std::string::npos;
  return calls ? 128 : most_spilled(name) / 2;
}

}  // namespace

TEST_CASE("device kernels: a report of the compiler is read") {
  const auto kernels = kernels_of(
      "ptxas info    : Compiling entry function '_Z3hopv' for 'sm_90'\nptxas info    : Function properties for "
      "_Z3hopv\n"
      "    8 bytes stack frame, 4 bytes spill stores, 16 bytes spill loads\nptxas info    : Used 96 registers, used 0 "
      "barriers\n",
      "hop()");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].architecture == "sm_90");
  CHECK(kernels[0].stack == 8);
  CHECK(kernels[0].spilled == 20);
  CHECK(kernels[0].registers == 96);
}

TEST_CASE("device kernels: all keep what they have in registers, and few enough of them") {
  const char* folder = std::getenv("HALOCLINE_PTXAS_REPORTS");
  if (folder == nullptr) {
    MESSAGE("skipped on this machine: HALOCLINE_PTXAS_REPORTS does not say where the reports of nvcc are");
    return;
  }
  struct Group {
    std::vector<std::string> sources;
    std::string part;  ///< of the names
    int count;         ///< for each architecture
    int (*most)(const std::string& name);
  };
  const auto hop = [](const std::string& name) { return most_registers(name); };
  const auto fused = [](const std::string& name) { return name.find("<double") != std::string::npos ? 192 : 128; };
  const auto pack = [](const std::string&) { return 80; };
  const auto sites = [](const std::string& name) { return name.find("<double") != std::string::npos ? 255 : 128; };
  const auto algebra = [](const std::string&) { return 128; };
  const Group groups[] = {
      // Plain, with clover blocks, exterior and with sums, for four storages and three sizes of links, and two columns
      // a thread of float and fixed16 with links of 18 and 12 (plain, with blocks and with sums); of the four common
      // storages several sites a thread, links past the first-level cache (plain, with blocks and with sums), the two
      // parts of split sites, and the matrices of a fifth dimension (with two columns a thread in float and in fixed16
      // with links of 12).
      {{"wilson/cuda_double", "wilson/cuda_float", "wilson/cuda_fixed16", "wilson/cuda_fixed8"},
       "Hop",
       4 * 12 + 3 * 4 + 4 + 3 * 4 + 2 * 4 + 6,
       hop},
      {{"wilson/cuda_fused"}, "FusedHop", 4, fused},
      {{"dirac/cuda_sites"}, "MultiplySites", 4, sites},
      // Four storages, with flags and without.
      {{"wilson/cuda_halo"}, "Pack", 4 * 2, pack},
      // Without sums, and with sums of 1, 2 and 4 dot products, of 2 in fixed point.
      {{"device/spinor_space"}, "Algebra", 4 + 2 * 3 + 2, algebra},
      {{"device/spinor_space"}, "AssignParity", 4, algebra},
      {{"device/spinor_space"}, "WriteCanonical", 1, algebra}};
  for (const Group& group : groups) {
    CAPTURE(group.part);
    std::map<std::string, int> found;                      // by architecture
    std::map<std::string, std::set<std::string>> sources;  // that were compiled for it
    for (const std::string& source : group.sources) {
      const auto path = std::filesystem::path(folder) / ("src/halocline/qcd/" + source + ".cu.o.ptxas");
      REQUIRE_MESSAGE(std::filesystem::exists(path), path.string());
      for (const Kernel& k : kernels_of(text_of(path), group.part)) {
        CAPTURE(k.name);
        CAPTURE(k.architecture);
        CHECK(k.stack <= most_stack(k.name));
        CHECK(k.spilled <= most_spilled(k.name));
        CHECK(k.registers <= group.most(k.name));
        ++found[k.architecture];
        sources[k.architecture].insert(source);
      }
    }
    // A build may compile some sources for one architecture alone; there is one that all are compiled for.
    bool whole = false;
    for (const auto& one : found) {
      if (sources[one.first].size() != group.sources.size()) continue;
      whole = true;
      CAPTURE(one.first);
      CHECK(one.second == group.count);
    }
    CHECK(whole);
  }
}

}  // namespace halocline::qcd::device
