// SPDX-License-Identifier: Apache-2.0
/// @file
/// Switching stacks, by hand and by ucontext, and telling the sanitizers.

#include "halocline/comm/simulation/detail/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define HALOCLINE_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HALOCLINE_FIBER_ASAN
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HALOCLINE_FIBER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HALOCLINE_FIBER_TSAN
#endif
#endif

#if defined(HALOCLINE_FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(HALOCLINE_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

// __CET__ & 2: the compiler was told (-fcf-protection) that return addresses are checked against a shadow stack.
#if defined(__CET__) && (__CET__ & 2) != 0
#define HALOCLINE_FIBER_SHADOW_STACK
#endif
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__ILP32__) && !defined(HALOCLINE_FIBER_SHADOW_STACK)
#define HALOCLINE_FIBER_BY_HAND
#else
#include <ucontext.h>
#endif

#if defined(HALOCLINE_FIBER_BY_HAND)
// halocline_fiber_switch(void** save, void* stack): pushes the registers that a call preserves, stores the stack
// pointer in *save, takes the other stack and pops the same registers. A new stack is made to look as if it had been
// left this way. Its return address is halocline_fiber_begin, which calls a function that it finds in preserved
// registers.
extern "C" {
[[gnu::visibility("hidden")]] void halocline_fiber_switch(void** save, void* stack);
[[gnu::visibility("hidden")]] void halocline_fiber_begin();
}
#if defined(__x86_64__)
asm(R"(
.pushsection .text
.p2align 4
.globl halocline_fiber_switch
.hidden halocline_fiber_switch
.type halocline_fiber_switch, @function
halocline_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size halocline_fiber_switch, . - halocline_fiber_switch
.p2align 4
.globl halocline_fiber_begin
.hidden halocline_fiber_begin
.type halocline_fiber_begin, @function
halocline_fiber_begin:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
.size halocline_fiber_begin, . - halocline_fiber_begin
.popsection
)");
#else
asm(R"(
.pushsection .text
.p2align 4
.globl halocline_fiber_switch
.hidden halocline_fiber_switch
.type halocline_fiber_switch, %function
halocline_fiber_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size halocline_fiber_switch, . - halocline_fiber_switch
.p2align 4
.globl halocline_fiber_begin
.hidden halocline_fiber_begin
.type halocline_fiber_begin, %function
halocline_fiber_begin:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x19
  blr x20
  brk #1
  .cfi_endproc
.size halocline_fiber_begin, . - halocline_fiber_begin
.popsection
)");
#endif
#endif

namespace halocline::comm::detail {
namespace {

// A sanitizer enlarges every frame, so the stack is larger with one.
#if defined(HALOCLINE_FIBER_ASAN) || defined(HALOCLINE_FIBER_TSAN)
constexpr std::size_t stack_bytes = 4 * 256 * 1024;
#else
constexpr std::size_t stack_bytes = 256 * 1024;
#endif

}  // namespace

/// The state that depends on the machine and on the sanitizer.
struct Fiber::Machine {
  char* mapped = nullptr;  ///< guard page and stack; nullptr for the thread itself
  std::size_t mapped_bytes = 0;
#if defined(HALOCLINE_FIBER_BY_HAND)
  void* stack_pointer = nullptr;
#else
  ucontext_t context{};
#endif
#if defined(HALOCLINE_FIBER_ASAN)
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t size = 0;
#endif
#if defined(HALOCLINE_FIBER_TSAN)
  void* tsan = nullptr;
#endif

  ~Machine() {
#if defined(HALOCLINE_FIBER_TSAN)
    if (mapped != nullptr && tsan != nullptr) __tsan_destroy_fiber(tsan);
#endif
    if (mapped == nullptr) return;
#if defined(HALOCLINE_FIBER_ASAN)
    __asan_unpoison_memory_region(mapped, mapped_bytes);  // frames that were left for good
#endif
    munmap(mapped, mapped_bytes);
  }
};

Fiber::Fiber() : machine_(new Machine) {
#if defined(HALOCLINE_FIBER_TSAN)
  machine_->tsan = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(void (*entry)(void*), void* argument) : machine_(new Machine), entry_(entry), argument_(argument) {
  Machine& m = *machine_;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  m.mapped_bytes = page + stack_bytes;
  void* mapped = mmap(nullptr, m.mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED || mprotect(mapped, page, PROT_NONE) != 0) {
    if (mapped != MAP_FAILED) munmap(mapped, m.mapped_bytes);
    delete machine_;
    throw std::bad_alloc();
  }
  m.mapped = static_cast<char*>(mapped);
#if defined(HALOCLINE_FIBER_ASAN)
  m.bottom = m.mapped + page;
  m.size = stack_bytes;
#endif
#if defined(HALOCLINE_FIBER_TSAN)
  m.tsan = __tsan_create_fiber(0);
#endif
#if defined(HALOCLINE_FIBER_BY_HAND)
  auto* const top = reinterpret_cast<std::uintptr_t*>(m.mapped + m.mapped_bytes);
  void (*const first)(void*) = &Fiber::begin;
#if defined(__x86_64__)
  // r15 r14 r13 r12 rbx rbp, the return address, and then a stack pointer that is a multiple of 16.
  std::uintptr_t* const frame = top - 15;
  frame[2] = reinterpret_cast<std::uintptr_t>(first);
  frame[3] = reinterpret_cast<std::uintptr_t>(this);
  frame[6] = reinterpret_cast<std::uintptr_t>(&halocline_fiber_begin);
  m.stack_pointer = frame;
#else
  std::uintptr_t* const frame = top - 20;
  frame[0] = reinterpret_cast<std::uintptr_t>(this);
  frame[1] = reinterpret_cast<std::uintptr_t>(first);
  frame[11] = reinterpret_cast<std::uintptr_t>(&halocline_fiber_begin);
  m.stack_pointer = frame;
#endif
#else
  getcontext(&m.context);
  m.context.uc_stack.ss_sp = m.mapped + page;
  m.context.uc_stack.ss_size = stack_bytes;
  m.context.uc_link = nullptr;
  // makecontext passes ints only.
  const auto address = reinterpret_cast<std::uintptr_t>(this);
  void (*const first)(unsigned int, unsigned int) = [](unsigned int high, unsigned int low) {
    begin(reinterpret_cast<void*>(static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low)));
  };
  makecontext(&m.context, reinterpret_cast<void (*)()>(first), 2,
              static_cast<unsigned int>(std::uint64_t{address} >> 32), static_cast<unsigned int>(address));
#endif
}

Fiber::~Fiber() { delete machine_; }

void Fiber::begin(void* fiber) {
  Fiber& self = *static_cast<Fiber*>(fiber);
  self.landed();
  self.entry_(self.argument_);
  std::abort();  // entry must not return
}

void Fiber::switch_to(Fiber& other) { jump(other, false); }

void Fiber::leave_for(Fiber& other) {
  jump(other, true);
  std::abort();  // no fiber may come back
}

void Fiber::jump(Fiber& other, [[maybe_unused]] bool for_good) {
  auto* const exceptions = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  exceptions_ = *exceptions;
  *exceptions = other.exceptions_;
  other.from_ = this;
#if defined(HALOCLINE_FIBER_ASAN)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &machine_->fake_stack, other.machine_->bottom,
                                 other.machine_->size);
#endif
#if defined(HALOCLINE_FIBER_TSAN)
  __tsan_switch_to_fiber(other.machine_->tsan, 0);
#endif
#if defined(HALOCLINE_FIBER_BY_HAND)
  halocline_fiber_switch(&machine_->stack_pointer, other.machine_->stack_pointer);
#else
  swapcontext(&machine_->context, &other.machine_->context);
#endif
  landed();
}

/// Runs first on the new stack. The address sanitizer reports where the previous stack is; this is the only way to
/// learn the bounds of the thread's stack.
void Fiber::landed() noexcept {
#if defined(HALOCLINE_FIBER_ASAN)
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(machine_->fake_stack, &bottom, &size);
  if (from_->machine_->mapped == nullptr) {
    from_->machine_->bottom = bottom;
    from_->machine_->size = size;
  }
#endif
}

}  // namespace halocline::comm::detail
