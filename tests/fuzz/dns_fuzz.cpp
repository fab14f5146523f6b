#include <cstdint>
#include <cstdlib>

#include "local/egress/dns_message.hpp"

// A sandbox's question as any bytes; answers stay within what a message may be.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sandgate::egress;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const DnsParsed parsed = parse_dns_query(bytes);
  if (parsed.question && parsed.refusal) std::abort();
  if (parsed.refusal && dns_refusal(*parsed.refusal).size() != 12) std::abort();
  if (!parsed.question) return 0;
  if (parsed.question->name.size() > 255) std::abort();
  if (dns_answer(*parsed.question, DnsCode::no_such_name).size() > 512) std::abort();
  if (dns_answer_v4(*parsed.question, {198, 18, 0, 1}, 60).size() > 512) std::abort();
  return 0;
}
