// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Stacks that take turns in one thread.
///
/// A Fiber is a place to go on from: a stack pointer, and what the C++ runtime remembers about exceptions in flight, so
/// that a fiber may switch inside a catch block or while its stack unwinds. `Fiber()` stands for the thread itself,
/// `Fiber(entry, argument)` for a new stack.
///
/// A switch saves the registers that a call preserves and changes the stack pointer: about 2 ns. That is written by
/// hand for x86-64 and aarch64; elsewhere, and where the compiler is told to use shadow stacks, POSIX ucontext does it
/// with a system call each time. The floating-point environment is not saved: it belongs to the thread. The sanitizers
/// for addresses and threads are told of every switch.

#include <cstddef>

namespace halocline::comm::detail {

class Fiber {
public:
  /// The thread that calls.
  Fiber();
  /// A new stack, on which `entry(argument)` runs at the first switch to it. It must not return and must let no
  /// exception out: it ends with leave_for(). @throws std::bad_alloc  when there is no memory for a stack
  Fiber(void (*entry)(void*), void* argument);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  /// Of a fiber that was never switched to, or has left.
  ~Fiber();

  /// Goes on with another one; returns when somebody switches back. @param this  the one that runs
  void switch_to(Fiber& other);
  /// The same for good: nobody may switch back.
  [[noreturn]] void leave_for(Fiber& other);

private:
  struct Machine;
  /// What __cxa_get_globals() points to (Itanium C++ ABI, 2.2.2).
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
  Fiber* from_ = nullptr;  ///< who switched here last
};

}  // namespace halocline::comm::detail
