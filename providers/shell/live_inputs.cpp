#include "providers/shell/live_inputs.hpp"

namespace sandgate {

void LiveInputs::add(const std::string& sandbox, const std::string& process,
                     const std::shared_ptr<LiveInput>& input) {
  if (process.empty()) return;
  std::lock_guard lock(mutex_);
  std::erase_if(inputs_, [](const auto& one) { return one.second.expired(); });
  inputs_[{sandbox, process}] = input;
}

std::shared_ptr<LiveInput> LiveInputs::find(const std::string& sandbox,
                                            const std::string& process) {
  std::lock_guard lock(mutex_);
  const auto found = inputs_.find({sandbox, process});
  return found == inputs_.end() ? nullptr : found->second.lock();
}

}  // namespace sandgate
