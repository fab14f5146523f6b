#include "local/node/server/background_runner.hpp"

#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

void run_logged(const std::function<void()>& work) {
  try {
    work();
  } catch (const StepError& failure) {
    log::error("work of the node failed",
               {{"step", failure.what()}, {"error", std::strerror(failure.number)}});
  } catch (const std::exception& failure) {
    log::error("work of the node failed", {{"reason", failure.what()}});
  }
}

}  // namespace

std::function<void(std::function<void()>)> background_runner(asio::thread_pool& pool) {
  return [&pool](std::function<void()> work) {
    asio::post(pool, [work = std::move(work)] { run_logged(work); });
  };
}

}  // namespace sandgate
