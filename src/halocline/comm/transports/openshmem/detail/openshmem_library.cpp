// SPDX-License-Identifier: Apache-2.0
/// @file
/// dlopen and dlsym of an OpenSHMEM library.

#include "halocline/comm/transports/openshmem/detail/openshmem_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace halocline::comm::detail {
namespace {

constexpr const char* names[] = {"liboshmem.so.40", "liboshmem.so", "libsma.so"};

struct Loaded {
  OpenShmem functions;
  std::string problem;
};

/// Looks a function up. @param missing  gets the names of functions that are not there
template <class Function>
void find(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(name);
}

/// True when a library that looks for `_end` finds the end of the program's data, and not that of a library.
bool program_shows_its_end() {
  const auto shown = reinterpret_cast<ElfW(Addr)>(dlsym(RTLD_DEFAULT, "_end"));
  ElfW(Addr) end = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        auto& top = *static_cast<ElfW(Addr)*>(found);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD) top = std::max(top, info->dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        return 1;  // the first is the program; no further
      },
      &end);
  constexpr ElfW(Addr) page = 4096;
  return shown <= end + page && end <= shown + page;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

Loaded load() {
  Loaded loaded;
  void* library = nullptr;
  std::string tried;
  for (const char* const name : names) {
    tried += (tried.empty() ? "" : ", ") + std::string(name);
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
  if (library == nullptr) {
    loaded.problem = "finds no OpenSHMEM library (looked for " + tried + ")";
    return loaded;
  }
  OpenShmem found;
  std::string missing;
  find(library, "shmem_init", found.init, missing);
  find(library, "shmem_init_thread", found.init_thread, missing);
  find(library, "shmem_finalize", found.finalize, missing);
  find(library, "shmem_my_pe", found.my_pe, missing);
  find(library, "shmem_n_pes", found.n_pes, missing);
  find(library, "shmem_align", found.align, missing);
  find(library, "shmem_putmem", found.putmem, missing);
  find(library, "shmem_uint64_p", found.uint64_p, missing);
  find(library, "shmem_fence", found.fence, missing);
  find(library, "shmem_quiet", found.quiet, missing);
  find(library, "shmem_uint64_test", found.uint64_test, missing);
  found.open_mpi_initialized = static_cast<bool*>(dlsym(library, "oshmem_shmem_initialized"));
  found.open_mpi_leaves_mpi = static_cast<int*>(dlsym(library, "oshmem_shmem_inglobalexit"));
  // Open MPI declares put-with-signal from version 5 on, and ends the program when it is called.
  std::string without_signals;
  if (!found.of_open_mpi()) find(library, "shmem_putmem_signal", found.putmem_signal, without_signals);
  if (!missing.empty()) {
    loaded.problem = "finds an OpenSHMEM library older than 1.4, without " + missing;
  } else if (found.of_open_mpi() && sanitized) {
    loaded.problem =
        "finds Open MPI's OpenSHMEM, which takes the memory of the address sanitizer for the program's data";
  } else if (found.of_open_mpi() && !program_shows_its_end()) {
    loaded.problem = "finds Open MPI's OpenSHMEM, which needs the symbol _end of the program; link it with "
                     "-Wl,--export-dynamic-symbol=_end";
  } else {
    loaded.functions = found;
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const OpenShmem& openshmem() { return loaded().functions; }

std::string openshmem_problem() { return loaded().problem; }

void pin_libraries(const char* text) {
  std::vector<std::string> found;
  struct Search {
    const char* text;
    std::vector<std::string>* found;
  } search{text, &found};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const auto& wanted = *static_cast<Search*>(data);
        if (std::strstr(info->dlpi_name, wanted.text) != nullptr) wanted.found->push_back(info->dlpi_name);
        return 0;
      },
      &search);
  for (const std::string& file : found) dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace halocline::comm::detail
