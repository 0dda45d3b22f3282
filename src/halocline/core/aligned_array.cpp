// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/aligned_array.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace halocline::core::detail {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

/// Below two huge pages, rounding up would cost more memory than the page tables cost time.
std::align_val_t alignment_for(std::size_t bytes) { return std::align_val_t(bytes < 2 * huge_page ? 64 : huge_page); }

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment_for(bytes));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Only a hint: without free huge pages the system uses ordinary ones.
  if (bytes >= 2 * huge_page) (void)::madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  return memory;
}

void release_aligned(void* memory, std::size_t bytes) noexcept { ::operator delete(memory, alignment_for(bytes)); }

}  // namespace halocline::core::detail
