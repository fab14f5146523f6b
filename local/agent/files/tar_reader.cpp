#include "local/agent/files/tar_reader.hpp"

#include <algorithm>
#include <charconv>

#include "gateway/core/error.hpp"
#include "gateway/core/number_text.hpp"
#include "local/agent/files/tar_writer.hpp"

namespace sandgate::agent {
namespace {

constexpr uint64_t kMaxMetadata = 64 * 1024;
constexpr uint64_t kMaxSize = uint64_t{1} << 50;
constexpr int64_t kMaxTime = int64_t{1} << 50;  // seconds, before and after 1970

[[noreturn]] void reject(const char* what) {
  throw Error::invalid("", std::string("the archive ") + what);
}

std::string text_field(const std::string& block, size_t at, size_t width) {
  const std::string field = block.substr(at, width);
  return field.substr(0, field.find('\0'));
}

uint64_t number_field(const std::string& block, size_t at, size_t width) {
  uint64_t value = 0;
  if (static_cast<unsigned char>(block[at]) & 0x80) {  // GNU: big-endian binary
    if (static_cast<unsigned char>(block[at]) != 0x80) reject("has a negative or huge number");
    for (size_t i = 1; i < width; ++i) {
      if (value >> 55) reject("has a negative or huge number");
      value = value << 8 | static_cast<unsigned char>(block[at + i]);
    }
    return value;
  }
  const std::string field = text_field(block, at, width);
  const size_t first = field.find_first_not_of(' ');
  if (first == std::string::npos) return 0;
  const size_t last = std::min(field.find_first_of(' ', first), field.size());
  const auto [end, error] = std::from_chars(field.data() + first, field.data() + last, value, 8);
  if (error != std::errc() || end != field.data() + last) reject("has a number that is none");
  return value;
}

// A time before 1970 is a binary number below 0.
int64_t time_field(const std::string& block, size_t at, size_t width) {
  if (static_cast<unsigned char>(block[at]) != 0xff)
    return static_cast<int64_t>(std::min<uint64_t>(number_field(block, at, width), kMaxTime));
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(block[at + i]);
  return std::clamp<int64_t>(static_cast<int64_t>(value), -kMaxTime, 0);
}

// The whole seconds of a pax time; empty when it is none.
std::optional<int64_t> pax_seconds(const std::string& value) {
  int64_t seconds = 0;
  const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (wrong != std::errc()) return std::nullopt;
  return std::clamp(seconds, -kMaxTime, kMaxTime);
}

// Whether it begins as gzip does and is no header of a member whose name begins so.
bool is_gzip(const std::string& block) {
  return block.starts_with("\x1f\x8b") && block.find("ustar", 257) != 257;
}

constexpr const char* kCompressed = "is compressed with gzip: send a plain tar archive";

void check_sum(const std::string& block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kTarBlock; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(block[i]);
  if (number_field(block, 148, 8) != sum) reject("is damaged or no tar archive");
}

TarType type_of(char flag, const std::string& name) {
  switch (flag) {
    case '0':
    case '7':
      return TarType::file;
    case '\0':
      return name.ends_with('/') ? TarType::directory : TarType::file;
    case '1':
      return TarType::hardlink;
    case '2':
      return TarType::symlink;
    case '5':
      return TarType::directory;
    case '3':
    case '4':
    case '6':
      return TarType::special;
    default:
      reject("has a member of an unknown kind");
  }
}

std::string name_of(const std::string& block) {
  const std::string name = text_field(block, 0, 100);
  if (block.compare(257, 6, std::string("ustar\0", 6)) != 0) return name;
  const std::string prefix = text_field(block, 345, 155);
  return prefix.empty() ? name : prefix + "/" + name;
}

bool is_metadata(char flag) { return flag == 'x' || flag == 'g' || flag == 'L' || flag == 'K'; }

}  // namespace

std::optional<TarEvent> TarReader::next() {
  while (true) {
    switch (state_) {
      case State::done:
        input_ = {};
        return std::nullopt;
      case State::header:
        if (auto event = take_header()) return event;
        if (state_ == State::header && input_.empty()) return std::nullopt;
        break;
      case State::metadata:
        take_metadata();
        if (state_ == State::metadata) return std::nullopt;
        break;
      case State::content:
        return take_content();
      case State::padding:
        if (!take_padding()) return std::nullopt;
        break;
    }
  }
}

std::optional<TarEvent> TarReader::take_header() {
  const size_t wanted = std::min(kTarBlock - block_.size(), input_.size());
  block_ += input_.substr(0, wanted);
  input_.remove_prefix(wanted);
  if (block_.size() < kTarBlock) return std::nullopt;
  if (block_.find_first_not_of('\0') == std::string::npos) {
    if (zero_block_) state_ = State::done;
    zero_block_ = true;
    block_.clear();
    return std::nullopt;
  }
  if (zero_block_) reject("goes on after its end");
  auto event = read_block();
  block_.clear();
  return event;
}

std::optional<TarEvent> TarReader::read_block() {
  if (is_gzip(block_)) reject(kCompressed);
  check_sum(block_);
  const char flag = block_[156];
  uint64_t size = number_field(block_, 124, 12);
  if (is_metadata(flag)) {
    begin_metadata(flag, size);
    return std::nullopt;
  }
  TarEntry entry;
  entry.name = next_name_.value_or(name_of(block_));
  entry.target = next_target_.value_or(text_field(block_, 157, 100));
  entry.type = type_of(flag, entry.name);
  entry.mode = static_cast<uint32_t>(number_field(block_, 100, 8) & 07777);
  entry.mtime = next_mtime_.value_or(time_field(block_, 136, 12));
  size = next_size_.value_or(size);
  if (size > kMaxSize) reject("has a member that is too large");
  // Only files have content; the size field of other types is ignored.
  entry.size = entry.type == TarType::file ? size : 0;
  next_name_.reset();
  next_target_.reset();
  next_size_.reset();
  next_mtime_.reset();
  left_ = entry.size;
  padding_ = tar_padding(entry.size);
  state_ = State::content;
  return entry;
}

void TarReader::begin_metadata(char flag, uint64_t size) {
  if (size > kMaxMetadata) reject("has a header that is too long");
  metadata_.clear();
  metadata_flag_ = flag;
  left_ = size;
  padding_ = tar_padding(size);
  state_ = State::metadata;
}

void TarReader::take_metadata() {
  const size_t taken = std::min<uint64_t>(left_, input_.size());
  metadata_ += input_.substr(0, taken);
  input_.remove_prefix(taken);
  left_ -= taken;
  if (left_ > 0) return;
  const std::string text = metadata_.substr(0, metadata_.find('\0'));
  if (metadata_flag_ == 'L') next_name_ = text;
  if (metadata_flag_ == 'K') next_target_ = text;
  if (metadata_flag_ == 'x') apply_pax(metadata_);
  metadata_.clear();
  state_ = State::padding;
}

void TarReader::apply_pax(std::string_view records) {
  while (!records.empty()) {
    size_t length = 0;
    const auto [digits, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const size_t used = static_cast<size_t>(digits - records.data());
    if (error != std::errc() || length > records.size() || length < used + 3 ||
        records[used] != ' ' || records[length - 1] != '\n')
      reject("has a malformed pax header");
    const std::string_view record = records.substr(used + 1, length - used - 2);
    records.remove_prefix(length);
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos) reject("has a malformed pax header");
    const std::string key(record.substr(0, equals)), value(record.substr(equals + 1));
    if (key.starts_with("GNU.sparse.")) reject("has a sparse member");
    if (key == "path" && value.find('\0') != std::string::npos) reject("has an impossible name");
    if (key == "path") next_name_ = value;
    if (key == "linkpath") next_target_ = value;
    if (key == "mtime") next_mtime_ = pax_seconds(value);
    if (key != "size") continue;
    next_size_ = number_from<uint64_t>(value);
    if (!next_size_) reject("has a malformed pax header");
  }
}

std::optional<TarEvent> TarReader::take_content() {
  if (left_ == 0) {
    state_ = State::padding;
    return TarEntryEnd{};
  }
  if (input_.empty()) return std::nullopt;
  const std::string_view bytes = input_.substr(0, std::min<uint64_t>(left_, input_.size()));
  input_.remove_prefix(bytes.size());
  left_ -= bytes.size();
  return TarContent{bytes};
}

bool TarReader::take_padding() {
  const size_t taken = std::min(padding_, input_.size());
  input_.remove_prefix(taken);
  padding_ -= taken;
  if (padding_ > 0) return false;
  state_ = State::header;
  return true;
}

void TarReader::finish() const {
  const bool between =
      state_ == State::header && block_.empty() && !next_name_ && !next_size_ && !next_target_;
  if (state_ == State::header && is_gzip(block_)) reject(kCompressed);
  if (state_ != State::done && !between) reject("ends too early");
}

}  // namespace sandgate::agent
