#include "gateway/core/journal_file.hpp"

#include <boost/crc.hpp>
#include <boost/endian/conversion.hpp>
#include <cstring>
#include <fstream>
#include <optional>

#include "gateway/core/error.hpp"

namespace sandgate::journal_file {
namespace {

uint32_t checksum(uint64_t sequence, std::string_view payload) {
  boost::crc_32_type crc;
  crc.process_bytes(&sequence, sizeof sequence);
  crc.process_bytes(payload.data(), payload.size());
  return crc.checksum();
}

// The payload's size that the record at the start of `bytes` tells; empty without a whole header.
std::optional<size_t> payload_size(std::string_view bytes) {
  if (bytes.size() < kRecordHeaderSize) return std::nullopt;
  uint32_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  return boost::endian::little_to_native(size);
}

// Decodes the record at the start of `bytes`; empty if the record is incomplete or corrupt.
std::optional<Record> decoded_record(std::string_view bytes) {
  const auto size = payload_size(bytes);
  if (!size || *size > kMaxPayload || bytes.size() - kRecordHeaderSize < *size) return std::nullopt;
  uint32_t crc = 0;
  uint64_t sequence = 0;
  std::memcpy(&crc, bytes.data() + 4, sizeof crc);
  std::memcpy(&sequence, bytes.data() + 8, sizeof sequence);
  boost::endian::little_to_native_inplace(crc);
  const std::string_view payload = bytes.substr(kRecordHeaderSize, *size);
  if (checksum(sequence, payload) != crc) return std::nullopt;
  return Record{boost::endian::little_to_native(sequence), std::string(payload)};
}

// Where the first good record behind what was read is.
std::optional<size_t> next_record(const Contents& contents, std::string_view bytes) {
  for (size_t at = contents.whole + 1; at + kRecordHeaderSize <= bytes.size(); ++at) {
    const auto record = decoded_record(bytes.substr(at));
    if (record && record->sequence > contents.last) return at;
  }
  return std::nullopt;
}

// Takes an end in which no good record is: torn, or damaged.
void take_tail(Contents& contents, std::string_view tail) {
  const auto promised = payload_size(tail);
  const bool is_torn =
      !promised || (*promised <= kMaxPayload && *promised > tail.size() - kRecordHeaderSize);
  if (is_torn) return;
  contents.whole += tail.size();
  ++contents.damaged;
  contents.last += tail.size() / kRecordHeaderSize + 1;
}

// Takes what stands behind the header.
void take_records(Contents& contents, std::string_view bytes) {
  while (contents.whole < bytes.size()) {
    if (auto record = decoded_record(bytes.substr(contents.whole))) {
      contents.whole += kRecordHeaderSize + record->payload.size();
      contents.last = record->sequence;
      contents.records.push_back(std::move(*record));
    } else if (const auto next = next_record(contents, bytes)) {
      contents.whole = *next;
      ++contents.damaged;
    } else {
      return take_tail(contents, bytes.substr(contents.whole));
    }
  }
}

// The beginning of a file, empty if there is none.
std::string beginning_of(const std::string& path, size_t max_bytes) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(max_bytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(in.gcount()));
  return bytes;
}

}  // namespace

std::string encoded(const Record& record) {
  const uint64_t sequence = boost::endian::native_to_little(record.sequence);
  const auto size = boost::endian::native_to_little(static_cast<uint32_t>(record.payload.size()));
  const auto crc = boost::endian::native_to_little(checksum(sequence, record.payload));
  std::string bytes(kRecordHeaderSize, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  std::memcpy(bytes.data() + 4, &crc, sizeof crc);
  std::memcpy(bytes.data() + 8, &sequence, sizeof sequence);
  return bytes + record.payload;
}

Contents read(const std::string& path, size_t max_bytes) {
  const std::string bytes = beginning_of(path, max_bytes);
  Contents contents{.size = bytes.size()};
  if (bytes.empty()) return contents;
  if (bytes.size() < kHeaderSize || !bytes.starts_with(kMagic))
    throw Error(ErrorCode::invalid,
                path +
                    " is not a journal, or its beginning is damaged: move it away to start "
                    "without the ends of sandboxes in it, which are then found and charged later "
                    "than they were asked for");
  contents.id = bytes.substr(kMagic.size(), kIdSize);
  contents.whole = kHeaderSize;
  take_records(contents, bytes);
  return contents;
}

}  // namespace sandgate::journal_file
