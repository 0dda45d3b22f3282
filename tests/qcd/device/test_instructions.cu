// SPDX-License-Identifier: Apache-2.0
//
// What the compiler made of stores, fences and waiting loops, read from the instructions for sm_90. cuobjdump
// disassembles the objects of target `cuda` (cmake/Cuda.cmake); HALOCLINE_CUOBJDUMP and HALOCLINE_PTXAS_REPORTS say
// where both are.

#include <cxxabi.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace halocline::qcd::device {
namespace {

struct Instruction {
  std::uint64_t address;
  std::string text;  ///< without the predicate
  bool predicated;
};
using Code = std::vector<Instruction>;

bool begins(const std::string& text, const std::string& word) { return text.rfind(word, 0) == 0; }

/// The kernels of a disassembly, by demangled name.
std::map<std::string, Code> kernels_of(const std::string& listing) {
  static const std::regex line(R"(Function : (\S+)|/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z][^;]*?)\s*;)");
  std::map<std::string, Code> kernels;
  Code* code = nullptr;
  for (std::sregex_iterator at(listing.begin(), listing.end(), line), end; at != end; ++at) {
    const auto& m = *at;
    if (m[1].matched) {
      int status = 0;
      char* name = abi::__cxa_demangle(m[1].str().c_str(), nullptr, nullptr, &status);
      code = &kernels[status == 0 ? name : m[1].str()];
      std::free(name);
    } else if (code != nullptr) {
      code->push_back({std::stoull(m[2], nullptr, 16), m[4], m[3].matched});
    }
  }
  return kernels;
}

/// Whether control may come from the instruction back to it.
bool in_loop(const Code& code, std::size_t start) {
  std::map<std::uint64_t, std::size_t> place;
  for (std::size_t i = 0; i < code.size(); ++i) place[code[i].address] = i;
  static const std::regex target(R"(0x([0-9a-f]+)\s*$)");
  std::vector<bool> seen(code.size());
  std::vector<std::size_t> next{start};
  bool first = true;
  while (!next.empty()) {
    const std::size_t i = next.back();
    next.pop_back();
    if (i >= code.size()) continue;
    if (!first && i == start) return true;
    if (seen[i]) continue;
    seen[i] = !first;
    first = false;
    const auto& [address, text, predicated] = code[i];
    const bool branch = begins(text, "BRA");
    std::smatch m;
    if (branch && std::regex_search(text, m, target)) next.push_back(place.at(std::stoull(m[1], nullptr, 16)));
    // "BRA P0, 0x80" and "BRA.DIV UR4, 0x80" may fall through too.
    const bool leaves = begins(text, "BRA 0x") || begins(text, "EXIT") || begins(text, "RET");
    if (predicated || !leaves) next.push_back(i + 1);
  }
  return false;
}

int count(const Code& code, const std::string& word) {
  int n = 0;
  for (const Instruction& i : code) n += begins(i.text, word) ? 1 : 0;
  return n;
}

/// "STG.E.128 desc[UR6][R2.64], R4": 128; 64, 32, 16, 8.
std::vector<int> store_bits(const Code& code) {
  std::vector<int> bits;
  for (const Instruction& i : code) {
    if (!begins(i.text, "STG")) continue;
    const std::string operation = i.text.substr(0, i.text.find(' '));
    const auto has = [&](const char* part) { return operation.find(part) != std::string::npos; };
    bits.push_back(has(".128") ? 128 : has(".64") ? 64 : has("16") ? 16 : has(".U8") || has(".S8") ? 8 : 32);
  }
  return bits;
}

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char piece[65536];
  for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, n);
  CHECK(pclose(pipe) == 0);
  return text;
}

/// What a kernel may have, by a part of its name.
struct Bound {
  const char* part;
  int kernels;  ///< at least, whose name has this part
  int membars, system_membars;
  int stores_128, other_stores;  ///< -1: not bounded
};

/// The kernels of a source in the object of target `cuda`.
std::map<std::string, Code> compiled(const std::string& disassembler, const std::filesystem::path& folder,
                                     const std::string& source) {
  const auto object = folder / ("src/halocline/" + source + ".cu.o");
  REQUIRE(std::filesystem::exists(object));
  return kernels_of(output_of("'" + disassembler + "' -sass -arch sm_90 '" + object.string() + "'"));
}

void check_source(const std::string& disassembler, const std::filesystem::path& folder, const std::string& source,
                  const std::vector<Bound>& bounds) {
  CAPTURE(source);
  const auto kernels = compiled(disassembler, folder, source);
  if (kernels.empty()) {
    MESSAGE("skipped: this build has no code for sm_90");
    return;
  }
  for (const Bound& bound : bounds) {
    int found = 0;
    for (const auto& [name, code] : kernels) {
      if (name.find(bound.part) == std::string::npos) continue;
      ++found;
      CAPTURE(name);
      int system = 0;
      for (std::size_t i = 0; i < code.size(); ++i) {
        system += begins(code[i].text, "MEMBAR") && code[i].text.find("SYS") != std::string::npos ? 1 : 0;
        CHECK(!begins(code[i].text, "MEMBAR.SC"));
        // They would empty the first-level cache, or wait for memory, in every pass.
        if (begins(code[i].text, "CCTL") || begins(code[i].text, "MEMBAR")) CHECK(!in_loop(code, i));
      }
      CHECK(count(code, "MEMBAR") <= bound.membars);
      CHECK(system <= bound.system_membars);
      if (bound.stores_128 < 0) continue;
      int whole = 0, others = 0;
      for (const int bits : store_bits(code)) ++(bits == 128 ? whole : others);
      CHECK(whole == bound.stores_128);
      CHECK(others == bound.other_stores);
    }
    CAPTURE(bound.part);
    CHECK(found >= bound.kernels);
  }
}

}  // namespace

TEST_CASE("device instructions: a disassembly is read, and loops in it are found") {
  const auto kernels =
      kernels_of("\t\tFunction : _Z3hopv\n\t.headerflags\t@\"EF\"\n"
                 "        /*0000*/                   LDG.E.64.STRONG.SYS R4, desc[UR4][R2.64] ;  /* 0x00 */\n"
                 "        /*0010*/              @!P0 BRA 0x0 ;                                   /* 0x00 */\n"
                 "        /*0020*/                   CCTL.IVALL ;                                /* 0x00 */\n"
                 "        /*0030*/                   STG.E.128 desc[UR6][R18.64], R4 ;           /* 0x00 */\n"
                 "        /*0040*/                   STG.E desc[UR6][R2.64+0x4], R25 ;           /* 0x00 */\n"
                 "        /*0050*/                   EXIT ;                                      /* 0x00 */\n"
                 "        /*0060*/                   BRA 0x60;                                   /* 0x00 */\n");
  REQUIRE(kernels.count("hop()") == 1);
  const Code& code = kernels.at("hop()");
  REQUIRE(code.size() == 7);
  CHECK(in_loop(code, 0));
  CHECK(in_loop(code, 1));
  CHECK(!in_loop(code, 2));
  CHECK(in_loop(code, 6));
  CHECK(store_bits(code) == std::vector<int>{128, 32});
  CHECK(count(code, "CCTL") == 1);
}

TEST_CASE("device instructions: links pass by the first-level cache, and results stream, where that is asked for") {
  const char* folder = std::getenv("HALOCLINE_PTXAS_REPORTS");
  const char* disassembler = std::getenv("HALOCLINE_CUOBJDUMP");
  if (folder == nullptr || disassembler == nullptr || *disassembler == '\0') {
    MESSAGE("skipped on this machine: there is no cuobjdump, or no object of nvcc");
    return;
  }
  int past = 0, streaming = 0;
  for (const auto& [name, code] : compiled(disassembler, folder, "qcd/wilson/cuda_fixed16")) {
    if (name.find("HopSite<") == std::string::npos && name.find("HopSumSite<") == std::string::npos) continue;
    CAPTURE(name);
    // A link of 12 reals is 16 and 8 bytes, one of 8 reals is 16 bytes.
    const bool passes = name.find("(halocline::qcd::device::detail::Read)2") != std::string::npos;
    const int loads = name.find("Fixed16, 12") != std::string::npos ? 16 : 8;
    CHECK(count(code, "LDG.E.NA") == (passes ? loads : 0));
    past += passes ? 1 : 0;
    // Of a spinor's three stores either these or the plain ones run.
    CHECK(count(code, "STG.E.EF.128") % 3 == 0);
    streaming += count(code, "STG.E.EF.128") >= 3 ? 1 : 0;
  }
  if (past + streaming == 0) return;  // no code for sm_90
  CHECK(past == 6);
  CHECK(streaming == 6 + 4 + 4 + 7);  // plain and with blocks, of two columns, past the cache, with sums
}

TEST_CASE("device instructions: stores are whole, loops do not empty the cache, and fences are few") {
  const char* folder = std::getenv("HALOCLINE_PTXAS_REPORTS");
  const char* disassembler = std::getenv("HALOCLINE_CUOBJDUMP");
  if (folder == nullptr || disassembler == nullptr || *disassembler == '\0') {
    MESSAGE("skipped on this machine: there is no cuobjdump, or no object of nvcc");
    return;
  }
  // Without sums: one store of 16 bytes a chunk, and a thread has four; in fixed16 three and the scale, in fixed8 of 16
  // and 8 bytes. With sums: a fence of the last block, before it stores totals for the host.
  check_source(disassembler, folder, "qcd/device/spinor_space",
               {{"run_functor<halocline::qcd::device::detail::Algebra<halocline::qcd::device::Fixed16", 1, 0, 0, 3, 1},
                {"run_functor<halocline::qcd::device::detail::Algebra<halocline::qcd::device::Fixed8", 1, 0, 0, 1, 2},
                {"run_functor<halocline::qcd::device::detail::Algebra<float", 1, 0, 0, 4, 0},
                {"run_functor<halocline::qcd::device::detail::Algebra<double", 1, 0, 0, 4, 0},
                {"AssignParity<halocline::qcd::device::Fixed16", 1, 0, 0, 3, 1},
                {"sum_functor<", 8, 1, 1, -1, -1}});
  // A release of each block, the fence before the flag.
  check_source(disassembler, folder, "qcd/wilson/cuda_halo",
               {{"PackAndRaise<", 4, 2, 1, -1, -1}, {"::Pack<halocline::qcd::device::Fixed16", 1, 0, 0, 2, 0}});
  // As in packing, and one fence behind the flags of all faces, one where a message is given up.
  check_source(disassembler, folder, "qcd/wilson/cuda_fused", {{"FusedHop<", 4, 4, 3, -1, -1}});
  check_source(disassembler, folder, "qcd/wilson/cuda_fixed16",
               {{"HopExterior<", 3, 2, 2, -1, -1}, {"sum_functor<", 6, 1, 1, -1, -1}});
  check_source(disassembler, folder, "gpu/detail/await_faces", {{"AwaitFaces", 1, 2, 2, -1, -1}});
}

}  // namespace halocline::qcd::device
