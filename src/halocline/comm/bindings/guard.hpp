// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the C interfaces of all rooms share: the handle of a group, and exceptions turned into a status and a sentence.
///
/// The body of every C function runs inside guarded(), which is noexcept, so nothing can throw across the border.

#include "halocline/comm/bindings/c.h"
#include "halocline/comm/group/communicator.hpp"
#include "halocline/core/error.hpp"

#include <exception>
#include <new>
#include <string>

struct halocline_communicator {
  halocline::comm::Communicator group;
};

namespace halocline::comm::bindings {

/// Keeps the sentence for halocline_last_error() of this thread. @return  the status
int failed(halocline_status status, const char* sentence) noexcept;

/// The status of an exception that is being handled; keeps its sentence.
inline int failure_at_hand() noexcept {
  try {
    throw;
  } catch (const core::InvalidArgument& error) {
    return failed(HALOCLINE_INVALID_ARGUMENT, error.what());
  } catch (const core::FileError& error) {
    return failed(HALOCLINE_BAD_FILE, error.what());
  } catch (const std::bad_alloc&) {
    return failed(HALOCLINE_OUT_OF_MEMORY, "out of memory on this process");
  } catch (const std::exception& error) {
    return failed(HALOCLINE_FAILED, error.what());
  } catch (...) {
    return failed(HALOCLINE_FAILED, "an exception of unknown type");
  }
}

template <class Action>
int guarded(Action&& action) noexcept {
  try {
    action();
    return HALOCLINE_OK;
  } catch (...) {
    return failure_at_hand();
  }
}

/// The object that a pointer of the caller points at. @param call, argument  names for the error message
template <class T>
T& given(T* pointer, const char* call, const char* argument) {
  if (pointer == nullptr)
    throw core::InvalidArgument(std::string(call) + ": NULL given for `" + argument + "`, expected a valid pointer");
  return *pointer;
}

}  // namespace halocline::comm::bindings
