#pragma once
#include <chrono>
#include <functional>

#include "gateway/placement/deployment.hpp"

namespace sandgate {

// A deployment's answer to a create that does not keep it.
struct UnwantedSandbox {
  DeploymentPtr deployment;
  BackendSandbox sandbox;  // with our id of the create
  Resources asked;  // by the create
  std::chrono::steady_clock::time_point asked_at;
};

// Ends an unwanted sandbox. Throws what the backend throws; the reaper and the reconciler kill what
// remains.
using DiscardSandbox = std::function<Task<void>(UnwantedSandbox)>;

// Kills it. One that carries another id of ours is left alone.
Task<void> discard_sandbox(UnwantedSandbox unwanted);
// Whether it carries another id of ours, which is logged. One that is gone does not.
Task<bool> is_of_another_create(UnwantedSandbox unwanted);

}  // namespace sandgate
