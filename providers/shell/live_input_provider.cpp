#include "providers/shell/live_input_provider.hpp"

namespace sandgate {

Task<std::shared_ptr<LiveInput>> LiveInputProvider::input_elsewhere(std::string,
                                                                    std::string process) {
  throw Error::not_found("process", process);
  co_return nullptr;
}

Task<std::shared_ptr<LiveInput>> LiveInputProvider::input_of(std::string id, std::string process) {
  auto held = inputs_->find(id, process);
  if (held) co_return held;
  co_return co_await input_elsewhere(std::move(id), std::move(process));
}

Task<void> LiveInputProvider::write_stdin(std::string id, std::string process, std::string bytes) {
  const auto input = co_await input_of(std::move(id), std::move(process));
  co_await input->write_stdin(std::move(bytes));
}

Task<void> LiveInputProvider::close_stdin(std::string id, std::string process) {
  const auto input = co_await input_of(std::move(id), std::move(process));
  co_await input->close_stdin();
}

Task<void> LiveInputProvider::resize(std::string id, std::string process, PtySize size) {
  const auto input = co_await input_of(std::move(id), std::move(process));
  co_await input->resize(size);
}

}  // namespace sandgate
