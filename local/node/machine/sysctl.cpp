#include "local/node/machine/sysctl.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "gateway/core/fd.hpp"

namespace sandgate {

std::string sysctl_path(std::string name, const std::string& proc) {
  std::ranges::replace(name, '.', '/');
  return proc + "/sys/" + name;
}

bool write_sysctl(const std::string& path, const std::string& value) {
  const Fd file(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  const std::string text = value + "\n";
  return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace sandgate
