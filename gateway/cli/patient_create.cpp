#include "gateway/cli/patient_create.hpp"

#include <iostream>

#include "gateway/cli/terminal/interrupt.hpp"

namespace sandgate::cli {

Json create_patiently(const Client& client, Json body) {
  bool told = false;
  const auto tell_once = [&told](uint64_t, uint64_t) {
    if (told || !interrupted()) return;
    told = true;
    std::cerr
        << "sandgate: waiting for the sandbox that is being made; a second interrupt leaves it "
           "to its time to live"
        << std::endl;
  };
  return client
      .call({.method = "POST",
             .path = "/v1/sandboxes",
             .json = std::move(body),
             .on_progress = tell_once,
             .patience = 1,
             .once = true})
      .json();
}

}  // namespace sandgate::cli
