#include "gateway/app/settings_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <iostream>

#include "gateway/supervisor/child.hpp"

namespace sandgate {
namespace {

constexpr int kOutOfTheWay = 100;  // sandboxed programs get the low descriptors
int settings_file = -1;

std::string contents(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = pread(descriptor, buffer.data(), buffer.size(),
                                 static_cast<off_t>(text.size()))) > 0;)
    text.append(buffer.data(), static_cast<size_t>(got));
  return text;
}

}  // namespace

Config config_from_supervisor() {
  const std::string text = contents(kSettingsDescriptor);
  // Kept open and empty: it receives the reason if this process cannot start.
  if (!text.empty() && ftruncate(kSettingsDescriptor, 0) == 0)
    settings_file = fcntl(kSettingsDescriptor, F_DUPFD_CLOEXEC, kOutOfTheWay);
  close(kSettingsDescriptor);
  if (text.empty())
    throw Error(ErrorCode::invalid, "this command is started by 'sandgate serve', not by hand");
  return config_from_json(parse_json(text));
}

std::optional<Config> renewed_config() {
  if (settings_file < 0) return std::nullopt;
  const std::string text = contents(settings_file);
  // Emptied so that the supervisor can write the next settings.
  if (text.empty() || ftruncate(settings_file, 0) != 0) return std::nullopt;
  return config_from_json(parse_json(text));
}

void report_start_failure(const std::string& reason) {
  const auto size = static_cast<ssize_t>(reason.size());
  const bool left =
      settings_file >= 0 && pwrite(settings_file, reason.data(), reason.size(), 0) == size;
  if (!left) std::cerr << "sandgate: " << reason << std::endl;
}

}  // namespace sandgate
