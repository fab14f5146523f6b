#include "local/agent/processes/spawn_spec_codec.hpp"

#include <cstring>

#include "gateway/core/error.hpp"

namespace sandgate::agent {
namespace {

void put(std::string& out, uint32_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& out, std::string_view text) {
  put(out, static_cast<uint32_t>(text.size()));
  out += text;
}

template <class T>
void put(std::string& out, const std::vector<T>& items) {
  put(out, static_cast<uint32_t>(items.size()));
  for (const T& item : items) put(out, item);
}

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  void take(uint32_t& number) { std::memcpy(&number, cut(sizeof number).data(), sizeof number); }

  void take(std::string& text) {
    uint32_t size = 0;
    take(size);
    text = cut(size);
  }

  template <class T>
  void take(std::vector<T>& items) {
    uint32_t count = 0;
    take(count);
    for (uint32_t i = 0; i < count; ++i) take(items.emplace_back());
  }

  bool empty() const { return rest_.empty(); }

 private:
  std::string_view cut(size_t size) {
    if (size > rest_.size()) throw Error(ErrorCode::internal, "an order to spawn is cut short");
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  std::string_view rest_;
};

}  // namespace

std::string encode(const SpawnSpec& spec) {
  std::string bytes;
  put(bytes, spec.argv);
  put(bytes, spec.env);
  put(bytes, spec.cwd);
  put(bytes, spec.identity.name);
  put(bytes, spec.identity.uid);
  put(bytes, spec.identity.gid);
  put(bytes, spec.identity.home);
  put(bytes, spec.identity.groups);
  return bytes;
}

SpawnSpec decode(std::string_view bytes) {
  SpawnSpec spec;
  Decoder decoder(bytes);
  decoder.take(spec.argv);
  decoder.take(spec.env);
  decoder.take(spec.cwd);
  decoder.take(spec.identity.name);
  decoder.take(spec.identity.uid);
  decoder.take(spec.identity.gid);
  decoder.take(spec.identity.home);
  decoder.take(spec.identity.groups);
  if (!decoder.empty() || spec.argv.empty())
    throw Error(ErrorCode::internal, "an order to spawn is not whole");
  return spec;
}

}  // namespace sandgate::agent
