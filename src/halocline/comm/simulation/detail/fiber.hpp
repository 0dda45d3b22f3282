// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Stacks that take turns in one thread.
///
/// A Fiber holds a stack pointer, and the state of the C++ runtime about exceptions in flight. So a fiber may switch
/// inside a catch block or while its stack unwinds. `Fiber()` stands for the thread itself, `Fiber(entry, argument)`
/// for a new stack.
///
/// A switch saves the registers that a call preserves and changes the stack pointer: about 2 ns. It is written by
/// hand for x86-64 and aarch64. Elsewhere, and where the compiler is told to use shadow stacks, POSIX ucontext does
/// it with a system call each time. The floating-point environment is not saved: it belongs to the thread. The
/// address and thread sanitizers are told of every switch.

#include <cstddef>

namespace halocline::comm::detail {

class Fiber {
public:
  /// The calling thread.
  Fiber();
  /// A new stack, on which `entry(argument)` runs at the first switch to it. `entry` must not return and must let no
  /// exception out: it ends with leave_for(). @throws std::bad_alloc  when there is no memory for a stack
  Fiber(void (*entry)(void*), void* argument);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  /// For the calling thread, and for a fiber that was never switched to or has left for good.
  ~Fiber();

  /// Runs another fiber, and returns when a fiber switches back. Call it on the fiber that runs.
  void switch_to(Fiber& other);
  /// The same for good: no fiber may switch back.
  [[noreturn]] void leave_for(Fiber& other);

private:
  struct Machine;
  /// The data that __cxa_get_globals() points to (Itanium C++ ABI, 2.2.2).
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  static void begin(void* fiber);
  void jump(Fiber& other, bool for_good);
  void landed() noexcept;

  Machine* machine_;
  Exceptions exceptions_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  Fiber* from_ = nullptr;  ///< the fiber that switched here last
};

}  // namespace halocline::comm::detail
