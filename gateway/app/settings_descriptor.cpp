#include "gateway/app/settings_descriptor.hpp"

#include <unistd.h>

#include <array>

namespace sandgate {
namespace {

constexpr int kSettingsDescriptor = 3;

}  // namespace

Config config_from_supervisor() {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(kSettingsDescriptor, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(got));
  close(kSettingsDescriptor);
  if (text.empty())
    throw Error(ErrorCode::invalid, "this command is started by 'sandgate serve', not by hand");
  return config_from_json(parse_json(text));
}

}  // namespace sandgate
