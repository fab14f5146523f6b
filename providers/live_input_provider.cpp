#include "providers/live_input_provider.hpp"

namespace sandgate {

Task<void> LiveInputProvider::write_stdin(std::string id, std::string process, std::string bytes) {
  const auto input = inputs_.get(id, process);
  co_await input->write_stdin(std::move(bytes));
}

Task<void> LiveInputProvider::close_stdin(std::string id, std::string process) {
  const auto input = inputs_.get(id, process);
  co_await input->close_stdin();
}

Task<void> LiveInputProvider::resize(std::string id, std::string process, PtySize size) {
  const auto input = inputs_.get(id, process);
  co_await input->resize(size);
}

}  // namespace sandgate
