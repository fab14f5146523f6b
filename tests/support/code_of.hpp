#pragma once
#include <concepts>
#include <optional>

#include "gateway/core/error.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {

// The code of the Error that an action ends in; empty when it ends well.
template <std::invocable Action>
std::optional<ErrorCode> code_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code;
  }
  return std::nullopt;
}

// The same of a task that runs on a loop of its own.
template <class T>
std::optional<ErrorCode> code_of(Task<T> task) {
  return code_of([&task] { run(std::move(task)); });
}

}  // namespace sandgate::test
