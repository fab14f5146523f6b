#pragma once
#include <concepts>
#include <optional>

#include "gateway/core/error.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {

// Returns the code of the Error an action throws; empty if it throws none.
template <std::invocable Action>
std::optional<ErrorCode> code_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code;
  }
  return std::nullopt;
}

// Likewise for a task, run on its own loop.
template <class T>
std::optional<ErrorCode> code_of(Task<T> task) {
  return code_of([&task] { run(std::move(task)); });
}

}  // namespace sandgate::test
