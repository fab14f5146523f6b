#include "providers/transport/curl_transfer.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "gateway/core/tls_key_exchange.hpp"
#include "providers/address_rules.hpp"
#include "providers/transport/aws_signature.hpp"

namespace sandgate {
namespace {

constexpr size_t kBodyBuffer = 1 << 20, kUploadBuffer = 1 << 20;
constexpr size_t kMaxFields = 1000;
constexpr long kCurlReadBuffer = 512 << 10;  // CURL_MAX_READ_SIZE
constexpr long kCurlUploadBuffer = 1 << 20;

Error failure_of(CURLcode code, bool address_refused, bool sent, const std::string& peer) {
  if (address_refused)
    return Error(ErrorCode::unavailable, peer + "'s address is not a public one");
  if (code == CURLE_OPERATION_TIMEDOUT)
    return Error(ErrorCode::timeout, peer + " did not answer in time");
  // What the library says of it is about its own repeats.
  if (sent)
    return Error(ErrorCode::unavailable, peer + " broke the connection off before it had answered");
  return Error(ErrorCode::unavailable, peer + " could not be reached: " + curl_easy_strerror(code));
}

// `sent`: the request was at least begun.
Error marked_failure_of(CURLcode code, bool address_refused, bool sent, const std::string& peer) {
  Error error = failure_of(code, address_refused, sent, peer);
  return sent ? error : never_sent(std::move(error));
}

// The blob is not copied: the call owns the text and outlives the handle.
void set_blob(CURL* easy, CURLoption option, const std::string& pem) {
  curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_NOCOPY};
  if (!pem.empty()) curl_easy_setopt(easy, option, &blob);
}

// Whether the request may be sent again although it may have been served.
bool may_be_repeated(const HttpCall& call) {
  if (call.method != "POST" && call.method != "PATCH") return true;
  return std::any_of(call.headers.begin(), call.headers.end(),
                     [](const auto& field) { return field.first == "Idempotency-Key"; });
}

// Erases consumed bytes once they are at least half of the buffer.
void compact(std::string& buffer, size_t& consumed) {
  if (consumed == buffer.size())
    buffer.clear();
  else if (consumed >= buffer.size() / 2)
    buffer.erase(0, consumed);
  else
    return;
  consumed = 0;
}

}  // namespace

CurlTransfer::CurlTransfer(HttpCall call, std::optional<std::string> addresses, bool whole_reply,
                           asio::any_io_executor executor)
    : call_(std::move(call)),
      easy_(curl_easy_init()),
      heard_(std::chrono::steady_clock::now()),
      readable_(std::make_unique<AutoResetEvent>(executor)),
      room_(std::make_unique<AutoResetEvent>(executor)) {
  if (!easy_) throw Error(ErrorCode::internal, "libcurl has no handle");
  set_options(whole_reply);
  set_body();
  if (call_.tls) set_tls(*call_.tls);
  if (!call_.allow_private) set_address_rules();
  if (addresses) set_addresses(*addresses);
}

CurlTransfer::~CurlTransfer() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(header_list_);
  curl_slist_free_all(address_list_);
}

void CurlTransfer::set_options(bool whole_reply) {
  curl_easy_setopt(easy_, CURLOPT_URL, call_.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  // Without it, removing a handle blocks on its name lookup.
  curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
  const bool plain_http2 = call_.http2 && call_.url.starts_with("http:");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION,
                   static_cast<long>(plain_http2 ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
                                                 : CURL_HTTP_VERSION_2TLS));
  // libcurl 7.88 does not recognise a pooled connection as HTTP/2 if it has no TLS.
  if (plain_http2) {
    curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
  }
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, kCurlReadBuffer);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(call_.connect_timeout.count()));
  if (whole_reply)
    curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(call_.deadline.count()));
  // A pooled connection opens no socket, so on_socket does not see it; this callback does.
  curl_easy_setopt(easy_, CURLOPT_PREREQFUNCTION, &CurlTransfer::on_connected);
  curl_easy_setopt(easy_, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_SSL_CIPHER_LIST, kShortCiphers);
  curl_easy_setopt(easy_, CURLOPT_SSL_EC_CURVES, short_groups().c_str());
  set_headers();
}

void CurlTransfer::set_headers() {
  const auto add = [this](const HttpFields& fields) {
    for (const auto& [name, value] : fields)
      header_list_ = curl_slist_append(header_list_, (name + ": " + value).c_str());
  };
  add(call_.headers);
  if (call_.signer) add(aws::signature_of(*call_.signer, call_, std::time(nullptr)));
  // Waiting for "100 Continue" costs a round trip, or a second if none comes.
  header_list_ = curl_slist_append(header_list_, "Expect:");
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, header_list_);
}

void CurlTransfer::set_body() {
  if (call_.method == "HEAD") curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  if (call_.upload) {
    curl_easy_setopt(easy_, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy_, CURLOPT_READFUNCTION, &CurlTransfer::on_upload);
    curl_easy_setopt(easy_, CURLOPT_READDATA, this);
    curl_easy_setopt(easy_, CURLOPT_UPLOAD_BUFFERSIZE, kCurlUploadBuffer);
  } else if (!call_.body.empty() || call_.method == "POST" || call_.method == "PUT") {
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(call_.body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, call_.body.c_str());
  }
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, call_.method.c_str());
}

void CurlTransfer::set_tls(const TlsIdentity& tls) {
  // Otherwise the system's authorities in the default directory would be trusted as well.
  if (!tls.authorities.empty()) curl_easy_setopt(easy_, CURLOPT_CAPATH, nullptr);
  set_blob(easy_, CURLOPT_CAINFO_BLOB, tls.authorities);
  set_blob(easy_, CURLOPT_SSLCERT_BLOB, tls.certificate);
  set_blob(easy_, CURLOPT_SSLKEY_BLOB, tls.key.reveal());
}

void CurlTransfer::set_address_rules() {
  // A proxy would connect by itself and bypass the address checks.
  curl_easy_setopt(easy_, CURLOPT_PROXY, "");
  curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::on_socket);
  curl_easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, this);
}

void CurlTransfer::set_addresses(const std::string& entry) {
  if (!entry.empty()) {
    address_list_ = curl_slist_append(nullptr, entry.c_str());
    curl_easy_setopt(easy_, CURLOPT_RESOLVE, address_list_);
  }
  constexpr auto kRefuse = [](void*, void*, void*) { return 1; };
  curl_easy_setopt(easy_, CURLOPT_RESOLVER_START_FUNCTION,
                   static_cast<curl_resolver_start_callback>(kRefuse));
}

// ---- used by the coroutine

void CurlTransfer::throw_failure() {
  if (failure_) std::rethrow_exception(failure_);
}

Task<void> CurlTransfer::wait_for_head() {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      throw_failure();
      if (head_ready_) co_return;
    }
    co_await readable_->wait();
  }
}

Task<size_t> CurlTransfer::read(std::span<char> into) {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (const size_t ready = body_.size() - body_read_; ready > 0) {
        const size_t count = std::min(ready, into.size());
        std::memcpy(into.data(), body_.data() + body_read_, count);
        body_read_ += count;
        compact(body_, body_read_);
        co_return count;
      }
      throw_failure();
      if (done_) co_return 0;
    }
    co_await readable_->wait();
  }
}

Task<void> CurlTransfer::write_upload(std::span<const char> bytes) {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (done_) co_return;
      if (upload_.size() - upload_sent_ < kUploadBuffer) {
        upload_.append(bytes.data(), bytes.size());
        co_return;
      }
    }
    co_await room_->wait();
  }
}

void CurlTransfer::end_upload() {
  std::lock_guard lock(mutex_);
  upload_ended_ = true;
}

void CurlTransfer::fail_upload(std::exception_ptr reason) {
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(reason);
  notify(readable_);
}

void CurlTransfer::detach() {
  std::lock_guard lock(mutex_);
  readable_.reset();
  room_.reset();
}

bool CurlTransfer::wants_resume() {
  std::lock_guard lock(mutex_);
  const bool body = body_paused_ && body_.size() - body_read_ <= kBodyBuffer / 2;
  const bool upload =
      upload_paused_ && (upload_ended_ || failure_ || upload_.size() > upload_sent_);
  return !done_ && (body || upload);
}

// ---- used by the curl thread

void CurlTransfer::notify(const std::unique_ptr<AutoResetEvent>& wakeup) {
  if (wakeup) wakeup->set();
}

// Not by libcurl's limit of speed, which takes three bytes in five seconds for none: a sign of life
// is as short.
bool CurlTransfer::is_silent(std::chrono::steady_clock::time_point now) {
  std::lock_guard lock(mutex_);
  if (body_paused_ || upload_paused_) heard_ = now;
  return call_.silence.count() > 0 && now - heard_ >= call_.silence;
}

void CurlTransfer::resume() {
  heard_ = std::chrono::steady_clock::now();
  {
    std::lock_guard lock(mutex_);
    body_paused_ = upload_paused_ = false;
  }
  // Calls on_body and on_upload, which pause again if there is still no room.
  curl_easy_pause(easy_, CURLPAUSE_CONT);
}

void CurlTransfer::finish(CURLcode code) {
  std::lock_guard lock(mutex_);
  done_ = true;
  // libcurl takes an end within a line of the head for the end of the answer.
  if (code == CURLE_OK && !head_ready_) code = CURLE_GOT_NOTHING;
  if (code != CURLE_OK && !failure_)
    failure_ =
        std::make_exception_ptr(marked_failure_of(code, address_refused_, sent_, call_.peer));
  notify(readable_);
  notify(room_);
}

void CurlTransfer::begin_body() {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return;  // an interim answer; the final one follows
  std::lock_guard lock(mutex_);
  status_ = static_cast<int>(status);
  head_ready_ = true;
  notify(readable_);
}

void CurlTransfer::add_header_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (!head_ready_ && line.starts_with("HTTP/")) {
    headers_.clear();
    return;
  }
  if (!head_ready_ && line.empty()) return begin_body();
  HttpFields& fields = head_ready_ ? trailers_ : headers_;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || fields.size() >= kMaxFields) return;
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  fields.emplace_back(line.substr(0, colon), value);
}

size_t CurlTransfer::take_body(std::string_view bytes) {
  std::lock_guard lock(mutex_);
  if (body_.size() - body_read_ >= kBodyBuffer) {
    body_paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  body_.append(bytes);
  notify(readable_);
  return bytes.size();
}

size_t CurlTransfer::give_upload(std::span<char> room) {
  std::lock_guard lock(mutex_);
  if (failure_) return CURL_READFUNC_ABORT;
  const size_t count = std::min(room.size(), upload_.size() - upload_sent_);
  if (count == 0 && !upload_ended_) {
    upload_paused_ = true;
    return CURL_READFUNC_PAUSE;
  }
  std::memcpy(room.data(), upload_.data() + upload_sent_, count);
  upload_sent_ += count;
  compact(upload_, upload_sent_);
  notify(room_);
  return count;
}

size_t CurlTransfer::on_header(char* data, size_t size, size_t count, void* self) {
  static_cast<CurlTransfer*>(self)->heard_ = std::chrono::steady_clock::now();
  static_cast<CurlTransfer*>(self)->add_header_line({data, size * count});
  return size * count;
}

size_t CurlTransfer::on_body(char* data, size_t size, size_t count, void* self) {
  static_cast<CurlTransfer*>(self)->heard_ = std::chrono::steady_clock::now();
  return static_cast<CurlTransfer*>(self)->take_body({data, size * count});
}

size_t CurlTransfer::on_upload(char* room, size_t size, size_t count, void* self) {
  static_cast<CurlTransfer*>(self)->heard_ = std::chrono::steady_clock::now();
  return static_cast<CurlTransfer*>(self)->give_upload({room, size * count});
}

curl_socket_t CurlTransfer::on_socket(void* self, curlsocktype, curl_sockaddr* address) {
  if (!is_public_address(address->addr)) {
    static_cast<CurlTransfer*>(self)->address_refused_ = true;
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int CurlTransfer::on_connected(void* self, char* remote, char*, int, int) {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  const auto& call = transfer.call_;
  // libcurl repeats a request if a pooled connection ends before the reply, although the request
  // may have been served.
  const bool again = std::exchange(transfer.sent_, true);
  if (again && !may_be_repeated(call)) return CURL_PREREQFUNC_ABORT;
  if (call.allow_private) return CURL_PREREQFUNC_OK;
  if (remote && is_public_address(std::string_view(remote))) return CURL_PREREQFUNC_OK;
  transfer.address_refused_ = true;
  return CURL_PREREQFUNC_ABORT;
}

}  // namespace sandgate
