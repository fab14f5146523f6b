#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

// The file of a DurableJournal: kMagic, the journal's id, then records of {size of the payload,
// CRC-32, sequence, payload}, little-endian.
namespace sandgate::journal_file {

inline constexpr std::string_view kMagic = "sandgate journal 1\n";
inline constexpr size_t kIdSize = 32;  // characters
inline constexpr size_t kHeaderSize = kMagic.size() + kIdSize;
inline constexpr size_t kRecordHeaderSize = 16;
inline constexpr size_t kMaxPayload = 64 * 1024;

struct Record {
  uint64_t sequence = 0;  // from 1, unique within the id
  std::string payload;  // at most kMaxPayload bytes
};
std::string encoded(const Record& record);

// What a file holds. A crash tears the last record: less of it is there than it says, and nothing
// behind it. Anything else that cannot be read is damage. It stays where it is, so that no sequence
// that may have been used in it is used again.
struct Contents {
  std::string id;  // empty for a file that is empty or missing
  std::deque<Record> records;
  size_t whole = 0, size = 0;  // bytes without and with what is torn
  size_t damaged = 0;  // stretches of damage
  uint64_t last = 0;  // no sequence used so far is greater
};
// Reads at most `max_bytes`. Throws Error(invalid) if the file is not a journal.
Contents read(const std::string& path, size_t max_bytes);

}  // namespace sandgate::journal_file
